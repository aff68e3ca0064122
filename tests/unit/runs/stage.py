"""A stage: a real worker on a real store in memory, real tools, and a model that plays a part."""

from __future__ import annotations

import asyncio
import hashlib
import itertools
from collections.abc import AsyncIterator, Awaitable, Callable, Iterable, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from outlast.adapters.execution.binding import bind
from outlast.adapters.execution.validation import check_arguments, check_output
from outlast.adapters.providers.scripted import ScriptedProvider
from outlast.adapters.stores.sqlite import SqliteStore
from outlast.adapters.tools.write_report import WriteReport
from outlast.domain.background import Notify
from outlast.domain.errors import OutlastError
from outlast.domain.events import AnyEvent, PinnedTool, Recorded, StateEntered, ToolAnswered
from outlast.domain.hooks import Hook
from outlast.domain.run import RunState
from outlast.domain.task import RetrySettings, TaskDefinition
from outlast.domain.tool_call import ToolOutcome
from outlast.journal.fold import load_state
from outlast.journal.history import read_history
from outlast.ports.background_driver import BackgroundDrivers
from outlast.ports.live import Frame
from outlast.ports.provider import ModelAnswer, ModelRequest
from outlast.ports.store import Store
from outlast.ports.tool import Tool
from outlast.runs.commanded import held_to_commands
from outlast.runs.decide import Workflow
from outlast.runs.means import Means, Shadow
from outlast.runs.remembering.long_term_memory import LongTermMemory
from outlast.runs.worker import Worker
from outlast.runs.workflows import chat, research
from outlast.service.background.office import TaskOffice
from outlast.service.start import Order, start_run
from outlast.tasks.rules import TaskRules
from outlast.wiring.build import pinned, read_form
from outlast.wiring.indoors import ServiceIndoors
from outlast.wiring.settings.tree import Settings
from tests.patience import PATIENCE_SECONDS

WORKFLOWS: dict[str, Workflow] = {"chat": chat.decide, "research": research.decide}

Answering = Callable[[ModelRequest], ModelAnswer | Awaitable[ModelAnswer]]

_numbers = itertools.count(1)


@dataclass
class Audience:
    """Watches pieces of answers."""

    frames: list[Frame] = field(default_factory=list)

    def publish(self, frame: Frame) -> None:
        self.frames.append(frame)


class Stage:
    """Runs of one task on one store, played by one model. `requests` holds what the model was asked, in order.

    `trouble`, when set, keeps runs from being taken up. With `drivers` runs may have background tasks, with a `shadow` steps of
    theirs are shadowed.
    """

    def __init__(
        self,
        store: Store,
        definition: TaskDefinition,
        answering: Answering,
        tools: Iterable[object],
        hooks: Mapping[str, Hook],
        workspace: Path,
        workflow: Workflow | None,
    ) -> None:
        self.store = store
        self.definition = definition
        self.answering = answering
        self.requests: list[ModelRequest] = []
        self.audience = Audience()
        self.trouble: OutlastError | None = None
        self.hooks = hooks
        self.workspace = workspace
        self.workflow = None if workflow is None else held_to_commands(workflow)
        self.drivers: BackgroundDrivers | None = None
        self.rules = TaskRules()
        self.notify: Notify = "agent"
        self.memory: LongTermMemory | None = None
        self.shadow: Shadow | None = None
        self.tools: dict[str, Tool] = {}
        self.cast(tools)

    def cast(self, tools: Iterable[object]) -> None:
        """The tools from the next claim on, as after a deploy."""
        self.tools = {tool.name: tool for tool in map(bind, tools)}

    def pinned(self) -> list[PinnedTool]:
        return [pinned(tool, Settings(), self.definition.retry) for tool in self.tools.values()]

    async def start(self, words: str = "What is there?", **order: Any) -> str:
        """Start a run and return its id."""
        begun = await start_run(
            self.store,
            Order(
                definition=order.pop("definition", self.definition),
                tools=self.pinned(),
                input=words,
                random=hashlib.sha512(b"%d" % next(_numbers)).digest(),
                **order,
            ),
        )
        return begun.run_id

    def worker(self, name: str = "worker", lease_seconds: float = 30.0) -> Worker:
        return Worker(self.store, self._build, holder=name, name=name, lease_seconds=lease_seconds)

    async def work(self, run_id: str) -> str | None:
        """Drive a run until it is given back; returns why it was."""
        async with asyncio.timeout(PATIENCE_SECONDS):
            return await self.worker().work_on(run_id)

    async def play(self, words: str = "What is there?", **order: Any) -> str:
        """Start a run and drive it until it is given back; returns its id."""
        run_id = await self.start(words, **order)
        await self.work(run_id)
        return run_id

    async def state(self, run_id: str) -> RunState:
        return await load_state(self.store, run_id)

    async def history(self, run_id: str) -> list[Recorded]:
        return await read_history(self.store, run_id)

    async def events(self, run_id: str, *kinds: type[Any]) -> list[Any]:
        """The events of a run, those of some kinds only when they are named."""
        found: list[AnyEvent] = [recorded.event for recorded in await self.history(run_id)]
        return [event for event in found if not kinds or isinstance(event, kinds)]

    async def states(self, run_id: str) -> list[str]:
        """The states a run was in, in order."""
        entered = await self.events(run_id, StateEntered)
        return ["INIT", *[str(event.target) for event in entered]]

    async def outcomes(self, run_id: str) -> list[ToolOutcome]:
        """What the tool calls of a run came to, in the order of their results."""
        return [event.outcome for event in await self.events(run_id, ToolAnswered)]

    async def _build(self, run_id: str, definition: TaskDefinition) -> Means:
        if self.trouble is not None:
            raise self.trouble
        return replace(self.means(definition, self._answer), shadow=self.shadow)

    def means(self, definition: TaskDefinition, answering: Answering) -> Means:
        """The means of a run whose model plays this part."""
        provider = ScriptedProvider(answering)
        return Means(
            workflow=self.workflow or WORKFLOWS[definition.workflow],
            office=self._office(),
            provider=lambda role, option=0: provider,
            tools=self.tools,
            pinned=self.pinned(),
            hooks=self.hooks,
            check_arguments=check_arguments,
            check_output=check_output,
            read_form=read_form,
            workspace=self.workspace,
            live=self.audience,
            search=None,
            fetch=None,
            memory=self.memory,
            close=provider.close,
            indoors=ServiceIndoors(),
        )

    def _office(self) -> TaskOffice | None:
        if self.drivers is None:
            return None
        return TaskOffice(
            self.store, self.tools, self.drivers, lambda task: self.rules, lambda driver, server: self.notify
        )

    def _answer(self, request: ModelRequest) -> ModelAnswer | Awaitable[ModelAnswer]:
        self.requests.append(request)
        return self.answering(request)


@asynccontextmanager
async def staged(
    workspace: Path,
    answering: Answering,
    *tools: object,
    hooks: Mapping[str, Hook] | None = None,
    store: SqliteStore | None = None,
    decide: Workflow | None = None,
    **task: Any,
) -> AsyncIterator[Stage]:
    """A stage for one task; `task` are fields of its definition, of a chat with all `tools` unless it says otherwise.

    `hooks` are the functions behind the names that `hooks_of_task` gives by point.
    """
    named = tuple(tool.name for tool in map(bind, tools))
    if task.get("workflow") == "research":
        tools = (*tools, WriteReport)
    given: dict[str, Any] = {
        "name": "task",
        "workflow": "chat",
        "tools": named,
        "retry": RetrySettings(backoff="none"),
        "hooks": task.pop("hooks_of_task", {}),
        **task,
    }
    store = store or SqliteStore(None)
    await store.open()
    try:
        yield Stage(store, TaskDefinition(**given), answering, tools, hooks or {}, workspace, decide)
    finally:
        await store.close()


async def soon(event: asyncio.Event) -> None:
    """Wait for an event, with a bound."""
    async with asyncio.timeout(PATIENCE_SECONDS):
        await event.wait()
