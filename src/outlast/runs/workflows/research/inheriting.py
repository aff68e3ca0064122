"""A run that continues another: what the other concluded, and still holds, is taken over without being worked on again.

A subtask that asks what the other run has settled is settled at once; whatever else is known stands in a subtask of its own.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from outlast.domain.commands import Command, Record
from outlast.domain.door import Json
from outlast.domain.events import PlanMade, SubtaskConcluded, SubtaskReviewed
from outlast.domain.plan import Progress, Subtask
from outlast.domain.run import RunState
from outlast.runs.forms import conclusions_in, text_in
from outlast.runs.inheritance import asked_again, inherited_conclusions, inherited_from
from outlast.runs.report_words import words_for

KNOWN: Final = "known"
"""The id of the subtask that holds what is known and not asked again."""


def with_known(state: RunState, subtasks: Sequence[Subtask]) -> tuple[Subtask, ...]:
    """The plan, after a subtask that holds what is known and that none of its own would hold, if there is any."""
    if not _left_over(state, subtasks):
        return tuple(subtasks)
    taken = {subtask.id for subtask in subtasks}
    names = (KNOWN, *(f"{KNOWN}-{number}" for number in range(1, len(taken) + 1)))
    return (Subtask(next(name for name in names if name not in taken), _heading(state)), *subtasks)


def adopted(state: RunState, subtasks: Sequence[Subtask]) -> list[Command]:
    """Adopt a plan made by `with_known`, and settle the subtasks that need no work."""
    commands: list[Command] = [Record(PlanMade(state.plan_revision + 1, tuple(subtasks)))]
    kept = {item.subtask.question for item in state.plan if item.progress is Progress.ACCEPTED}
    why = f"known from {inherited_from(state)}; its sources are unchanged"
    for subtask in subtasks:
        known = _known_for(state, subtask, subtasks)
        if known and subtask.question not in kept:
            value: Json = {"conclusions": [{**one, "is_supported": True} for one in known]}
            commands.append(Record(SubtaskConcluded(subtask.id, conclusions_in(value, subtask.id))))
            commands.append(Record(SubtaskReviewed(subtask.id, "accept", (why,))))
    return commands


def _known_for(state: RunState, subtask: Subtask, plan: Sequence[Subtask]) -> list[dict[str, Json]]:
    """The conclusions a subtask is settled by: those on its very question, or for the subtask of its own those left over."""
    if subtask.question == _heading(state):
        return _left_over(state, plan)
    if subtask.question in asked_again(state):
        return []
    return [
        one for one in inherited_conclusions(state) if text_in(one, "subtask_question") == subtask.question
    ]


def _left_over(state: RunState, plan: Sequence[Subtask]) -> list[dict[str, Json]]:
    settled = {subtask.question for subtask in plan} - asked_again(state)
    return [one for one in inherited_conclusions(state) if text_in(one, "subtask_question") not in settled]


def _heading(state: RunState) -> str:
    return words_for(state)["known"].format(run=inherited_from(state))
