"""The state of a run: exactly what decisions read, folded from its events.

It is bounded by the plan and the loop window; the transcript, the ledger of sources and the trace are readings of the journal, not
part of it. Only `outlast.domain.apply` makes new states.
"""

from __future__ import annotations

from dataclasses import field
from datetime import datetime
from typing import Final

from outlast.domain.dataclass import dataclass
from outlast.domain.door import Json
from outlast.domain.events import PinnedTool
from outlast.domain.plan import Conclusion, Progress, Subtask
from outlast.domain.quick import quick
from outlast.domain.states import ENDED, WORKING, State
from outlast.domain.task import Limits, TaskDefinition
from outlast.domain.tool_call import ToolCall

FOLD_VERSION: Final = 1
"""Raised whenever the same events fold to another state; snapshots of another version are not used."""

MAIN_BRANCH: Final = "main"

FORKED: Final = -1
"""The generation of intents that were open where a run was forked."""


@quick
@dataclass(frozen=True, slots=True)
class Counters:
    """What a run has used up. Steps count model calls, also failed ones; `working_seconds` counts working states under a lease."""

    steps: int = 0
    tokens: int = 0
    cost_usd: float = 0.0
    replans: int = 0
    working_seconds: float = 0.0
    tool_calls: dict[str, int] = field(default_factory=dict)

    def more(
        self,
        *,
        steps: int = 0,
        tokens: int = 0,
        cost_usd: float = 0.0,
        replans: int = 0,
        working_seconds: float = 0.0,
        tool: str | None = None,
    ) -> Counters:
        """What is used up once so much more is; `tool` is one that was called once more."""
        calls = self.tool_calls
        return Counters(
            self.steps + steps,
            self.tokens + tokens,
            self.cost_usd + cost_usd,
            self.replans + replans,
            self.working_seconds + working_seconds,
            calls if tool is None else {**calls, tool: calls.get(tool, 0) + 1},
        )


@quick
@dataclass(frozen=True, slots=True)
class Repeat:
    """One call in a branch's loop window: what was asked, what came back, and a sketch of the lines of the result."""

    tool: str
    question: str
    result: str
    sketch: tuple[int, ...]
    is_new: bool


@quick
@dataclass(frozen=True)
class Call:
    """A tool call a model asked for that has no result yet.

    `generation` is that of the last intent (None: not yet requested), `attempt` how often it was requested, `edited` the
    arguments a person put in the place of the model's, `is_unsettled` that its outcome is unknown.
    """

    call: ToolCall
    branch: str
    asked_at_step: int
    generation: int | None = None
    attempt: int = 0
    edited: dict[str, Json] | None = None
    is_unsettled: bool = False


@quick
@dataclass(frozen=True, slots=True)
class ModelCall:
    """A model call in flight or orphaned. One that `is_summary` is no turn of its branch."""

    id: str
    branch: str
    purpose: str
    generation: int
    reserved_tokens: int
    reserved_usd: float
    is_summary: bool = False


@dataclass(frozen=True, slots=True)
class RecallCall:
    """What memory is asked for before the model of a branch speaks next.

    `id` and `generation` are those of the last intent (None: not yet requested), `attempts` how often it was requested; `then` is
    what has to be asked afterwards.
    """

    query: str
    then: str = ""
    id: str | None = None
    generation: int | None = None
    attempts: int = 0


@dataclass(frozen=True, slots=True)
class Answer:
    """The last answer of a branch that asked for no tools, until the workflow has taken it up."""

    position: int
    text: str
    value: Json = None
    problem: str | None = None


@dataclass(frozen=True)
class Branch:
    """A conversation with a model, as far as decisions care.

    `open_calls` are the calls it waits for, `failures` model failures in a row, `option` which of the role's models it asks (0:
    the first), `slips` answers in a row that could not be used, `succeeded` the tools that have succeeded in it, `steered` how
    often it was told that it goes round in circles.
    """

    id: str
    role: str
    purpose: str
    tools: tuple[str, ...]
    subtask: str | None = None
    has_schema: bool = False
    steps: int = 0
    model_call: str | None = None
    open_calls: tuple[str, ...] = ()
    answer: Answer | None = None
    told_since: bool = False
    recall: RecallCall | None = None
    failures: int = 0
    option: int = 0
    retry_at: datetime | None = None
    fault: str | None = None
    slips: int = 0
    window: tuple[Repeat, ...] = ()
    steered: int = 0
    is_stopped: bool = False
    succeeded: frozenset[str] = frozenset()


@dataclass(frozen=True)
class SubtaskState:
    """A subtask and how far it is. `rounds` counts how often it concluded."""

    subtask: Subtask
    progress: Progress = Progress.OPEN
    conclusions: tuple[Conclusion, ...] = ()
    open_questions: tuple[str, ...] = ()
    rounds: int = 0
    remarks: tuple[str, ...] = ()


@dataclass(frozen=True)
class Ticket:
    """An approval: open, approved, rejected or expired. It holds for `digest` only."""

    id: str
    subject: str
    digest: str
    position: int
    status: str = "open"
    expires_at: datetime | None = None
    edit: dict[str, Json] | None = None
    comment: str = ""


@dataclass(frozen=True)
class Question:
    """A question a person has not answered yet, or whose answer has not been taken up."""

    id: str
    text: str
    call: str | None = None
    choices: tuple[str, ...] = ()
    answer: str | None = None
    by: str | None = None


@dataclass(frozen=True, slots=True)
class HookCall:
    """A hook that was asked for: in flight under `generation` for the `attempt`-th time, or done with its verdict."""

    generation: int
    attempt: int = 1
    is_done: bool = False
    veto: str | None = None


@dataclass(frozen=True, slots=True)
class Awaited:
    """A background task that a call of the run began and that has not ended as far as the run was told."""

    name: str
    branch: str


@dataclass(frozen=True, slots=True)
class Waiter:
    """What waits for a run to end: an entry of a queue."""

    queue: str
    item: str


@dataclass(frozen=True, slots=True)
class Failure:
    """Why a run failed or was cancelled, and what to do next."""

    code: str
    detail: str
    next_step: str = ""


@dataclass(frozen=True, kw_only=True)
class RunState:
    """A run, folded up to `position`. `idle_claims` counts claims in a row that brought no result.

    `entered_position` is where the present working state was entered; a halt (WAITING, PAUSED) in between does not count as
    leaving it, so that tickets and hooks of a transition hold over the halt. Up to `counted_at` work is in the counters.
    `background` holds open background tasks of the run by their local id.
    `in_line` is true from the start of a run behind another until its turn has come.
    """

    run_id: str
    thread_id: str = ""
    user_id: str = ""
    position: int = 0
    at: datetime
    counted_at: datetime
    state: State = State.INIT
    entered_position: int = 0
    back_to: State | None = None
    outcome: str | None = None
    failure: Failure | None = None
    generation: int = 0
    is_claimed: bool = False
    idle_claims: int = 0
    input: str = ""
    definition: TaskDefinition
    limits: Limits
    tools: dict[str, PinnedTool] = field(default_factory=dict)
    inherited: Json = None
    counters: Counters = field(default_factory=Counters)
    branches: dict[str, Branch] = field(default_factory=dict)
    calls: dict[str, Call] = field(default_factory=dict)
    model_calls: dict[str, ModelCall] = field(default_factory=dict)
    hooks: dict[str, HookCall] = field(default_factory=dict)
    plan_revision: int = 0
    plan: tuple[SubtaskState, ...] = ()
    refused_plans: tuple[str, ...] = ()
    is_plan_refused: bool = False
    replan_reasons: tuple[str, ...] = ()
    reached: tuple[str, ...] = ()
    report_position: int = 0
    report_outcome: str | None = None
    report_title: str = ""
    report_digest: str = ""
    is_report_refused: bool = False
    rewrites: int = 0
    tickets: dict[str, Ticket] = field(default_factory=dict)
    questions: dict[str, Question] = field(default_factory=dict)
    values: dict[str, Json] = field(default_factory=dict)
    wants_pause: bool = False
    wants_cancel: str | None = None
    wants_resume: bool = False
    in_line: bool = False
    waiters: tuple[Waiter, ...] = ()
    background: dict[str, Awaited] = field(default_factory=dict)
    tells_of: tuple[str, ...] = ()

    @property
    def next_position(self) -> int:
        """The position of the event that comes next."""
        return self.position + 1

    @property
    def has_ended(self) -> bool:
        """Is the run over (it may still be resumed from FAILED)?"""
        return self.state in ENDED

    @property
    def is_active(self) -> bool:
        """Is it the one run of its thread that is at work or stands still?"""
        return not self.has_ended and not self.in_line

    @property
    def is_working(self) -> bool:
        """Is it in a state in which a worker acts?"""
        return self.state in WORKING

    def subtask(self, name: str) -> SubtaskState:
        """The subtask of the present plan with this id; raises KeyError."""
        for item in self.plan:
            if item.subtask.id == name:
                return item
        raise KeyError(name)

    def working_seconds_at(self, now: datetime) -> float:
        """Seconds of work at `now`, the stretch since the last event included."""
        seconds = self.counters.working_seconds
        if self.is_claimed and self.is_working:
            seconds += max(0.0, (now - self.counted_at).total_seconds())
        return seconds

    def awaits(self, branch: Branch) -> bool:
        """Does this branch stand still until a background task it began has ended? Subtasks do; a conversation goes on."""
        return branch.subtask is not None and any(
            task.branch == branch.id for task in self.background.values()
        )

    def open_tickets(self) -> tuple[Ticket, ...]:
        """Tickets that wait for a person, oldest first."""
        return tuple(ticket for ticket in self.tickets.values() if ticket.status == "open")

    def open_questions(self) -> tuple[Question, ...]:
        """Questions that wait for a person, oldest first."""
        return tuple(question for question in self.questions.values() if question.answer is None)
