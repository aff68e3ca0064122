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

_SKETCH_SIZE: Final = 48
_OVERLAP: Final = 0.75
_CHUNK: Final = 60


def question_of(tool: str, arguments: Mapping[str, Json]) -> str:
    """What a call asks, in 16 characters."""
    asked = arguments
    if not REMARKS.isdisjoint(arguments):
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
    """What the last calls of a window repeat, in words; None when they make progress.

    Calls that were made before count when each of them, whatever their order, was made `threshold` times on average; other
    calls that brought nothing new count when there are more than `threshold` of them.
    """
    start = len(window)
    while start and not window[start - 1].is_new:
        start -= 1
    if start == len(window):
        return None
    asked = {entry.question for entry in window[:start]}
    again: list[Repeat] = []
    others = 0
    for entry in window[start:]:
        if entry.question in asked:
            again.append(entry)
        else:
            others += 1
            asked.add(entry.question)
    if others > threshold:
        return f"the last {len(window) - start} calls brought nothing new"
    return _rounds_in(again, threshold)


def _rounds_in(again: list[Repeat], threshold: int) -> str | None:
    """Do the last of these repeated calls complete `threshold` rounds, their first one before included?"""
    names: dict[str, str] = {}
    for count, entry in enumerate(reversed(again), start=1):
        names[entry.question] = entry.tool
        if count >= (threshold - 1) * len(names):
            if len(names) == 1:
                return f"the same call of {entry.tool} gave the same result {threshold} times"
            listed = ", ".join(reversed(names.values()))
            return f"the calls {listed} were made {threshold} times over with the same results"
    return None


def _is_new(
    window: tuple[Repeat, ...], tool: str, question: str, result: str, sketch: tuple[int, ...]
) -> bool:
    same = [entry.result for entry in window if entry.question == question]
    if same or not sketch:
        return result not in same
    others = [entry for entry in window if entry.tool == tool and entry.sketch]
    mine = set(sketch)
    return all(
        len(mine.intersection(entry.sketch)) < _OVERLAP * min(len(mine), len(entry.sketch))
        for entry in others
    )


def _chunks(line: str) -> list[str]:
    return [line[start : start + _CHUNK] for start in range(0, len(line), _CHUNK)]
