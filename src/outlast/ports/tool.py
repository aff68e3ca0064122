"""The seam to tools: what a tool declares, what it is given, what it may return.

A tool is a class or a decorated function:

    class WordCount(BaseTool):
        name = "word_count"
        description = "Count the words of a text"
        input_schema = {"type": "object", "properties": {"text": {"type": "string"}}, "required": ["text"]}
        effect = "read"

        async def execute(self, text: str) -> ToolResult:
            return ToolResult(success=True, data={"words": len(text.split())})
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import field
from pathlib import Path
from typing import Any, ClassVar, Protocol, TypeVar, overload

from outlast.domain.dataclass import dataclass
from outlast.domain.door import Json
from outlast.domain.quick import quick
from outlast.domain.recalled import Recalled
from outlast.domain.source import Found
from outlast.domain.tool_call import Effect
from outlast.ports.background_driver import Handle
from outlast.ports.search import Fetch, Search


@dataclass(frozen=True, slots=True)
class ReadSource:
    """A page a tool has read, to be entered in the run's ledger of sources with its full text."""

    url: str
    title: str
    text: str
    media_type: str = "text/plain"


@dataclass(slots=True)
class ToolResult:
    """What a tool gives back.

    On success `data` is a JSON value or a text; a failure is `success=False` with an `error` a model can act on. `found` and
    `read` are the addresses a search returned and the pages that were read; only pages that were read can be cited.
    """

    success: bool
    data: Any = None
    error: str | None = None
    found: list[Found] = field(default_factory=list)
    read: list[ReadSource] = field(default_factory=list)


@dataclass(frozen=True, slots=True)
class Ask:
    """Returned by a tool that needs a person: the run waits, and the answer becomes the result of the call."""

    question: str


@dataclass(frozen=True, slots=True)
class Draft:
    """Returned by a tool that hands in the report of the run, to be checked against the ledger of sources.

    `content` has the shape `{"title", "summary", "sections": [{"heading", "claims": [{"text", "sources": [...],
    "conclusions": [...], "confidence"}]}], "limits": [...]}`. Sources are ledger keys or addresses; conclusions are ids of
    conclusions of the run.
    """

    content: dict[str, Json]


@dataclass(frozen=True, slots=True)
class Background:
    """That calls of a tool may go on in the background: `driver`, `server` and `principal` are those of its handles.

    Where it `always` does, the task is written down before the request leaves; else the other side decides call by call. `name` is
    what its tasks are called, empty: as models know the tool.
    """

    driver: str
    server: str
    principal: str = ""
    always: bool = True
    name: str = ""


@dataclass(frozen=True, slots=True)
class Retry:
    """How often a failed call is tried again. `max_attempts` counts the first try; `backoff` is exponential, fixed or none."""

    max_attempts: int = 3
    backoff: str = "exponential"


class Tool(Protocol):
    """What the engine sees of a tool, however it was written."""

    name: str
    description: str
    input_schema: Mapping[str, Json]
    output_schema: Mapping[str, Json] | None
    effect: Effect
    is_effect_declared: bool
    timeout_seconds: float
    retry: Retry | None
    cache_seconds: float
    exclusive_group: str | None
    max_concurrent: int | None
    version: str
    background: Background | None

    async def run(
        self, arguments: dict[str, Json], context: ToolContext
    ) -> ToolResult | Ask | Draft | Handle:
        """Do the work, or begin it and give a handle to it. Must leave nothing running when cancelled.

        Raises Passing (`timeout`, `tool_failed`) for what may go better when tried again, ToolTrouble for what will not.
        """
        ...


class BaseTool:
    """The base of a tool written as a class: set the attributes, write `execute`.

    `execute` takes the arguments by name; a parameter annotated `ToolContext` is injected. An `async def` runs in the event
    loop and is cancelled; a plain `def` runs in a process of its own that can be killed. With `background` a call is a background
    task: any worker does the work, for as long as it takes, while the conversation goes on. Units: seconds.
    """

    name: ClassVar[str]
    description: ClassVar[str]
    input_schema: ClassVar[Mapping[str, Any]]
    output_schema: ClassVar[Mapping[str, Any] | None] = None
    effect: ClassVar[str | None] = None
    timeout_seconds: ClassVar[float | None] = None
    retry: ClassVar[Retry | None] = None
    cache_seconds: ClassVar[float | None] = None
    exclusive_group: ClassVar[str | None] = None
    max_concurrent: ClassVar[int | None] = None
    background: ClassVar[bool | None] = None

    def execute(self, *args: Any, **kwargs: Any) -> Any:
        """Do the work and return a ToolResult (or an Ask, a Draft or a Handle)."""
        raise NotImplementedError(f"The tool {type(self).__name__} does not define execute().")


class Artifacts(Protocol):
    """Large or binary output, kept with the run by content."""

    async def put(self, content: str | bytes) -> str:
        """Store `content` and return its digest."""
        ...

    async def get(self, digest: str) -> bytes | None:
        """The content with that digest, if this run holds it."""
        ...


class SideModel(Protocol):
    """A model a tool may ask; what it uses up counts against the run."""

    async def ask(self, purpose: str, prompt: str, text: str) -> str:
        """The model's answer to `prompt` about the untrusted `text`. Raises ToolTrouble when the budget is spent."""
        ...


class Mates(Protocol):
    """The other runs of the conversation that have not ended."""

    async def names(self) -> list[str]:
        """Their ids, in the order in which they will work."""
        ...

    async def tell(self, run_id: str, text: str) -> None:
        """Tell one of them something, once however often this call is made. Raises NotFound, Conflict, CallerMistake."""
        ...


class BackgroundTasks(Protocol):
    """The background tasks of the conversation. Each is meant by its local id or its name; all raise NotFound, Conflict and
    CallerMistake that say what to do."""

    async def list(self) -> list[Json]:
        """The newest, in four fields."""
        ...

    async def show(self, wanted: str, offset: int, limit: int) -> Json:
        """One of them, with a part of what it came to."""
        ...

    async def cancel(self, wanted: str) -> Json:
        """Ask that one be cancelled."""
        ...

    async def answer(self, wanted: str, answer: str | dict[str, Json], question: str | None) -> Json:
        """Hand on what the user answers; refused where it is not the user's turn."""
        ...


class RunMemory(Protocol):
    """Memory, asked and told in the name of the run: what a tool cannot choose is whose it is."""

    async def remember(self, text: str, replaces: Sequence[str]) -> str:
        """Keep a note for the run's user, in the place of earlier facts and notes; returns its id, the same when it is kept again.

        Raises ToolTrouble (`not_remembered`) for an id that is not there, or that is neither fact nor note.
        """
        ...

    async def recall(self, query: str, limit: int) -> list[Recalled]:
        """At most `limit` entries that the conversation may see: of this run first, then from before."""
        ...

    async def read(self, memory_id: str) -> Recalled | None:
        """The whole of one entry, if it is there and the conversation may see it."""
        ...


@quick
@dataclass(frozen=True, slots=True)
class ToolContext:
    """What a tool is given beside its arguments.

    Identity, the idempotency key of this call (the same after a crash), the run's workspace directory, and the services that
    are configured. Scope comes from here, never from the model.
    """

    user_id: str
    thread_id: str
    run_id: str
    call_id: str
    idempotency_key: str
    subtask: str | None
    workspace: Path
    artifacts: Artifacts
    search: Search | None = None
    fetch: Fetch | None = None
    model: SideModel | None = None
    mates: Mates | None = None
    background: BackgroundTasks | None = None
    memory: RunMemory | None = None


@dataclass(frozen=True, slots=True)
class ToolDeclaration:
    """What `@tool(...)` was told; what is None is taken from the function or from the defaults."""

    name: str | None = None
    description: str | None = None
    input_schema: Mapping[str, Any] | None = None
    output_schema: Mapping[str, Any] | None = None
    effect: str | None = None
    timeout_seconds: float | None = None
    retry: Retry | None = None
    cache_seconds: float | None = None
    exclusive_group: str | None = None
    max_concurrent: int | None = None
    background: bool | None = None


DECLARATION_ATTRIBUTE = "__outlast_tool__"

F = TypeVar("F", bound=Callable[..., Any])


@overload
def tool(function: F, /) -> F: ...
@overload
def tool(**declared: Any) -> Callable[[F], F]: ...
def tool(function: Any = None, /, **declared: Any) -> Any:
    """Declare a function to be a tool: `@tool` or `@tool(effect="read", timeout_seconds=20)`.

    Its name, docstring and type hints become name, description and input schema unless they are given; the arguments are the
    fields of ToolDeclaration. The function stays callable as before. Raises TypeError for an argument that is no such field.
    """

    def declare(target: Any) -> Any:
        setattr(target, DECLARATION_ATTRIBUTE, ToolDeclaration(**declared))
        return target

    return declare if function is None else declare(function)
