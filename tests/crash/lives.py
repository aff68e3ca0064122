"""A run that lives through several processes: workers that come and go, and the person it asks."""

import asyncio
import functools
import inspect
import itertools
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, cast

from outlast.adapters.execution.validation import check_arguments, check_output
from outlast.adapters.providers.scripted import ScriptedProvider
from outlast.adapters.stores.sqlite import SqliteStore
from outlast.domain.events import PinnedTool
from outlast.domain.states import ENDED, State
from outlast.domain.task import TaskDefinition
from outlast.journal.fold import load_state
from outlast.ports.live import Frame
from outlast.ports.store import Store
from outlast.ports.tool import Tool
from outlast.runs.calls import DID_HAPPEN, RUN_AGAIN
from outlast.runs.desk import Lease
from outlast.runs.means import Means
from outlast.runs.remembering.long_term_memory import LongTermMemory
from outlast.runs.session import Session
from outlast.runs.worker import Worker
from outlast.runs.workflows import research
from outlast.service import signals
from outlast.service.reports.document import to_document
from outlast.service.show import read_report
from outlast.service.start import Order, start_run
from outlast.testing.faults import Crash, CrashPlan, Faulty
from outlast.wiring.build import read_form
from tests.crash import trade

LEASE_SECONDS = 600.0
MOST_CLAIMS = 20

TURNS_TO_REST = 40
"""After so many turns of its loop a process has done all it can do without an answer from outside."""


class Deaf:
    """Nobody watches."""

    def publish(self, frame: Frame) -> None:
        """Let a frame go."""


class Unhurried:
    """A store that answers once everything else has come to rest, one call after the other.

    How far the rest of a process gets while the disk is at work depends on the disk; that calls are numbered alike in every run of
    the same, and a point to die at is there in each, must not.
    """

    def __init__(self, store: Any, turn: asyncio.Lock) -> None:
        self._store = store
        self._turn = turn

    def __getattr__(self, verb: str) -> Any:
        attribute = getattr(self._store, verb)
        if not inspect.iscoroutinefunction(attribute):
            return attribute

        @functools.wraps(attribute)
        async def answered(*args: Any, **kwargs: Any) -> Any:
            async with self._turn:
                for _ in range(TURNS_TO_REST):
                    await asyncio.sleep(0)
                return await attribute(*args, **kwargs)

        return answered


class Watched(Worker):
    """A worker that keeps hold of its last session, so that a test can compare what it read with the journal."""

    session: Session | None = None

    async def _session(self, lease: Lease, *rest: Any) -> Session:
        self.session = await super()._session(lease, *rest)
        return self.session


@dataclass
class Life:
    """One run, its world, and all the processes that ever worked on it."""

    store: SqliteStore
    world: trade.World
    run_id: str
    crashes: int = 0
    asked_unknown: list[str] = field(default_factory=list)
    told_again: list[str] = field(default_factory=list)
    last: Session | None = None
    turn: asyncio.Lock = field(default_factory=asyncio.Lock)


async def begun() -> Life:
    """A run that has just been started in a store of its own."""
    store, world = SqliteStore(None), trade.World()
    await store.open()
    order = Order(
        definition=trade.definition(),
        tools=[_pinned(tool) for tool in world.tools.values()],
        input=trade.QUESTION,
        random=bytes(range(40)),
    )
    return Life(store, world, (await start_run(store, order)).run_id)


async def nothing() -> None:
    """Do nothing."""


async def lived(plan: CrashPlan) -> Life:
    """A run from its start to its end, with one process dying where `plan` says."""
    return await live_on(await begun(), plan)


async def live_on(life: Life, plan: CrashPlan, after_crash: Callable[[], Awaitable[None]] = nothing) -> Life:
    """The run brought to its end; `after_crash` is done between the death of a process and the next."""
    for number in itertools.count():
        assert number < MOST_CLAIMS, "the run does not come to its end"
        try:
            await _work(life, plan, f"worker-{number}")
        except Crash:
            life.crashes += 1
            plan = CrashPlan()
            await life.store.expire_lease("runs", life.run_id)
            await after_crash()
        else:
            if await _act_as_person(life) in ENDED:
                return life
    raise AssertionError("unreachable")


async def _work(life: Life, plan: CrashPlan, name: str) -> None:
    """One process works on the run until it gives it back or dies."""
    store: Store = Faulty(cast("Store", Unhurried(life.store, life.turn)), plan, "store")
    worker = Watched(store, _builder(life, plan), holder=name, name=name, lease_seconds=LEASE_SECONDS)
    try:
        reason = await worker.work_on(life.run_id)
    finally:
        life.last = worker.session
    assert reason is not None, "the run is held by somebody else"


def _builder(life: Life, plan: CrashPlan) -> Any:
    provider = Faulty(ScriptedProvider(trade.answering), plan, "provider")
    library = trade.Library()
    tools = {name: _faulty(tool, plan) for name, tool in life.world.tools.items()}

    async def close() -> None:
        """Nothing to give up."""

    async def build(run_id: str, definition: TaskDefinition) -> Means:
        return Means(
            workflow=research.decide,
            provider=lambda role, option=0: provider,
            tools=tools,
            hooks={trade.HOOK: Faulty(life.world, plan, "hook").allow},
            check_arguments=check_arguments,
            check_output=check_output,
            read_form=read_form,
            workspace=Path("unused"),
            live=Deaf(),
            search=Faulty(library, plan, "search"),
            fetch=Faulty(library, plan, "fetch"),
            close=close,
            memory=LongTermMemory(
                Faulty(cast("Any", Unhurried(life.store.memory, life.turn)), plan, "memory")
            ),
        )

    return build


def _faulty(tool: Tool, plan: CrashPlan) -> Tool:
    return Faulty(tool, plan, f"tool.{tool.name}")


async def _act_as_person(life: Life) -> State:
    """Look where the run stands and decide whatever is open. Of an interrupted payment the person says whether it took place."""
    state = await load_state(life.store, life.run_id)
    for ticket in state.open_tickets():
        await signals.approve(life.store, life.run_id, "ann", ticket.id)
    for question in state.open_questions():
        text = "Monday"
        if question.choices:
            key = f"{life.run_id}.{question.call}"
            text = DID_HAPPEN if life.world.paid[key] else RUN_AGAIN
            life.asked_unknown.append(question.call or "")
            life.told_again += [key] if text == RUN_AGAIN else []
        await signals.answer(life.store, life.run_id, "ann", text, question.id)
    return state.state


async def report_of(life: Life) -> dict[str, Any]:
    """The report without what may differ between two runs of the same: times and step numbers."""
    state = await load_state(life.store, life.run_id)
    report = await read_report(life.store, state)
    assert report is not None
    return without_moments(to_document(report))


def without_moments(value: Any) -> Any:
    """A report document with its times and step numbers left out."""
    if isinstance(value, dict):
        return {
            key: without_moments(item)
            for key, item in value.items()
            if key not in ("step", "steps", "fetched_at")
        }
    return [without_moments(item) for item in value] if isinstance(value, list) else value


def _pinned(tool: Tool) -> PinnedTool:
    return PinnedTool(
        tool.name,
        tool.description,
        dict(tool.input_schema),
        tool.effect,
        tool.version,
        cache_seconds=tool.cache_seconds,
    )
