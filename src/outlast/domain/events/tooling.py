"""Events of tools, hooks and the loop detection."""

from __future__ import annotations

from outlast.domain.dataclass import dataclass
from outlast.domain.door import Json
from outlast.domain.events.event import Event
from outlast.domain.quick import quick
from outlast.domain.tool_call import ToolOutcome


@quick
@dataclass(frozen=True, slots=True)
class ToolRequested(Event):
    """Intent to run a call. `edited` holds the arguments a person put in the place of the model's."""

    call: str
    generation: int
    attempt: int = 1
    edited: dict[str, Json] | None = None


@quick
@dataclass(frozen=True, slots=True)
class ToolAnswered(Event):
    """What a call came to. `by` names who answered in the tool's place: a person, a policy, a limit."""

    call: str
    outcome: ToolOutcome
    by: str | None = None


@dataclass(frozen=True, slots=True)
class ToolUnsettled(Event):
    """A call with an effect was interrupted: nobody knows whether it took place."""

    call: str
    reason: str


@dataclass(frozen=True, slots=True)
class LoopNoticed(Event):
    """A branch repeats itself without anything new. `action` is steer, then stop."""

    branch: str
    action: str
    detail: str


@dataclass(frozen=True, slots=True)
class HookRequested(Event):
    """Intent to run a hook at a point; `subject` names the transition or call it is about."""

    hook: str
    point: str
    subject: str
    generation: int


@dataclass(frozen=True, slots=True)
class HookRan(Event):
    """A hook's verdict: `veto` is the reason for which it refused, None when it had no objection."""

    hook: str
    point: str
    subject: str
    veto: str | None = None
    duration_ms: int = 0
