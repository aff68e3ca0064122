"""The system prompt and the tools of a role: the task's own, else the default."""

from __future__ import annotations

from outlast.domain.run import RunState


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
