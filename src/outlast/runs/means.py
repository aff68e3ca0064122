"""What a run is performed with: everything outside that its calls reach, bound once when a worker takes the run up."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Coroutine, Mapping, Sequence
from datetime import datetime
from pathlib import Path
from typing import Any, Protocol

from outlast.domain.dataclass import dataclass
from outlast.domain.door import Json
from outlast.domain.events import PinnedTool, Recorded
from outlast.domain.hooks import Hook
from outlast.domain.quick import quick
from outlast.domain.run import Call, RunState
from outlast.domain.shadow import Selector
from outlast.domain.task import TaskDefinition
from outlast.domain.tool_call import Begun, ToolCall, ToolError
from outlast.ports.background_driver import Handle
from outlast.ports.batch import Item
from outlast.ports.live import Live
from outlast.ports.provider import Provider
from outlast.ports.search import Fetch, Search
from outlast.ports.store import Store
from outlast.ports.tool import BackgroundTasks, Mates, Tool
from outlast.runs.decide import Workflow
from outlast.runs.remembering.long_term_memory import LongTermMemory


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


@quick
@dataclass(frozen=True, slots=True, kw_only=True)
class Caller:
    """Who asks, when a tool asks something of outlast itself: the call of a run, never what a model says of itself.

    `is_user_turn` is whether the call is made in a run that answers a person.
    """

    user_id: str
    thread_id: str
    run_id: str
    key: str
    is_user_turn: bool = False


class Indoors(Protocol):
    """What tools may ask of outlast itself, for one call."""

    def mates(self, store: Store, caller: Caller) -> Mates:
        """The other runs of the caller's thread."""
        ...

    def background(self, store: Store, caller: Caller) -> BackgroundTasks:
        """The background tasks of the caller's thread."""
        ...


class Office(Protocol):
    """What keeps the background tasks of runs: rows that are written in the commits of the runs they belong to."""

    async def name_for(self, state: RunState, call: ToolCall, wanted: str) -> Begun:
        """The local id and the name of the task that a call begins: the same whenever it is asked for, unique in its thread."""
        ...

    async def joined(
        self,
        before: RunState,
        state: RunState,
        recorded: Sequence[Recorded],
        handles: Mapping[str, Handle],
        now: datetime,
    ) -> list[Item]:
        """What must be written with these events, which lead from the state `before` to `state`.

        Rows of tasks that calls begin, under the `handles` that calls gave; what the end of a run means for tasks it told of, or
        began.
        """
        ...

    async def shown(self, state: RunState, before: str) -> str:
        """The background tasks of a run's thread as a run may see them; empty where they stand as in `before`, or there are none."""
        ...

    async def adrift(self, state: RunState, call: Call, handle: Handle) -> None:
        """Keep a task whose handle came when its call was over, to be cancelled by whoever tends tasks; never raises.

        One that cannot be kept is given up as `abandon` does; one that is followed already is left alone.
        """
        ...

    async def abandon(self, handle: Handle) -> None:
        """Cancel a task whose handle could not be kept, as well as that can be done; never raises."""
        ...


class ProviderOf(Protocol):
    """Finds the provider of a role's model."""

    def __call__(self, role: str, option: int = 0) -> Provider:
        """The provider of the model asked first (0) or of a fallback."""
        ...


@quick
@dataclass(frozen=True, slots=True, kw_only=True)
class Means:
    """The ports a run's calls go through.

    `provider` gives the models of a role. `pinned` are the tools as a run would be pinned to them now, where they may have
    changed. `memory` is None where nothing is remembered. `indoors` is what tools may ask of outlast itself, `office` keeps the
    background tasks; without it a run has none. `shadow` is None where no step is shadowed. `close` gives everything back.
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
    memory: LongTermMemory | None = None
    indoors: Indoors | None = None
    office: Office | None = None
    shadow: Shadow | None = None


@dataclass(frozen=True, slots=True)
class Variant:
    """What shadowed steps are made with: the definition a run would be pinned to under other settings, and its means."""

    definition: TaskDefinition
    means: Means


class BuildVariant(Protocol):
    """Builds the variant of a run, at the first step that needs it."""

    async def __call__(self, *, only_prompts: bool) -> Variant:
        """The variant, or what the run itself has but for the prompts of its roles.

        Raises CallerMistake when something it needs is not here.
        """
        ...


SeeThrough = Callable[[asyncio.Event], Coroutine[Any, Any, None]]
"""Work that outlasts a run, given what is set once it is to end soon."""


class Afterwards(Protocol):
    """Sees comparisons through that outlast the work on their run."""

    def take_over(self, see_through: SeeThrough) -> None:
        """Begin the work now; the process waits for its end, for a while also once it is to end soon."""
        ...


@dataclass(frozen=True, slots=True, kw_only=True)
class Shadow:
    """Which steps of a run are also made the way of a variant, and within which bounds.

    `variant` is the digest of the settings that differ, `share` the part of the chosen steps that is shadowed. `max_cost_usd` and
    `max_tokens` bound what all of it uses up in one run, beside the limits of the run; the calls in flight may go beyond them.
    """

    selectors: tuple[Selector, ...]
    variant: str
    build: BuildVariant
    afterwards: Afterwards
    share: float = 1.0
    timeout_seconds: float = 120.0
    max_concurrent: int = 2
    max_cost_usd: float | None = None
    max_tokens: int | None = None


class BuildMeans(Protocol):
    """Builds the means of a run from its definition."""

    async def __call__(self, run_id: str, definition: TaskDefinition) -> Means:
        """The means; raises CallerMistake or Broken when something the run needs is not here (a tool, a hook, a variable)."""
        ...
