"""When memory is asked: before the first word of a conversation, and when a person says something new in one."""

from __future__ import annotations

from typing import Final

from outlast.domain.commands import AskMemory, Command, Record
from outlast.domain.events import RecallFailed
from outlast.domain.run import Branch, RunState

MAX_ATTEMPTS: Final = 2
"""How often memory is asked for the same before the branch goes on without it: a worker may have died of it."""


def recall_due(state: RunState, branch: Branch) -> list[Command]:
    """Ask memory for what the branch needs; nothing while it is being asked, or when there is nothing to ask."""
    wanted = branch.recall
    if wanted is None or is_recalling(state, branch):
        return []
    if wanted.id is not None and wanted.attempts >= MAX_ATTEMPTS:
        detail = f"Its worker stopped {wanted.attempts} times before memory had answered."
        return [Record(RecallFailed(wanted.id, branch.id, "recall_interrupted", detail))]
    return [AskMemory(branch.id)]


def is_recalling(state: RunState, branch: Branch) -> bool:
    """Is memory being asked for this branch under the present claim?"""
    return branch.recall is not None and branch.recall.generation == state.generation
