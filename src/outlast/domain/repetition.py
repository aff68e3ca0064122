"""When calls go round in circles: the same question with the same result, in a row or in a cycle, or other questions whose results
bring nothing new.

A question is a tool and its arguments in canonical form, free-text remarks left out. A result is compared by its digest and, for
other arguments, by a sketch of its lines. A changed result to the same question is progress: polling is no loop, and neither
is reading consecutive pages.
"""

from __future__ import annotations

import zlib
from collections.abc import Mapping
from typing import Final

from outlast.domain.door import Json, canonical_json, digest_of
from outlast.domain.run import Repeat

REMARKS: Final = frozenset(
    {"description", "reason", "explanation", "comment", "note", "thought", "thoughts", "rationale", "why"}
)
"""Names of arguments that only comment a call; two calls that differ in nothing else ask the same."""

LONGEST_PERIOD: Final = 5
_SKETCH_SIZE: Final = 48
_OVERLAP: Final = 0.75
_CHUNK: Final = 60


def question_of(tool: str, arguments: Mapping[str, Json]) -> str:
    """What a call asks, in 16 characters."""
    asked = {name: value for name, value in arguments.items() if name not in REMARKS}
    return digest_of(f"{tool} {canonical_json(asked)}")[:16]


def sketch_of(text: str) -> tuple[int, ...]:
    """The smallest hashes of the lines of `text`, sorted: a bounded stand-in for its set of lines."""
    lines = [line for line in map(str.strip, text.splitlines()) if line]
    if len(lines) < 4:
        lines = [piece for line in lines for piece in _chunks(line)]
    return tuple(sorted({zlib.crc32(line.encode("utf-8", "replace")) for line in lines})[:_SKETCH_SIZE])


def remembered(
    window: tuple[Repeat, ...], tool: str, question: str, shown: str, *, length: int, only_reads: bool
) -> tuple[Repeat, ...]:
    """The window with one more call, at most `length` long. A call that does more than read is new whenever its question is."""
    result = digest_of(shown)[:16]
    sketch = sketch_of(shown) if only_reads else ()
    entry = Repeat(tool, question, result, sketch, _is_new(window, tool, question, result, sketch))
    return (*window, entry)[-length:]


def circle_in(window: tuple[Repeat, ...], threshold: int) -> str | None:
    """What the last calls of a window repeat, in words; None when they make progress."""
    if len(window) < threshold:
        return None
    last = window[-1]
    stale = 0
    for entry in reversed(window):
        if entry.is_new:
            break
        stale += 1
    if stale >= threshold - 1 and _is_one_round(window, threshold):
        return f"the same call of {last.tool} gave the same result {threshold} times"
    for period in range(2, LONGEST_PERIOD + 1):
        if _is_cycle(window, period, threshold):
            names = ", ".join(entry.tool for entry in window[-period:])
            return f"the calls {names} were made {threshold} times over with the same results"
    if stale > threshold:
        return f"the last {stale} calls brought nothing new"
    return None


def _is_new(
    window: tuple[Repeat, ...], tool: str, question: str, result: str, sketch: tuple[int, ...]
) -> bool:
    same = [entry for entry in window if entry.question == question]
    if same:
        return all(entry.result != result for entry in same)
    others = [entry for entry in window if entry.tool == tool and entry.sketch]
    if not sketch or not others:
        return True
    mine = set(sketch)
    return all(
        len(mine.intersection(entry.sketch)) < _OVERLAP * min(len(mine), len(entry.sketch))
        for entry in others
    )


def _is_one_round(window: tuple[Repeat, ...], threshold: int) -> bool:
    last = window[-1]
    return all(
        entry.question == last.question and entry.result == last.result for entry in window[-threshold:]
    )


def _is_cycle(window: tuple[Repeat, ...], period: int, threshold: int) -> bool:
    if len(window) < period * threshold:
        return False
    if window[-1].question != window[-1 - period].question:
        return False
    tail = [(entry.question, entry.result) for entry in window[-period * threshold :]]
    return len(set(tail[:period])) > 1 and all(
        tail[index] == tail[index % period] for index in range(len(tail))
    )


def _chunks(line: str) -> list[str]:
    return [line[start : start + _CHUNK] for start in range(0, len(line), _CHUNK)]
