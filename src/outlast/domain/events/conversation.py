"""Events of conversations with models."""

from __future__ import annotations

from datetime import datetime

from outlast.domain.context_summary import ContextSummary
from outlast.domain.dataclass import dataclass
from outlast.domain.door import Json
from outlast.domain.events.event import Event
from outlast.domain.quick import quick
from outlast.domain.tool_call import ToolCall


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
class TasksShown(Event):
    """The background tasks of the thread, as the run is shown them: something has changed since the thread last saw them."""

    text: str


@dataclass(frozen=True, slots=True)
class ContextFolded(Event):
    """Observations of a branch up to `position` are shown to the model in short from here on.

    `characters` is how much of each is left, head and tail; 0 means the head alone, as journals of the first version have it.
    With a position up to 0 it is long words of the thread, from before the run, that are shown in short; with `of_material`
    it is what the conversation was opened with beside the request.
    """

    branch: str
    position: int
    saved_tokens: int
    characters: int = 0
    of_material: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class ContextSummarised(Event):
    """What a branch said and saw before the turn at `before` is shown to the model as a summary from here on.

    People's words, pins, background tasks and their results stay as they are; the events stay in the journal. Positions up
    to 0 count the words of the thread backwards, 0 being the last. `by` is `model`, or `engine` where none was asked or
    its answer was no use, for the reason in `problem`. `reason` is steps, budget or overflow.
    """

    branch: str
    before: int
    summary: ContextSummary
    by: str
    reason: str
    problem: str = ""
    replaced_tokens: int = 0
    tokens: int = 0


@dataclass(frozen=True, slots=True)
class ContextCrowded(Event):
    """What may never leave the context of a branch takes more than the whole is meant to; told once a branch."""

    branch: str
    fixed_tokens: int
    max_tokens: int


@quick
@dataclass(frozen=True, slots=True, kw_only=True)
class ModelRequested(Event):
    """Intent to call a model. `digest` is that of the messages; the reserves count as spent should the answer be lost.

    With `summarises_before` the model is asked for a summary of what the branch said and saw before the turn at that
    position; the answer is no turn of the conversation.
    `option` is which of the role's models is asked: 0 the first, then its fallbacks.
    """

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
    summarises_before: int | None = None
    option: int = 0


@quick
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
    """A model call gave no answer. `retry_at` is when it may be tried again; None when it will not be.

    `next_option` is the model of the role that is asked from now on, where another one takes over.
    """

    call: str
    fault: str
    detail: str
    spent_tokens: int = 0
    retry_at: datetime | None = None
    duration_ms: int = 0
    spent_usd: float = 0.0
    next_option: int | None = None
