"""A worker: takes claimed runs up from their journals and drives them until they are given back."""

from __future__ import annotations

import asyncio

from outlast.domain.errors import OutlastError
from outlast.domain.events import (
    AnyEvent,
    CancelRequested,
    Recorded,
    RunClaimed,
    RunForked,
    RunStarted,
    TasksShown,
    ToolsChanged,
)
from outlast.domain.run import RunState
from outlast.domain.states import State
from outlast.domain.task import TaskDefinition
from outlast.journal.fold import explained, unknown_run
from outlast.journal.history import read_history
from outlast.journal.snapshot import state_in
from outlast.journal.upcast import READER
from outlast.ports.queue import Claim, ClaimDue, Shares
from outlast.ports.store import Store
from outlast.runs.desk import Desk, Lease, Outcome
from outlast.runs.elapsed import elapsed_seconds
from outlast.runs.giving_back import cancel_unbuilt, give_back
from outlast.runs.heartbeat import Heartbeat
from outlast.runs.line import IN_LINE, stepped_back, turn_events, waits_its_turn
from outlast.runs.loop import drive
from outlast.runs.means import BuildMeans, Means
from outlast.runs.readings import Readings, read_all
from outlast.runs.relay import Relay
from outlast.runs.session import Session
from outlast.runs.shadowing.beside import Beside, used_in
from outlast.runs.summary import said_first
from outlast.runs.thread import known_thread


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
    ) -> None:
        self.store = store
        self.holder = holder
        self.lease_seconds = lease_seconds
        self._build = build
        self._name = name
        self._sessions: dict[str, Session] = {}
        self._is_draining = False

    async def work_on(self, run_id: str, evict: int | None = None) -> str | None:
        """Claim one run and drive it until it is given back; returns why it was, None when it is held by somebody else.

        Raises CallerMistake or Broken when the run cannot be taken up here; the claim is given back first.
        """
        claimed_at = elapsed_seconds()
        claims = await self.store.claim(
            "runs", self.holder, self.lease_seconds, item=run_id, evict=evict, reader=READER
        )
        if not claims:
            return None
        async with Heartbeat(self.store, self.lease_seconds) as heartbeat:
            return await self.take_up(claims[0], claimed_at, heartbeat)

    async def claim_due(self, limit: int, shares: Shares) -> list[Claim]:
        """Claim runs that are due."""
        return await self.store.claim(
            "runs", self.holder, self.lease_seconds, limit=limit, reader=READER, shares=shares
        )

    def wish_for_one(self, shares: Shares) -> ClaimDue:
        """What a commit must hold to claim a run that is due."""
        return ClaimDue("runs", self.holder, self.lease_seconds, 1, READER, shares)

    def drain(self) -> None:
        """Start nothing more; runs are handed back once their calls in flight have ended."""
        self._is_draining = True
        for session in self._sessions.values():
            session.is_draining = True
            session.wake.set()

    def cut_short(self) -> None:
        """Kill the calls in flight of all runs; each is handed back as it then stands."""
        for session in self._sessions.values():
            session.is_cut_short = True
            session.wake.set()

    async def take_up(
        self, claim: Claim, claimed_at: float, heartbeat: Heartbeat, relay: Relay | None = None
    ) -> str:
        """Drive a run that was claimed when `claimed_at` seconds had elapsed; returns why it was given back.

        Raises what `work_on` raises.
        """
        lease = Lease(claim, claimed_at, self.lease_seconds)
        woken = asyncio.Event()
        heartbeat.enter(lease, woken.set)
        means: Means | None = None
        session: Session | None = None
        history: list[Recorded] = []
        try:
            history = await read_history(self.store, claim.item)
            if await self._is_not_next(claim, history):
                return IN_LINE
            means = await self._built(claim, history)
            session = await self._session(lease, means, history, woken)
            session.relay = relay
            self._sessions[claim.item] = session
            session.is_draining = self._is_draining
            session.drafter.has_nothing_to_recall = await nothing_to_recall(session.state, means)
            turn = turn_events(session.state, session.thread_position)
            shown = await self._tasks_shown(session, means)
            claimed: list[AnyEvent] = [
                RunClaimed(claim.generation, self._name),
                *turn,
                *([TasksShown(shown)] if shown else []),
                *session.readings.divergences,
                *changed_tools(session.state, means),
            ]
            session.take_in(
                Outcome(claimed, said_first(session.state, claim.store_now, shown, is_turn=bool(turn)))
            )
            return await drive(session)
        except OutlastError as error:
            if error.code == "thread_busy" and not lease.is_lost and await self._is_not_next(claim, history):
                return IN_LINE
            if not lease.is_lost:
                await give_back(self.store, claim, error)
            raise
        finally:
            self._sessions.pop(claim.item, None)
            heartbeat.leave(lease)
            if session is not None and session.desk.witness is not None:
                session.desk.witness.leave(is_cancelled=session.state.state is State.CANCELLED)
            if means is not None:
                await means.close()

    async def _tasks_shown(self, session: Session, means: Means) -> str:
        """The background tasks of the thread, where the run begins and they do not stand as its thread last saw them."""
        if means.office is None or session.state.generation or session.state.tells_of:
            return ""
        seen = [words.text for words in session.readings.conversations.thread if words.speaker == "tasks"]
        return await means.office.shown(session.state, seen[-1] if seen else "")

    async def _is_not_next(self, claim: Claim, history: list[Recorded]) -> bool:
        """Was a run in line put back, since another of its thread comes first? One that is to be cancelled never is."""
        started = waits_its_turn(history)
        if started is None or any(isinstance(one.event, CancelRequested) for one in history):
            return False
        return await stepped_back(self.store, claim, started.thread_id)

    async def _built(self, claim: Claim, history: list[Recorded]) -> Means:
        """The means of a run; where they cannot be had the run is not failed, but a wish to cancel it is granted."""
        try:
            return await self._build(claim.item, definition_in(claim.item, history))
        except OutlastError:
            await cancel_unbuilt(self.store, claim, history, self._name)
            raise

    async def _session(
        self, lease: Lease, means: Means, history: list[Recorded], wake: asyncio.Event
    ) -> Session:
        run_id = lease.claim.item
        count = means.provider("executor").count_tokens
        thread, position = await known_thread(self.store, history, count)

        async def reload() -> Readings:
            return read_all(run_id, await read_history(self.store, run_id), count, thread)

        snapshot = state_in(await self.store.read_snapshot(run_id)) if len(history) > 1 else None
        readings = read_all(run_id, history, count, thread, snapshot)
        readings.divergences = explained(readings.divergences, run_id, history, snapshot)
        state = readings.state
        desk = Desk(
            run_id, state.user_id, state.thread_id, self.store, means, lease, readings.ledger, readings.cache
        )
        if means.shadow is not None:
            desk.witness = Beside(desk, means.shadow, used_in(history))
        return Session(desk, readings, reload, wake, position)


def changed_tools(state: RunState, means: Means) -> list[AnyEvent]:
    """The event that tools are no longer what the run is pinned to, where some are not.

    Tickets for calls of theirs then fall, since other versions were shown; arguments are checked anew before they run.
    """
    changed = tuple(tool for tool in means.pinned if state.tools.get(tool.name) != tool)
    return [ToolsChanged(changed)] if changed else []


async def nothing_to_recall(state: RunState, means: Means) -> bool:
    """Is it known that memory holds nothing for a run that begins?"""
    if state.generation or not state.definition.recall_top_k:
        return False
    return means.memory is None or await means.memory.is_without(state.user_id)


def definition_in(run_id: str, history: list[Recorded]) -> TaskDefinition:
    """The definition a run is pinned to: that of its start, or of the newest fork. Raises NotFound (`unknown_run`)."""
    if not history or not isinstance(history[0].event, RunStarted):
        raise unknown_run(run_id)
    definition = history[0].event.definition
    for recorded in history:
        if isinstance(recorded.event, RunForked) and recorded.event.definition is not None:
            definition = recorded.event.definition
    return definition
