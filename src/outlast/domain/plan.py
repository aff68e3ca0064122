"""The plan of a research run: subtasks, what they concluded, and how they were judged."""

from __future__ import annotations

from collections.abc import Sequence
from enum import StrEnum
from typing import Final, Literal

from outlast.domain.dataclass import dataclass
from outlast.domain.door import canonical_json, digest_of

MIN_SUBTASKS: Final = 3
MAX_SUBTASKS: Final = 8

Verdict = Literal["accept", "revise", "replan"]


class Progress(StrEnum):
    """How far a subtask is."""

    OPEN = "open"
    WORKING = "working"
    CONCLUDED = "concluded"
    ACCEPTED = "accepted"
    DROPPED = "dropped"


@dataclass(frozen=True, slots=True)
class Subtask:
    """A question of the plan, what counts as done, and the ids of the subtasks it depends on."""

    id: str
    question: str
    done_when: str = ""
    depends_on: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Conclusion:
    """A claim with the ledger keys of its sources, the span of text it rests on, and a confidence from 0 to 1.

    `id` is the subtask's id and a number, as `s1.2`. `is_supported` is False when no quote could be found in a source.
    """

    id: str
    claim: str
    sources: tuple[str, ...] = ()
    quote: str = ""
    confidence: float = 0.5
    is_supported: bool = True


def digest_of_plan(subtasks: Sequence[Subtask]) -> str:
    """What tells one plan from another: its questions and what depends on what."""
    return digest_of(canonical_json([[subtask.question, list(subtask.depends_on)] for subtask in subtasks]))[
        :16
    ]


def problems_of(subtasks: tuple[Subtask, ...]) -> list[str]:
    """What keeps these subtasks from being a plan; empty when they are one."""
    problems = []
    ids = [subtask.id for subtask in subtasks]
    if not MIN_SUBTASKS <= len(subtasks) <= MAX_SUBTASKS:
        problems.append(f"a plan has {MIN_SUBTASKS} to {MAX_SUBTASKS} subtasks, not {len(subtasks)}")
    problems += [
        f"the id {name!r} is used twice" for name in sorted({name for name in ids if ids.count(name) > 1})
    ]
    problems += [
        f"the id {name!r} must be 1 to 20 letters, digits, - or _" for name in ids if not _is_plain(name)
    ]
    problems += [
        f"subtask {subtask.id!r} asks nothing" for subtask in subtasks if not subtask.question.strip()
    ]
    for subtask in subtasks:
        problems += [
            f"subtask {subtask.id!r} depends on {other!r}, which is not in the plan"
            for other in subtask.depends_on
            if other not in ids
        ]
    return problems or _circles(subtasks)


def _is_plain(name: str) -> bool:
    return 1 <= len(name) <= 20 and all(
        letter.isascii() and (letter.isalnum() or letter in "-_") for letter in name
    )


def _circles(subtasks: tuple[Subtask, ...]) -> list[str]:
    waiting = {subtask.id: set(subtask.depends_on) for subtask in subtasks}
    while ready := [name for name, needs in waiting.items() if not needs]:
        for name in ready:
            del waiting[name]
        for needs in waiting.values():
            needs.difference_update(ready)
    return [f"the subtasks {', '.join(sorted(waiting))} depend on each other in a circle"] if waiting else []
