"""Hooks: a user's own checks at points of a run."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from dataclasses import field
from typing import Final

from outlast.domain.dataclass import dataclass
from outlast.domain.door import Json


@dataclass(frozen=True, slots=True)
class Veto:
    """Returned by a hook that refuses: the reason is shown to people and, for a tool call, to the model."""

    reason: str


@dataclass(frozen=True, slots=True)
class HookContext:
    """What a hook is told.

    `point` is on_enter_S, on_exit_S, on_transition, A->B, before_tool or after_tool; `info` holds what it is about: `source`,
    `target` and `reason` of a transition, or `tool`, `arguments` and (after) `result` of a call. What a call came to that went on in
    the background is asked about once more, with `background_task`, before the conversation is told of it. `attempt` is above 1
    when a crash interrupted the same hook before.
    """

    point: str
    run_id: str
    thread_id: str
    user_id: str
    task: str
    attempt: int = 1
    info: dict[str, Json] = field(default_factory=dict)


Hook = Callable[[HookContext], "Veto | Awaitable[Veto | None] | None"]
"""A hook: sync or async, time-limited, journaled. Nothing is returned when it has no objection."""

HOOK_TIMEOUT_SECONDS = 30.0

BEFORE_TOOL: Final = "before_tool"
AFTER_TOOL: Final = "after_tool"
"""The point after a call, where its result is known."""
