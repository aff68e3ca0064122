"""Everything that can happen in a run, in past tense.

An event is appended to the run's journal in the same commit as the state it causes. Its kind is the name of its class; once
released, a kind and its fields are readable for ever: change one by raising VERSION and teaching journal/upcast.py.

    machine events    appended by the worker that holds the run's lease
      Lifecycle         RunStarted RunClaimed RunReleased RunForked StateEntered LimitReached FoldDiverged
      Conversation      BranchOpened Told ContextFolded ModelRequested ModelAnswered ModelFailed
      Tooling           ToolRequested ToolAnswered ToolUnsettled LoopNoticed HookRequested HookRan
      Planning          PlanMade PlanRefused SubtaskStarted SubtaskConcluded SubtaskReviewed SubtaskDropped ReportWritten ValueSet
      Asking            ApprovalAsked TicketExpired TicketVoided QuestionAsked
    signals           appended by anyone who may
      Signal            PauseRequested ResumeRequested CancelRequested Said Approved Rejected Answered LimitsChanged
"""

from __future__ import annotations

from dataclasses import dataclass, field
from datetime import datetime
from typing import Any, ClassVar, get_args

from outlast.domain.door import Json
from outlast.domain.plan import Conclusion, Subtask, Verdict
from outlast.domain.report import Report
from outlast.domain.states import State
from outlast.domain.task import TaskDefinition
from outlast.domain.tool_call import Effect, ToolCall, ToolOutcome


@dataclass(frozen=True, slots=True)
class Event:
    """The base of all events. VERSION is the version of the kind's fields."""

    VERSION: ClassVar[int] = 1


@dataclass(frozen=True, slots=True)
class PinnedTool:
    """A tool as it was when the run began to use it: what is offered to the model, and how calls of it are treated."""

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


@dataclass(frozen=True, slots=True)
class Origin:
    """The run this one came from: `fork` copies its events, `continuation` starts from its conclusions."""

    kind: str
    run_id: str
    at: int


# --- lifecycle ---------------------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True, kw_only=True)
class RunStarted(Event):
    """The run exists. It is pinned to `definition` and `tools`; `secret` is random text that unforgeable fences are made of."""

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


@dataclass(frozen=True, slots=True)
class RunClaimed(Event):
    """A worker holds the run's lease under `generation`. Intents of an older generation are orphans from here on."""

    generation: int
    worker: str


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
    """The next call would cross a limit: which, how much is used, and the bound."""

    limit: str
    used: float
    bound: float


@dataclass(frozen=True, slots=True)
class FoldDiverged(Event):
    """On resume the folded state at `position` had another digest than the recorded one; `difference` shows where."""

    position: int
    recorded: str
    folded: str
    difference: str


# --- conversation ------------------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True, kw_only=True)
class BranchOpened(Event):
    """A conversation with a model began: who speaks in it, under which system prompt, offered which tools, opened by what.

    `material` is untrusted text from `material_from`, shown to the model inside a fence; with `shows_report` the material is
    the report as it stands.
    """

    branch: str
    role: str
    purpose: str
    system: str
    opening: str
    material: str = ""
    material_from: str = ""
    shows_report: bool = False
    tools: tuple[str, ...] = ()
    subtask: str | None = None
    schema: dict[str, Json] | None = None


@dataclass(frozen=True, slots=True)
class Told(Event):
    """A role (or the engine) said something into a branch: `kind` is feedback, steering, note, question or answer.

    `material` is untrusted text from the sender, shown to the model inside a fence.
    """

    branch: str
    sender: str
    kind: str
    body: str
    material: str = ""


@dataclass(frozen=True, slots=True)
class ContextFolded(Event):
    """Observations of a branch up to `position` are shown to the model in short from here on."""

    branch: str
    position: int
    saved_tokens: int


@dataclass(frozen=True, slots=True, kw_only=True)
class ModelRequested(Event):
    """Intent to call a model. `digest` is that of the messages; the reserves count as spent should the answer be lost."""

    call: str
    branch: str
    purpose: str
    role: str
    model: str
    generation: int
    digest: str = ""
    reserved_tokens: int = 0
    reserved_usd: float = 0.0
    with_tools: bool = True


@dataclass(frozen=True, slots=True, kw_only=True)
class ModelAnswered(Event):
    """A model's whole answer. With a schema, `value` is what was read from it, or `problem` says why nothing could be."""

    call: str
    text: str
    tool_calls: tuple[ToolCall, ...] = ()
    reasoning: str | None = None
    finish: str = "stop"
    model: str = ""
    input_tokens: int = 0
    output_tokens: int = 0
    cost_usd: float | None = None
    is_estimate: bool = False
    value: Json = None
    problem: str | None = None
    is_repaired: bool = False
    duration_ms: int = 0
    repairs: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class ModelFailed(Event):
    """A model call gave no answer. `retry_at` is when it may be tried again; None when it will not be."""

    call: str
    fault: str
    detail: str
    spent_tokens: int = 0
    retry_at: datetime | None = None
    duration_ms: int = 0


# --- tools -------------------------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class ToolRequested(Event):
    """Intent to run a call. `edited` holds the arguments a person put in the place of the model's."""

    call: str
    generation: int
    attempt: int = 1
    edited: dict[str, Json] | None = None


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


# --- planning and results ----------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class PlanMade(Event):
    """A plan was adopted. Revision 1 is the first."""

    revision: int
    subtasks: tuple[Subtask, ...]


@dataclass(frozen=True, slots=True)
class PlanRefused(Event):
    """A plan will not do: `by` whom and why. `is_repeat` marks one equal to a plan refused before."""

    by: str
    reasons: tuple[str, ...]
    digest: str
    is_repeat: bool = False


@dataclass(frozen=True, slots=True)
class SubtaskStarted(Event):
    """Work on a subtask began."""

    subtask: str


@dataclass(frozen=True, slots=True)
class SubtaskConcluded(Event):
    """A subtask has conclusions and questions it leaves open."""

    subtask: str
    conclusions: tuple[Conclusion, ...]
    open_questions: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class SubtaskReviewed(Event):
    """A reviewer (or the lack of one) judged a subtask."""

    subtask: str
    verdict: Verdict
    reasons: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class SubtaskDropped(Event):
    """A subtask is given up; what it concluded so far is kept."""

    subtask: str
    reason: str


@dataclass(frozen=True, slots=True)
class ReportWritten(Event):
    """The run's report, checked against its ledger. `dropped` names claims that had no support."""

    report: Report
    by: str
    digest: str
    dropped: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class ValueSet(Event):
    """A workflow set a value of its own."""

    name: str
    value: Json


# --- asking people -----------------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True, kw_only=True)
class ApprovalAsked(Event):
    """A ticket is open: `subject` may only go on when a person agrees to what is `shown`, of which `digest` is the digest."""

    ticket: str
    subject: str
    digest: str
    shown: Json
    expires_at: datetime | None = None


@dataclass(frozen=True, slots=True)
class TicketExpired(Event):
    """Nobody decided in time."""

    ticket: str


@dataclass(frozen=True, slots=True)
class TicketVoided(Event):
    """What the ticket was about is gone or has changed."""

    ticket: str
    reason: str


@dataclass(frozen=True, slots=True)
class QuestionAsked(Event):
    """A person is asked something; `call` is the call that the answer becomes the result of."""

    question: str
    text: str
    call: str | None = None
    choices: tuple[str, ...] = ()


# --- signals -----------------------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class PauseRequested(Event):
    """Start no new call; calls in flight may finish."""

    by: str


@dataclass(frozen=True, slots=True)
class ResumeRequested(Event):
    """Go on from where the run was paused or failed."""

    by: str


@dataclass(frozen=True, slots=True)
class CancelRequested(Event):
    """End the run now; calls in flight are killed."""

    by: str
    reason: str = ""


@dataclass(frozen=True, slots=True)
class Said(Event):
    """A person said something to the run."""

    by: str
    text: str


@dataclass(frozen=True, slots=True)
class Approved(Event):
    """A person agreed to a ticket, perhaps with other arguments."""

    by: str
    ticket: str
    edit: dict[str, Json] | None = None


@dataclass(frozen=True, slots=True)
class Rejected(Event):
    """A person refused a ticket."""

    by: str
    ticket: str
    comment: str = ""


@dataclass(frozen=True, slots=True)
class Answered(Event):
    """A person answered a question."""

    by: str
    question: str
    text: str


@dataclass(frozen=True, slots=True)
class LimitsChanged(Event):
    """A person changed limits: the new values by name."""

    by: str
    changes: dict[str, Json]


Lifecycle = RunStarted | RunClaimed | RunReleased | RunForked | StateEntered | LimitReached | FoldDiverged
Conversation = BranchOpened | Told | ContextFolded | ModelRequested | ModelAnswered | ModelFailed
Tooling = ToolRequested | ToolAnswered | ToolUnsettled | LoopNoticed | HookRequested | HookRan
Planning = (
    PlanMade
    | PlanRefused
    | SubtaskStarted
    | SubtaskConcluded
    | SubtaskReviewed
    | SubtaskDropped
    | ReportWritten
    | ValueSet
)
Asking = ApprovalAsked | TicketExpired | TicketVoided | QuestionAsked
Signal = (
    PauseRequested | ResumeRequested | CancelRequested | Said | Approved | Rejected | Answered | LimitsChanged
)
AnyEvent = Lifecycle | Conversation | Tooling | Planning | Asking | Signal

KINDS: dict[str, type[Any]] = {kind.__name__: kind for kind in get_args(AnyEvent)}
"""Every kind of event by name."""


@dataclass(frozen=True, slots=True)
class Recorded:
    """An event in its place: the position in the run's journal (from 1) and the store's time, aware UTC."""

    position: int
    at: datetime
    event: AnyEvent
