"""What a decision asks for, in imperative. `decide(state, now)` returns these; the engine records and performs them.

`Record` appends an event at once; the others become an intent in the journal, then an effect, then a result.
"""

from __future__ import annotations

from dataclasses import field

from outlast.domain.dataclass import dataclass
from outlast.domain.door import Json
from outlast.domain.events import AnyEvent
from outlast.domain.quick import quick


@quick
@dataclass(frozen=True, slots=True)
class Record:
    """Append this event; nothing else happens."""

    event: AnyEvent


@quick
@dataclass(frozen=True, slots=True)
class CallModel:
    """Ask the model of a branch.

    With `form` the answer's text is read as that form (`plan`, `conclusions`, `verdict`, or `own` for the schema the
    branch was opened with); without tools the form is also demanded from the provider.
    """

    branch: str
    purpose: str
    form: str | None = None
    with_tools: bool = True


@quick
@dataclass(frozen=True, slots=True)
class CallTool:
    """Run a call that was asked for. `attempt` counts the tries that a crash or a person made necessary, from 1."""

    call: str
    attempt: int = 1
    edited: dict[str, Json] | None = None


@dataclass(frozen=True, slots=True)
class RunHook:
    """Run a hook at a point about a subject; `info` is what it is told."""

    hook: str
    point: str
    subject: str
    info: dict[str, Json] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class AskMemory:
    """Ask memory for what a branch needs before its model speaks next (see `Branch.recall`)."""

    branch: str


@dataclass(frozen=True, slots=True)
class ComposeReport:
    """Make the report from the conclusions there are, without a model. `reason` says why it is partial, if it is."""

    outcome: str
    reason: str = ""


Command = Record | CallModel | CallTool | RunHook | AskMemory | ComposeReport
