"""What a run is performed with: everything outside that its calls reach, bound once when a worker takes the run up."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol

from outlast.domain.door import Json
from outlast.domain.events import PinnedTool
from outlast.domain.hooks import Hook
from outlast.domain.task import TaskDefinition
from outlast.domain.tool_call import ToolError
from outlast.ports.embedder import Embedder
from outlast.ports.live import Live
from outlast.ports.memory import MemoryStore
from outlast.ports.provider import Provider
from outlast.ports.search import Fetch, Search
from outlast.ports.store import Store
from outlast.ports.tool import Mates, Tool
from outlast.runs.decide import Workflow


@dataclass(frozen=True, slots=True)
class FormRead:
    """What was read from a model's text: the value, and whether it had to be repaired."""

    value: Json
    is_repaired: bool = False


class ReadForm(Protocol):
    """Reads a JSON value that fits a schema from a model's text."""

    def __call__(self, text: str, schema: Mapping[str, Json]) -> FormRead:
        """The value; raises ModelMistake that says what is wrong with the text."""
        ...


@dataclass(frozen=True, slots=True, kw_only=True)
class Caller:
    """Who asks, when a tool asks something of outlast itself: the call of a run, never what a model says of itself."""

    user_id: str
    thread_id: str
    run_id: str
    key: str


class Indoors(Protocol):
    """What tools may ask of outlast itself, for one call."""

    def mates(self, store: Store, caller: Caller) -> Mates:
        """The other runs of the caller's thread."""
        ...


class ProviderOf(Protocol):
    """Finds the provider of a role's model."""

    def __call__(self, role: str, option: int = 0) -> Provider:
        """The provider of the model asked first (0) or of a fallback."""
        ...


@dataclass(frozen=True, slots=True, kw_only=True)
class Means:
    """The ports a run's calls go through.

    `provider` gives the models of a role. `pinned` are the tools as a run would be pinned to them now, where they may have
    changed. `memory` is None where nothing is remembered, `embedder` where vectors are not used. `close` gives everything back.
    changed. `indoors` is what tools may ask of outlast itself. `close` gives everything back.
    """

    workflow: Workflow
    provider: ProviderOf
    tools: Mapping[str, Tool]
    hooks: Mapping[str, Hook]
    check_arguments: Callable[[Tool, dict[str, Json]], dict[str, Json] | ToolError]
    check_output: Callable[[Tool, object], list[str]]
    read_form: ReadForm
    workspace: Path
    live: Live
    search: Search | None
    fetch: Fetch | None
    close: Callable[[], Awaitable[None]]
    pinned: Sequence[PinnedTool] = ()
    memory: MemoryStore | None = None
    embedder: Embedder | None = None
    indoors: Indoors | None = None


class BuildMeans(Protocol):
    """Builds the means of a run from its definition."""

    async def __call__(self, run_id: str, definition: TaskDefinition) -> Means:
        """The means; raises CallerMistake or Broken when something the run needs is not here (a tool, a hook, a variable)."""
        ...
