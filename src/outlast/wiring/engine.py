"""A working harness of one configuration: its store, its tasks pinned, its runs begun and worked on."""

from __future__ import annotations

import asyncio
import os
import secrets
from collections.abc import Callable, Iterable, Mapping
from contextlib import suppress
from pathlib import Path
from typing import Final

from outlast.domain.dataclass import dataclass
from outlast.domain.errors import CallerMistake, OutlastError
from outlast.domain.events import PinnedTool
from outlast.domain.ids import LOCAL_USER
from outlast.domain.run import RunState
from outlast.domain.task import TaskDefinition
from outlast.ports.provider import Provider
from outlast.ports.queue import QueueEntry, Shares
from outlast.ports.store import Store
from outlast.runs.contained import STOP_SECONDS, Escaped, contained, within
from outlast.runs.remembering.keeper import Keeper
from outlast.runs.shift import Shift
from outlast.runs.worker import Worker
from outlast.service.background.alerting import Alerting
from outlast.service.continuation import ended_state, heritage_of
from outlast.service.fork import Branching, fork_run
from outlast.service.show import pinned_definition
from outlast.service.start import Begun, Order, Strategy, start_run
from outlast.tasks.rules import RulesOf
from outlast.wiring.alerts import alarms_of
from outlast.wiring.background import rules_of, task_shift
from outlast.wiring.build import Builder
from outlast.wiring.frames import LocalLive
from outlast.wiring.identity import as_holder, as_name, is_surely_gone, own_identity
from outlast.wiring.models import Endpoints
from outlast.wiring.remembering import memory_of
from outlast.wiring.settings.load import load
from outlast.wiring.settings.overrides import Override
from outlast.wiring.settings.pin import pin
from outlast.wiring.settings.repin import repinned
from outlast.wiring.settings.task_files import find_task
from outlast.wiring.settings.tree import Settings
from outlast.wiring.stores import store_of, warning_of
from outlast.wiring.whole_shift import Tending, WholeShift

REMEMBER_SECONDS: Final = 10.0
"""How long a command that has shown its result stays to remember it."""


def _silent(notice: str) -> None:
    """For callers who want no notices."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Request:
    """A run somebody wants: a task by name or file, its input, and how it differs from the configuration.

    With `continues`, the id of a run that has ended, it starts from what that run found out; task and input are that run's unless
    they are given.
    """

    task: str = ""
    input: str = ""
    continues: str | None = None
    thread_id: str | None = None
    key: str | None = None
    user_id: str = LOCAL_USER
    overrides: tuple[Override, ...] = ()
    is_claimed_here: bool = False
    by_name_only: bool = False
    strategy: Strategy = "reject"


class Engine:
    """Opens the store of a configuration and works with it. Use `open` and `close`."""

    def __init__(
        self,
        settings: Settings,
        *,
        environ: Mapping[str, str] | None = None,
        tools: Iterable[object] = (),
        provider: Provider | None = None,
        store: Store | None = None,
        live: LocalLive | None = None,
        record: Path | None = None,
        endpoints: Endpoints | None = None,
    ) -> None:
        self.settings = settings
        self.environ = os.environ if environ is None else environ
        self.live = live if live is not None else LocalLive()
        self.store = store if store is not None else store_of(settings, self.environ)
        self.rules: RulesOf = rules_of(settings)
        self.memory = memory_of(settings, self.store, self.environ)
        self._given = (tuple(tools), provider)
        self._endpoints = endpoints or Endpoints.recorded(record, settings, self.environ)
        self.builder = Builder(
            settings,
            self.environ,
            self.live,
            tools=self._given[0],
            provider=provider,
            store=self.store,
            memory=self.memory,
            endpoints=self._endpoints,
        )
        self.drivers = self.builder.drivers

    @classmethod
    def from_config(
        cls,
        path: Path | str | None = None,
        *,
        overrides: Iterable[Override] = (),
        directory: Path | None = None,
        tools: Iterable[object] = (),
        provider: Provider | None = None,
        record: Path | None = None,
    ) -> Engine:
        """The engine of the configuration at `path`, or the one found; calls of models are recorded in the file `record`.

        Raises CallerMistake as `settings.load` and `Endpoints.recorded` do.
        """
        settings = load(path, overrides=overrides, directory=directory)
        return cls(settings, tools=tools, provider=provider, record=record)

    def twin(self) -> Engine:
        """An engine for another thread, over the same store and the same live frames.

        Open and close only this one; of the twin, its thread closes the builder.
        """
        tools, provider = self._given
        return Engine(
            self.settings,
            environ=self.environ,
            tools=tools,
            provider=provider,
            store=self.store,
            live=self.live,
            endpoints=self._endpoints,
        )

    async def open(self) -> None:
        """Open the store. Raises Broken when it cannot serve."""
        await self.store.open()

    async def close(self) -> None:
        """Close the store, and what runs share. Safe to call twice."""
        await self.builder.close()
        if self.memory is not None:
            await self.memory.close()
        await self.store.close()
        self._endpoints.close()

    @property
    def warning(self) -> str | None:
        """What the open store has to say against itself, for the operator."""
        return warning_of(self.store)

    @property
    def lease_seconds(self) -> float:
        """How long a claim holds without a sign of life."""
        return self.settings.harness.lease_seconds

    def definition(self, request: Request) -> TaskDefinition:
        """The definition a run of this request would be pinned to. Raises CallerMistake and NotFound as the settings do."""
        task = find_task(
            request.task,
            self.settings,
            environ=self.environ,
            overrides=request.overrides,
            by_name_only=request.by_name_only,
        )
        definition = pin(self.settings, task, self.environ)
        changes = [override for override in request.overrides if override.path[0] != "task"]
        return repinned(definition, self.settings, changes, self.environ) if changes else definition

    async def begin(self, request: Request, tell: Callable[[str], None] = _silent) -> Begun:
        """Start a run, once everything it needs is known to be here, or find the one its key names.

        `tell` is given a line for each document that cannot be read, and for a bound on money that may not hold.
        Raises what `service.start.start_run` and `service.continuation.ended_state` raise, and CallerMistake for whatever the task
        needs that is missing.
        """
        earlier = None
        if request.continues is not None:
            earlier = await ended_state(self.store, request.continues, request.user_id)
        definition = self._definition(request, earlier)
        tools: list[PinnedTool] = []
        heritage = None
        if await self._known(request) is None:
            definition, tools = await self.builder.settled(definition)
            await self.builder.check(definition)
            for doubt in self.builder.doubts(definition):
                tell(doubt)
            async with self.builder.reading(definition) as reading:
                for problem in reading.problems():
                    tell(problem)
                if earlier is not None:
                    heritage = await heritage_of(self.store, earlier, reading.fetch)
        return await start_run(
            self.store,
            Order(
                definition=definition,
                tools=tools,
                input=request.input or (earlier.input if earlier is not None else ""),
                random=secrets.token_bytes(40),
                user_id=request.user_id,
                thread_id=request.thread_id,
                key=request.key,
                origin=heritage.origin if heritage is not None else None,
                inherited=heritage.inherited if heritage is not None else None,
                head_start_seconds=self.lease_seconds if request.is_claimed_here else 0.0,
                strategy=request.strategy,
            ),
        )

    def _definition(self, request: Request, earlier: RunState | None) -> TaskDefinition:
        """The definition of the task that is asked for, else that of the run that is continued, with the overrides over it."""
        if request.task or earlier is None:
            return self.definition(request)
        return repinned(earlier.definition, self.settings, request.overrides, self.environ)

    async def fork(self, run_id: str, at: int, user_id: str, overrides: tuple[Override, ...] = ()) -> Begun:
        """Fork a run after one of its events, with settings that differ from what it is pinned to.

        Raises what `service.fork.fork_run` raises, and CallerMistake for overrides that do not fit.
        """
        definition = None
        if overrides:
            definition = await pinned_definition(self.store, run_id)
            definition = repinned(definition, self.settings, overrides, self.environ)
        wanted = Branching(
            run_id=run_id,
            at=at,
            random=secrets.token_bytes(40),
            user_id=user_id,
            definition=definition,
            changes={".".join(override.path): override.value for override in overrides},
        )
        return await fork_run(self.store, wanted)

    def worker(self) -> Worker:
        """A worker of this process on this store."""
        identity = own_identity()
        return Worker(
            self.store,
            self.builder,
            holder=as_holder(identity),
            name=as_name(identity),
            lease_seconds=self.lease_seconds,
        )

    def shift(self, concurrency: int | None = None) -> WholeShift:
        """A worker that takes whatever is due, of runs, of background tasks and of memory; `concurrency` runs at once, or as many
        as the settings say."""
        harness = self.settings.harness
        alarm = Alerting(self.store, alarms_of(self.settings.alerts, self.environ))
        tending = Tending(
            lambda: task_shift(self.store, self.settings.background_tasks, self.drivers, self.rules, alarm)
        )
        runs = Shift(
            self.worker(),
            concurrency=concurrency or harness.max_concurrent_runs,
            shares=Shares(harness.max_runs_per_user, harness.max_runs_per_task),
            drain_seconds=harness.drain_seconds,
            are_others_idle=tending.is_idle,
        )
        return WholeShift(runs, tending, self.keeper(), self.builder.settle)

    def keeper(self) -> Keeper | None:
        """Who remembers what runs found and keeps memory in order; None where nothing is remembered."""
        if self.memory is None:
            return None
        holder = as_holder(own_identity())
        return Keeper(self.store, self.memory, holder=holder, lease_seconds=self.lease_seconds)

    async def remember(self, run_id: str) -> None:
        """Remember what a run found, as far as that takes a moment; what is left, or cannot be done now, a worker does later.

        What was taken is given back, unless memory does not even stop; who no longer wants to wait for either need not.
        Shadowed steps that outlast the run have the same moment; what they have not come to then is lost.
        """
        await self.builder.settle(REMEMBER_SECONDS)
        keeper = self.keeper()
        if keeper is not None:
            work = contained(keeper.remember(run_id), REMEMBER_SECONDS)
            with suppress(OutlastError, TimeoutError, Escaped):
                await within(work, REMEMBER_SECONDS + 2 * STOP_SECONDS)

    async def evictable(self, run_id: str) -> int | None:
        """The generation of a live lease whose holder is gone beyond doubt, so that it may be taken over at once."""
        entry: QueueEntry | None = await self.store.read_entry("runs", run_id)
        if (
            entry is None
            or entry.until is None
            or entry.holder is None
            or entry.until <= await self.store.now()
        ):
            return None
        return entry.generation if is_surely_gone(entry.holder) else None

    async def work_on(self, run_id: str, worker: Worker | None = None) -> str:
        """Drive a run here until it is given back; waits for the lease of another holder. Returns why it was given back."""
        worker = worker or self.worker()
        while True:
            reason = await worker.work_on(run_id, await self.evictable(run_id))
            if reason is not None:
                return reason
            await self._until_free(run_id)

    async def _until_free(self, run_id: str) -> None:
        """Wait until the lease on a run has run out or was given back."""
        entry = await self.store.read_entry("runs", run_id)
        if entry is None:
            raise CallerMistake(
                "unknown_run", f"There is no run {run_id}.", "List the runs with `outlast runs`."
            )
        if entry.until is None:
            return
        left = (entry.until - await self.store.now()).total_seconds()
        await asyncio.sleep(min(max(left, 0.05), 1.0))

    async def _known(self, request: Request) -> str | None:
        if request.key is None:
            return None
        row = await self.store.find_run(request.user_id, request.key)
        return row.run_id if row is not None else None
