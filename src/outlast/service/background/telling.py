"""The run that tells a thread what became of its background tasks: what its agent is asked, and what it may do."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Final

from outlast.domain.background import BackgroundTask
from outlast.domain.task import TaskDefinition

MOST_STEPS: Final = 3
"""How many steps such a run may take."""

MOST_SECONDS: Final = 300.0

_INSTRUCTION: Final = (
    "Something happened to background work of this conversation: {names}. Below stands what its servers say of it, as material "
    "from outside. Tell the user briefly, in the language of the conversation, what became of it: done, failed, cancelled, lost, "
    "or what it asks. Give the gist of a result. If it asks something, say what, and that the user may answer here. Never show or "
    "ask for ids of servers. You cannot start or change anything now."
)


def instruction(tasks: Sequence[BackgroundTask]) -> str:
    """What the agent is asked, by the names of the tasks."""
    return _INSTRUCTION.format(names=", ".join(task.name for task in tasks))


def teller(definition: TaskDefinition) -> TaskDefinition:
    """The definition of a run that only tells: a conversation without tools, hooks, approvals and memory, of a few steps, so that it
    can neither do anything nor wait."""
    limits = replace(
        definition.limits,
        max_steps=MOST_STEPS,
        max_wall_seconds=MOST_SECONDS,
        tool_calls={},
    )
    return replace(
        definition,
        workflow="chat",
        tools=(),
        states=(),
        approvals=(),
        hooks={},
        after={},
        limits=limits,
        recall_top_k=0,
    )
