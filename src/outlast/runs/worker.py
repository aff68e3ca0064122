"""A worker: claims runs, takes them up from their journals, and drives them."""

from __future__ import annotations

import asyncio
from typing import Any

from outlast.domain.errors import OutlastError
from outlast.domain.events import AnyEvent, Recorded, RunClaimed, RunForked, RunStarted, ToolsChanged
from outlast.domain.message import Message
from outlast.domain.run import RunState
from outlast.domain.task import TaskDefinition
from outlast.journal.fold import explained, unknown_run
from outlast.journal.history import read_history
from outlast.journal.snapshot import state_in
from outlast.journal.thread import read_thread_words
from outlast.journal.upcast import READER
from outlast.ports.store import Claim, Store
from outlast.ports.watch import Watch
from outlast.runs.desk import Desk, Lease, Outcome
from outlast.runs.elapsed import elapsed_seconds
from outlast.runs.giving_back import cancel_unbuilt, give_back
from outlast.runs.heartbeat import Heartbeat
from outlast.runs.loop import drive, patiently
from outlast.runs.means import BuildMeans, Means
from outlast.runs.readings import Readings, read_all
from outlast.runs.session import Session


class Worker:
    """Works on runs of one store. `holder` says in the lease who this is; `name` goes into the journal."""

    def __init__(
        self,
        store: Store,
        build: BuildMeans,
        *,
        holder: str,
        name: str,
        lease_seconds: float,
        concurrency: int = 4,
    ) -> None:
        self._store = store
        self._build = build
        self._holder = holder
        self._name = name
        self._lease_seconds = lease_seconds
        self._concurrency = concurrency
        self._sessions: dict[str, Session] = {}
        self._is_draining = False

    async def work_on(self, run_id: str, evict: int | None = None) -> str | None:
        """Claim one run and drive it until it is given back; returns why it was, None when it is held by somebody else.

        Raises CallerMistake or Broken when the run cannot be taken up here; the claim is given back first.
        """
        claimed_at = elapsed_seconds()
        claims = await self._store.claim(
            "runs", self._holder, self._lease_seconds, item=run_id, evict=evict, reader=READER
        )
        if not claims:
            return None
        async with Heartbeat(self._store, self._lease_seconds) as heartbeat:
            return await self._take_up(claims[0], claimed_at, heartbeat)

    async def serve(self, stop: asyncio.Event, *, until_idle: bool = False) -> None:
        """Claim and drive due runs, some at once, until `stop` is set (then hand back) or, with `until_idle`, nothing is due."""
        watch = self._store.watch(["queue:runs"])
        tasks: set[asyncio.Task[None]] = set()
        async with Heartbeat(self._store, self._lease_seconds) as heartbeat:
            try:
                while not stop.is_set():
                    claimed_at = elapsed_seconds()
                    for claim in await self._claim_some(self._concurrency - len(tasks)):
                        task = asyncio.create_task(self._try(claim, claimed_at, heartbeat))
                        tasks.add(task)
                        task.add_done_callback(tasks.discard)
                    if until_idle and not tasks:
                        return
                    await self._rest(stop, watch, tasks)
            finally:
                watch.stop()
                self.drain()
                await asyncio.gather(*tasks, return_exceptions=True)

    def drain(self) -> None:
        """Start nothing more; runs are handed back once their calls in flight have ended."""
        self._is_draining = True
        for session in self._sessions.values():
            session.is_draining = True
            session.wake.set()

    async def _claim_some(self, room: int) -> list[Claim]:
        if room <= 0:
            return []
        return await self._store.claim("runs", self._holder, self._lease_seconds, limit=room, reader=READER)

    async def _rest(self, stop: asyncio.Event, watch: Watch, tasks: set[asyncio.Task[None]]) -> None:
        """Until something is due, a slot is free, or the worker is to stop."""
        due_at = await self._store.next_due("runs")
        seconds = 5.0
        if due_at is not None:
            seconds = min(seconds, max(0.02, (due_at - await self._store.now()).total_seconds()))
        waits: list[asyncio.Future[Any]] = [asyncio.create_task(_stopped(stop))]
        if len(tasks) < self._concurrency:
            waits.append(asyncio.create_task(watch.wait(seconds)))
        await asyncio.wait([*waits, *tasks], return_when=asyncio.FIRST_COMPLETED)
        for pending in waits:
            pending.cancel()

    async def _try(self, claim: Claim, claimed_at: float, heartbeat: Heartbeat) -> None:
        """Drive a claimed run; what goes wrong is the run's, not the worker's."""
        try:
            await self._take_up(claim, claimed_at, heartbeat)
        except OutlastError:
            return

    async def _take_up(self, claim: Claim, claimed_at: float, heartbeat: Heartbeat) -> str:
        lease = Lease(claim, claimed_at, self._lease_seconds)
        woken = asyncio.Event()
        heartbeat.enter(lease, woken.set)
        means: Means | None = None
        try:
            history = await read_history(self._store, claim.item)
            means = await self._built(claim, history)
            session = await self._session(lease, means, history, woken)
            self._sessions[claim.item] = session
            session.is_draining = self._is_draining
            claimed: list[AnyEvent] = [
                RunClaimed(claim.generation, self._name),
                *session.readings.divergences,
                *changed_tools(session.state, means),
            ]
            session.take_in(Outcome(claimed))
            await patiently(session, session.advance)
            return await drive(session)
        except OutlastError as error:
            if not lease.is_lost:
                await give_back(self._store, claim, error)
            raise
        finally:
            self._sessions.pop(claim.item, None)
            heartbeat.leave(lease)
            if means is not None:
                await means.close()

    async def _built(self, claim: Claim, history: list[Recorded]) -> Means:
        """The means of a run; where they cannot be had the run is not failed, but a wish to cancel it is granted."""
        try:
            return await self._build(claim.item, definition_in(claim.item, history))
        except OutlastError:
            await cancel_unbuilt(self._store, claim, history, self._name)
            raise

    async def _session(
        self, lease: Lease, means: Means, history: list[Recorded], wake: asyncio.Event
    ) -> Session:
        run_id = lease.claim.item
        started = history[0].event
        assert isinstance(started, RunStarted)
        thread = await thread_messages(self._store, started.thread_id, started.thread_position)

        def count(message: Message) -> int:
            return means.provider("executor").count_tokens((message,), ())

        async def reload() -> Readings:
            return read_all(run_id, await read_history(self._store, run_id), count, thread)

        readings = read_all(run_id, history, count, thread)
        if readings.divergences:
            snapshot = state_in(await self._store.read_snapshot(run_id))
            readings.divergences = explained(readings.divergences, run_id, history, snapshot)
        state = readings.state
        desk = Desk(
            run_id, state.user_id, state.thread_id, self._store, means, lease, readings.ledger, readings.cache
        )
        return Session(desk, readings, reload, wake)


def changed_tools(state: RunState, means: Means) -> list[AnyEvent]:
    """The event that tools are no longer what the run is pinned to, where some are not.

    Tickets for calls of theirs then fall, since other versions were shown; arguments are checked anew before they run.
    """
    changed = tuple(tool for tool in means.pinned if state.tools.get(tool.name) != tool)
    return [ToolsChanged(changed)] if changed else []


def definition_in(run_id: str, history: list[Recorded]) -> TaskDefinition:
    """The definition a run is pinned to: that of its start, or of the newest fork. Raises NotFound (`unknown_run`)."""
    if not history or not isinstance(history[0].event, RunStarted):
        raise unknown_run(run_id)
    definition = history[0].event.definition
    for recorded in history:
        if isinstance(recorded.event, RunForked) and recorded.event.definition is not None:
            definition = recorded.event.definition
    return definition


async def thread_messages(store: Store, thread_id: str, position: int) -> tuple[Message, ...]:
    """What was said in a thread up to a position, as messages."""
    said = await read_thread_words(store, thread_id, position) if position else []
    return tuple(Message(words.speaker, words.text) for words in said)


async def _stopped(stop: asyncio.Event) -> bool:
    return await stop.wait()
