"""Events of the life of a run: begun, claimed, given back, forked, from state to state."""

from __future__ import annotations

from dataclasses import field

from outlast.domain.dataclass import dataclass
from outlast.domain.door import Json
from outlast.domain.events.event import Event
from outlast.domain.quick import quick
from outlast.domain.states import State
from outlast.domain.task import TaskDefinition
from outlast.domain.tool_call import Effect


@quick
@dataclass(frozen=True, slots=True)
class PinnedTool:
    """A tool as it was when the run began to use it: what is offered to the model, and how calls of it are treated.

    `background` tells whether its calls go on as background tasks: `local` ones here, `always` or `maybe` elsewhere.
    """

    name: str
    description: str
    input_schema: dict[str, Json]
    effect: Effect
    version: str
    timeout_seconds: float = 30.0
    cache_seconds: float = 300.0
    max_attempts: int = 1
    backoff: str = "exponential"
    exclusive_group: str | None = None
    max_concurrent: int | None = None
    background: str | None = None


@dataclass(frozen=True, slots=True)
class Origin:
    """The run this one came from: `fork` copies its events, `continuation` starts from its conclusions."""

    kind: str
    run_id: str
    at: int


@dataclass(frozen=True, slots=True, kw_only=True)
class RunStarted(Event):
    """The run exists. It is pinned to `definition` and `tools`; `secret` is random text that unforgeable fences are made of.

    `in_line` says that it was started behind another run of its thread, and begins when that has ended. A run that `tells_of`
    background tasks was started by outlast itself, to tell the thread what became of them; `material` is what is known of them.
    """

    thread_id: str
    user_id: str
    input: str
    definition: TaskDefinition
    tools: tuple[PinnedTool, ...]
    secret: str
    today: str
    thread_position: int = 0
    origin: Origin | None = None
    inherited: Json = None
    in_line: bool = False
    tells_of: tuple[str, ...] = ()
    material: str = ""


@dataclass(frozen=True, slots=True)
class RunClaimed(Event):
    """A worker holds the run's lease under `generation`. Intents of an older generation are orphans from here on."""

    generation: int
    worker: str


@dataclass(frozen=True, slots=True)
class TurnTaken(Event):
    """The run in line begins: it is the active one of its thread, of which it knows what was said up to `thread_position`."""

    thread_position: int


@dataclass(frozen=True, slots=True)
class RunReleased(Event):
    """The worker gave the run back: `waiting`, `paused`, `shutdown`, `ended` or why it could not go on."""

    reason: str


@dataclass(frozen=True, slots=True)
class RunForked(Event):
    """From here on this is a run of its own; the events before are copies. `changes` are the settings that differ."""

    origin: Origin
    thread_id: str
    secret: str
    changes: dict[str, Json] = field(default_factory=dict)
    definition: TaskDefinition | None = None


@dataclass(frozen=True, slots=True)
class ToolsChanged(Event):
    """Where a worker took the run up, these tools are no longer what the run was pinned to; it is from here on."""

    tools: tuple[PinnedTool, ...]


@dataclass(frozen=True, slots=True)
class StateEntered(Event):
    """The run went from `source` to `target`. `digest` is that of the state just before, checked whenever the run is folded.

    `code`, `detail` and `next_step` are given with FAILED and CANCELLED; `outcome` (full or partial) with COMPLETED.
    """

    source: State
    target: State
    reason: str = ""
    outcome: str | None = None
    digest: str = ""
    code: str | None = None
    detail: str | None = None
    next_step: str | None = None


@dataclass(frozen=True, slots=True)
class LimitReached(Event):
    """The next call would cross a limit: which, how much is used, and the bound; `reasons` say what more was wanted for."""

    limit: str
    used: float
    bound: float
    reasons: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class FoldDiverged(Event):
    """On resume the folded state at `position` had another digest than the recorded one; `difference` shows where."""

    position: int
    recorded: str
    folded: str
    difference: str
