"""A shift: a worker takes runs as they become due, some at once, until it is told to stop or nothing is due."""

from __future__ import annotations

import asyncio
import logging
import random
from collections.abc import Awaitable, Callable, Sequence
from typing import Any, Final

from outlast.domain.errors import Broken, OutlastError
from outlast.ports.queue import Claim, ClaimDue, Shares
from outlast.ports.watch import Watch
from outlast.runs.crowd import SAFETY_POLL_SECONDS, hold_back_seconds
from outlast.runs.elapsed import elapsed_seconds
from outlast.runs.heartbeat import Heartbeat
from outlast.runs.loop import STORE_TROUBLES
from outlast.runs.seat import Seat
from outlast.runs.worker import Worker

BLOCKED_SECONDS: Final = 0.5
"""How soon to look again for entries that are due and may not be taken now: nobody tells when a share becomes free."""

CUT_SECONDS: Final = 5.0
"""How long runs whose calls were killed may take to be written down and given back."""

_log = logging.getLogger("outlast.worker")


async def _nobody_else() -> bool:
    return True


def _nobody_told() -> None:
    return


class Shift:
    """One worker at work: at most `concurrency` runs at once, leases shared out by `shares` over all workers of the store.

    Told to stop, it lets calls in flight end for `drain_seconds`, then kills them; every run is given back, due at once. It is not
    idle while others in the process are not, whose work may make runs due. While more is due than it has room for or may
    have, a run that is given back takes the next one in the same commit.
    """

    def __init__(
        self,
        worker: Worker,
        *,
        concurrency: int = 4,
        shares: Shares | None = None,
        drain_seconds: float = 30.0,
        are_others_idle: Callable[[], Awaitable[bool]] = _nobody_else,
    ) -> None:
        self._worker = worker
        self._are_others_idle = are_others_idle
        self._concurrency = concurrency
        self._shares = shares or Shares()
        self._drain_seconds = drain_seconds
        self._stop = asyncio.Event()
        self._disturbed = asyncio.Event()
        self._hurry = asyncio.Event()
        self._tasks: set[asyncio.Task[None]] = set()
        self._heartbeat: Heartbeat | None = None
        self._has_more = False
        self._crowd = 1
        self._claim_seconds = 0.0
        self._due_in_seconds: float | None = None
        self._tell_ready = _nobody_told

    @property
    def is_stopping(self) -> bool:
        """Was it told to stop?"""
        return self._stop.is_set()

    def stop(self) -> None:
        """Take nothing more, and end once every run has been given back."""
        self._stop.set()
        self._disturbed.set()

    def hurry(self) -> None:
        """Stop, and let no call in flight go on."""
        self._hurry.set()
        self.stop()

    def wish(self) -> ClaimDue | None:
        """See `Relay.wish`."""
        is_wanted = self._has_more and not self.is_stopping
        return self._worker.wish_for_one(self._shares) if is_wanted else None

    def take(self, claims: Sequence[Claim], claimed_at: float) -> None:
        """See `Relay.take`."""
        self._has_more = bool(claims)
        self._begin(claims, claimed_at)

    async def serve(self, *, until_idle: bool = False, on_ready: Callable[[], None] = _nobody_told) -> None:
        """Work until told to stop or, with `until_idle`, until nothing is due. A store that cannot serve is waited for.

        `on_ready` is called once everybody can see that a worker is here.
        """
        worker, self._tell_ready = self._worker, on_ready
        watch = worker.store.watch(["queue:runs"])
        async with Heartbeat(worker.store, worker.lease_seconds) as heartbeat:
            self._heartbeat = heartbeat
            seat = Seat(worker.store, worker.holder, worker.lease_seconds, heartbeat, self._disturbed.set)
            try:
                while not self._stop.is_set():
                    self._disturbed.clear()
                    has_taken = await self._take_some(seat)
                    if until_idle and has_taken is False and await self._is_idle(seat):
                        return
                    await self._rest(watch, has_taken)
            finally:
                watch.stop()
                await self._hand_back()
                await seat.leave()

    async def _is_idle(self, seat: Seat) -> bool:
        """Is nothing at work and nothing due, even after the seat was left?

        Who enqueues from then on sees that nobody is here; what was enqueued before is found by one more look.
        """
        if self._tasks or not await self._are_others_idle():
            return False
        await seat.leave()
        return await self._take_some(None) is False

    async def _take_some(self, seat: Seat | None) -> bool | None:
        """Take the runs there is room for, where any is due, from a seat. None: nobody knows, since the store cannot serve."""
        try:
            if seat is not None:
                await seat.take()
                self._tell_ready()
                self._tell_ready = _nobody_told
                self._crowd = await seat.crowd()
            if not self._room or not await self._is_due():
                return False
            return await self._claim()
        except Broken as trouble:
            if trouble.code not in STORE_TROUBLES:
                raise
            _log.warning("nothing can be taken now: %s", trouble.detail)
            return None

    async def _claim(self) -> bool:
        room = self._room
        if not room:
            return False
        claimed_at = elapsed_seconds()
        claims = await self._worker.claim_due(room, self._shares)
        self._claim_seconds = elapsed_seconds() - claimed_at
        self._has_more = len(claims) == room
        self._begin(claims, claimed_at)
        return bool(claims)

    def _begin(self, claims: Sequence[Claim], claimed_at: float) -> None:
        for claim in claims:
            task = asyncio.create_task(self._work(claim, claimed_at))
            self._tasks.add(task)
            task.add_done_callback(self._ended)

    def _ended(self, task: asyncio.Task[None]) -> None:
        """There is room for another; told here, for to wait on the tasks themselves would touch them all each time."""
        self._tasks.discard(task)
        self._disturbed.set()

    async def _is_due(self) -> bool:
        """Is anything due? A look is cheaper for the store than a claim of nothing."""
        store = self._worker.store
        due_at = await store.next_due("runs")
        self._due_in_seconds = None if due_at is None else (due_at - await store.now()).total_seconds()
        return self._due_in_seconds is not None and self._due_in_seconds <= 0

    @property
    def _room(self) -> int:
        return max(0, self._concurrency - len(self._tasks))

    async def _work(self, claim: Claim, claimed_at: float) -> None:
        """Drive a claimed run; what goes wrong is the run's, not the worker's."""
        assert self._heartbeat is not None
        _log.info("%s taken (claim %d)", claim.item, claim.generation)
        try:
            reason = await self._worker.take_up(claim, claimed_at, self._heartbeat, self)
        except OutlastError as trouble:
            _log.warning("%s given back: %s: %s", claim.item, trouble.code, trouble.detail)
        except Exception:  # noqa: BLE001 - a surprise in one run must not take the others with it
            _log.exception("%s dropped; it is taken again when its lease has run out", claim.item)
        else:
            _log.info("%s given back: %s", claim.item, reason)

    async def _rest(self, watch: Watch, has_taken: bool | None) -> None:
        """Until something is due, a slot is free, the seat was lost, or the worker is to stop."""
        waits: list[asyncio.Future[Any]] = [asyncio.create_task(_happened(self._disturbed))]
        if self._room:
            waits.append(asyncio.create_task(self._told(watch, await self._rest_seconds(has_taken))))
        await asyncio.wait(waits, return_when=asyncio.FIRST_COMPLETED)
        for pending in waits:
            pending.cancel()

    async def _told(self, watch: Watch, seconds: float) -> None:
        """Until somebody tells of something or the time is over, and a while longer in a crowd."""
        await watch.wait(seconds)
        chance = random.random()  # noqa: S311 - spreads workers, hides nothing
        await asyncio.sleep(hold_back_seconds(self._crowd, self._claim_seconds, chance))

    async def _rest_seconds(self, has_taken: bool | None) -> float:
        """How long there is nothing to look for, unless somebody tells of it."""
        if has_taken is None:
            return BLOCKED_SECONDS
        try:
            if has_taken:
                await self._is_due()
        except Broken as trouble:
            if trouble.code not in STORE_TROUBLES:
                raise
            return BLOCKED_SECONDS
        self._has_more |= self._due_in_seconds is not None and self._due_in_seconds <= 0
        return rest_seconds(self._due_in_seconds, has_taken=has_taken)

    async def _hand_back(self) -> None:
        """Let calls in flight end within the bound, then kill them, so that every run is given back."""
        self._worker.drain()
        if not self._tasks:
            return
        waits: list[asyncio.Future[Any]] = [
            asyncio.create_task(_happened(self._hurry)),
            asyncio.create_task(asyncio.wait(set(self._tasks))),
        ]
        await asyncio.wait(waits, timeout=self._drain_seconds, return_when=asyncio.FIRST_COMPLETED)
        for pending in waits:
            pending.cancel()
        self._worker.cut_short()
        if self._tasks:
            _, stuck = await asyncio.wait(self._tasks, timeout=CUT_SECONDS)
            for task in stuck:
                task.cancel()
            await asyncio.gather(*stuck, return_exceptions=True)


def rest_seconds(due_in_seconds: float | None, *, has_taken: bool) -> float:
    """How long to rest until something is due (None: nothing is). What is due and was not taken may not be taken now."""
    if due_in_seconds is None:
        return SAFETY_POLL_SECONDS
    soonest = 0.02 if has_taken or due_in_seconds > 0 else BLOCKED_SECONDS
    return min(SAFETY_POLL_SECONDS, max(due_in_seconds, soonest))


async def _happened(event: asyncio.Event) -> None:
    await event.wait()
