"""A lane: one queue of background tasks, served by as many acts at once as there are slots.

Nothing in it waits for the slowest: a slot that is free is filled at once, a lease is renewed while its act is slow, and what goes
wrong in one act stays there. What is due is heard of; looking for it without having heard is the net below.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Awaitable, Callable
from contextlib import suppress
from datetime import datetime, timedelta
from typing import Any, Final

from outlast.domain.errors import OutlastError
from outlast.ports.queue import Claim, Release, Shares
from outlast.ports.store import Store
from outlast.ports.task_rows import TaskRow
from outlast.ports.watch import Watch
from outlast.tasks.acts import Held
from outlast.tasks.codec import task_in
from outlast.tasks.desk import Kept
from outlast.tasks.guarding import told
from outlast.tasks.happenings import Queue
from outlast.tasks.rules import Moment

Act = Callable[[Held, Kept], Awaitable[None]]
"""What is done with a task under the lease on its entry. It gives the lease back with what came of it."""

SAFETY_POLL_SECONDS: Final = 5.0
"""What is due is looked for this often even when nobody tells of it."""

BLOCKED_SECONDS: Final = 0.5
"""How soon to look again for entries that are due and may not be taken now, or when the store cannot serve."""

STOP_SECONDS: Final = 2.0
"""How long acts may go on when the lane is told to stop, before they are cut off and their leases handed back."""

CLOCK_SECONDS: Final = 1.0
"""How long the time of the store is taken to go on as ours does."""

_log = logging.getLogger("outlast.tasks")


class Lane:
    """Claims what is due in `queue` for `holder`, at most `slots` at once here and within `shares` over all workers.

    `elapsed` is the time that passes, in seconds, `chance` a number from 0 to 1 for each decision. A row that cannot be read, or
    an act that fails, is left alone for the length of a lease.
    """

    def __init__(
        self,
        store: Store,
        queue: Queue,
        act: Act,
        *,
        holder: str,
        slots: int,
        shares: Shares,
        lease_seconds: float,
        elapsed: Callable[[], float],
        chance: Callable[[], float],
    ) -> None:
        self.queue = queue
        self._store = store
        self._act = act
        self._holder = holder
        self._slots = slots
        self._shares = shares
        self._lease_seconds = lease_seconds
        self._elapsed = elapsed
        self._chance = chance
        self._stop = asyncio.Event()
        self._disturbed = asyncio.Event()
        self._acts: dict[asyncio.Task[None], Claim] = {}
        self._is_claiming = False
        self._told_now: tuple[datetime, float] | None = None

    def stop(self) -> None:
        """Take nothing more, and end once every lease has been given back."""
        self._stop.set()
        self._disturbed.set()

    async def is_idle(self) -> bool:
        """Is nothing being done here, and nothing due? What is claimed meanwhile is not due any more, nor yet begun."""
        if self._is_at_work:
            return False
        due_at = await self._store.next_due(self.queue.value)
        is_due = due_at is not None and due_at <= await self._store.now()
        return not is_due and not self._is_at_work

    async def serve(self) -> None:
        """Work until told to stop."""
        watch = self._store.watch([f"queue:{self.queue.value}"])
        renewing = asyncio.create_task(self._renew_for_ever())
        try:
            while not self._stop.is_set():
                self._disturbed.clear()
                await self._rest(watch, await self._take_some())
        finally:
            watch.stop()
            await self._hand_back()
            renewing.cancel()
            await asyncio.wait([renewing])

    async def _take_some(self) -> float:
        """Take what is due and there is room for; how long there is nothing to look for, unless somebody tells of it."""
        try:
            while self._room:
                due_in_seconds = await self._due_in_seconds()
                if due_in_seconds > 0:
                    return min(due_in_seconds, SAFETY_POLL_SECONDS)
                if not await self._claim(self._room):
                    return BLOCKED_SECONDS
        except OutlastError as trouble:
            _log.warning("nothing can be taken from %s now: %s", self.queue.value, trouble.detail)
            return BLOCKED_SECONDS
        return SAFETY_POLL_SECONDS

    @property
    def _is_at_work(self) -> bool:
        return bool(self._acts) or self._is_claiming

    @property
    def _room(self) -> int:
        return 0 if self._stop.is_set() else self._slots - len(self._acts)

    async def _due_in_seconds(self) -> float:
        """A look is cheaper for the store than a claim of nothing."""
        due_at = await self._store.next_due(self.queue.value)
        if due_at is None:
            return SAFETY_POLL_SECONDS
        return (due_at - await self._store_now()).total_seconds()

    async def _store_now(self) -> datetime:
        """The store's time, by what has passed since it last told it; a server need not be asked at every look."""
        if self._told_now is None or self._elapsed() - self._told_now[1] > CLOCK_SECONDS:
            self._told_now = (await self._store.now(), self._elapsed())
        now, told_at = self._told_now
        return now + timedelta(seconds=self._elapsed() - told_at)

    async def _claim(self, limit: int) -> bool:
        self._is_claiming = True
        try:
            return await self._begun(limit)
        finally:
            self._is_claiming = False

    async def _begun(self, limit: int) -> bool:
        """Claim and begin; False when there was nothing."""
        claims = await self._store.claim(
            self.queue.value, self._holder, self._lease_seconds, limit=limit, shares=self._shares
        )
        if not claims:
            return False
        claimed_at = self._elapsed()
        self._told_now = (claims[0].store_now, claimed_at)
        reading = asyncio.create_task(self._read([claim.item for claim in claims]))
        for claim in claims:
            self._begin(claim, claimed_at, reading)
        return True

    async def _read(self, task_ids: list[str]) -> dict[str, TaskRow]:
        return {row.task_id: row for row in await self._store.read_tasks(task_ids)}

    def _begin(self, claim: Claim, claimed_at: float, reading: asyncio.Task[dict[str, TaskRow]]) -> None:
        def moment() -> Moment:
            passed = timedelta(seconds=self._elapsed() - claimed_at)
            return Moment(claim.store_now + passed, self._chance())

        task = asyncio.create_task(self._do(Held(claim, moment), reading))
        self._acts[task] = claim
        task.add_done_callback(self._is_done)

    def _is_done(self, task: asyncio.Task[None]) -> None:
        self._acts.pop(task, None)
        self._disturbed.set()

    async def _do(self, held: Held, reading: asyncio.Task[dict[str, TaskRow]]) -> None:
        """One act, when its row has been read with those claimed beside it; what goes wrong in it is its own."""
        claim = held.claim
        try:
            row = (await asyncio.shield(reading)).get(claim.item)
            if row is not None:
                await self._act(held, Kept(task_in(row), row.revision))
            else:
                await self._release(claim, None, "there is no such task")
        except OutlastError as trouble:
            _log.warning(
                "%s of %s put off: %s: %s", self.queue.value, claim.item, trouble.code, trouble.detail
            )
            await self._release(claim, self._later(held), f"{trouble.code}: {trouble.detail}")
        except Exception as error:  # noqa: BLE001 - a surprise in one act must not take the others with it
            _log.error("%s of %s put off: %s", self.queue.value, claim.item, told(error))
            await self._release(claim, self._later(held), type(error).__name__)

    def _later(self, held: Held) -> datetime:
        return held.moment().after(self._lease_seconds)

    async def _release(self, claim: Claim, due_at: datetime | None, note: str) -> None:
        """Give a lease back, if it is still held and the store can serve; else it runs out by itself."""
        with suppress(OutlastError):
            await self._store.commit(
                [Release(claim.queue, claim.item, claim.generation, due_at, note[:1000])]
            )

    async def _rest(self, watch: Watch, seconds: float) -> None:
        """Until something is due, an act has ended, or the lane is to stop."""
        waits: list[asyncio.Task[Any]] = [asyncio.create_task(self._disturbed.wait())]
        if self._room:
            waits.append(asyncio.create_task(watch.wait(seconds)))
        await asyncio.wait(waits, return_when=asyncio.FIRST_COMPLETED)
        for pending in waits:
            pending.cancel()

    async def _renew_for_ever(self) -> None:
        """Keep the leases of slow acts; cut off an act whose lease is lost."""
        while True:
            await asyncio.sleep(self._lease_seconds / 3)
            held = dict(self._acts)
            if not held:
                continue
            try:
                kept = await self._store.renew(list(held.values()), self._lease_seconds)
            except OutlastError as trouble:
                _log.warning("leases of %s cannot be renewed now: %s", self.queue.value, trouble.detail)
                continue
            for task, claim in held.items():
                if claim.item not in kept:
                    task.cancel()

    async def _hand_back(self) -> None:
        """Let acts end for a little while, cut off the others, and give their leases back, due at once."""
        if self._acts:
            await asyncio.wait(list(self._acts), timeout=STOP_SECONDS)
        cut_off = dict(self._acts)
        for task in cut_off:
            task.cancel()
        if cut_off:
            await asyncio.wait(list(cut_off), timeout=STOP_SECONDS)
            with suppress(OutlastError):
                now = await self._store.now()
                for claim in cut_off.values():
                    await self._store.commit(
                        [Release(claim.queue, claim.item, claim.generation, now, "worker stopped")]
                    )
