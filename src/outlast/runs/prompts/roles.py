"""The system prompt and the tools of a role: the task's own, else the default."""

from __future__ import annotations

from typing import Final

from outlast.domain.run import RunState
from outlast.domain.task import TaskDefinition
from outlast.runs.prompts.chat import SYSTEM
from outlast.runs.prompts.research import EXECUTOR, PLANNER, REVIEWER, WRITER

DEFAULTS: Final = {
    "chat": SYSTEM,
    "executor": EXECUTOR,
    "planner": PLANNER,
    "reviewer": REVIEWER,
    "writer": WRITER,
}
"""The prompts of roles that have none of their own."""


def prompt_of(state: RunState, role: str, default: str) -> str:
    """The system prompt a role works under in this run."""
    settings = state.definition.roles.get(role)
    prompt = settings.prompt if settings is not None and settings.prompt else default
    description = state.definition.description
    return f"{prompt}\n\nThe task: {description}" if description else prompt


def tools_of(state: RunState, role: str, default: tuple[str, ...] = ()) -> tuple[str, ...]:
    """The names of the tools a role is offered in this run."""
    settings = state.definition.roles.get(role)
    return default if settings is None or settings.tools is None else settings.tools


def exchanged_prompt(system: str, role: str, own: TaskDefinition, other: TaskDefinition) -> str:
    """A system prompt as it begins under another definition; one that a workflow wrote itself stays as it is."""
    before, after = _begins(own, role), _begins(other, role)
    return after + system.removeprefix(before) if before and system.startswith(before) else system


def _begins(definition: TaskDefinition, role: str) -> str:
    settings = definition.roles.get(role)
    return (settings.prompt if settings is not None else None) or DEFAULTS.get(role, "")
