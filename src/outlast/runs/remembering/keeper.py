"""The keeper of memory: takes entries of the queue `memory` as they become due, some at a time, beside a worker that takes
runs."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Sequence
from datetime import datetime, timedelta
from typing import Final

from outlast.domain.errors import OutlastError
from outlast.journal.upcast import READER
from outlast.ports.batch import Refused
from outlast.ports.queue import Claim, Release
from outlast.ports.store import Store
from outlast.ports.watch import Watch
from outlast.runs.contained import STOP_SECONDS, is_heard
from outlast.runs.desk import Lease
from outlast.runs.elapsed import elapsed_seconds
from outlast.runs.heartbeat import Heartbeat
from outlast.runs.remembering.indexing import Indexer
from outlast.runs.remembering.long_term_memory import LongTermMemory
from outlast.runs.remembering.queue import MEMORY, UPKEEP, Progress, upkeep_due
from outlast.runs.remembering.upkeep import keep_in_order

POLL_SECONDS: Final = 5.0
"""What is due is looked for this often even when nobody tells of it."""

SOON_SECONDS: Final = 0.5
"""What is due in so little time is waited for: the clock by which a run ended may be ahead of the store's."""

PATIENCE_SECONDS: Final = 5.0
"""How long what is being done may take to end once the keeper is told to stop."""

UPKEEP_SECONDS: Final = 3600.0
"""How often memory is put in order."""

RETRY_SECONDS: Final = 30.0
LONGEST_RETRY_SECONDS: Final = 3600.0
"""How soon what failed is tried again: twice as long after each failure, up to an hour."""

ENTRIES_AT_ONCE: Final = 16
"""How many entries are claimed and given back together; what they ask for is done one after the other."""

_log = logging.getLogger("outlast.memory")


class Keeper:
    """Remembers runs and keeps memory in order, until it is stopped. What goes wrong is logged and tried again later."""

    def __init__(
        self,
        store: Store,
        kept: LongTermMemory,
        *,
        holder: str,
        lease_seconds: float,
    ) -> None:
        self._store = store
        self._kept = kept
        self._holder = holder
        self._lease_seconds = lease_seconds
        self._indexer = Indexer(store, kept)
        self._stop = asyncio.Event()
        self._has_called = False

    def stop(self) -> None:
        """Take nothing more. What is being done may end, for a moment; then it is left to whoever takes it next."""
        self._stop.set()

    async def serve(self) -> None:
        """Work until told to stop, beginning with the upkeep. Memory that does not even stop then is left to itself."""
        serving = asyncio.create_task(self._serve())
        stopping = asyncio.create_task(self._stop.wait())
        await asyncio.wait({serving, stopping}, return_when=asyncio.FIRST_COMPLETED)
        await asyncio.wait({serving}, timeout=PATIENCE_SECONDS)
        for task in (serving, stopping):
            task.cancel()
            task.add_done_callback(is_heard)
        await asyncio.wait({serving, stopping}, timeout=STOP_SECONDS)

    async def clear(self) -> None:
        """Work until nothing is due, nor about to be. Raises what the store raises."""
        async with Heartbeat(self._store, self._lease_seconds) as heartbeat:
            while (seconds := await self._due_in_seconds()) is not None and seconds <= SOON_SECONDS:
                await asyncio.sleep(max(seconds, 0.0))
                await self._take(heartbeat)

    async def remember(self, run_id: str) -> None:
        """Remember one run now, if nobody else is at it. Raises what the store raises."""
        async with Heartbeat(self._store, self._lease_seconds) as heartbeat:
            await self._take(heartbeat, run_id)

    async def _serve(self) -> None:
        watch = self._store.watch([f"queue:{MEMORY}"])
        try:
            async with Heartbeat(self._store, self._lease_seconds) as heartbeat:
                while not self._stop.is_set():
                    try:
                        has_taken = await self._took_some(heartbeat)
                    except Exception as trouble:  # noqa: BLE001 - whatever memory comes to, the runs beside it go on
                        _log.warning("memory waits: %s: %s", type(trouble).__name__, trouble)
                        has_taken = False
                    if not has_taken:
                        await self._rest(watch)
        finally:
            watch.stop()

    async def _took_some(self, heartbeat: Heartbeat) -> bool:
        if not self._has_called:
            await self._store.commit([upkeep_due(await self._store.now())])
            self._has_called = True
        seconds = await self._due_in_seconds()
        return seconds is not None and seconds <= 0 and await self._take(heartbeat)

    async def _rest(self, watch: Watch) -> None:
        """Until something may be due, or it is time to stop."""
        waits = [asyncio.create_task(watch.wait(POLL_SECONDS)), asyncio.create_task(self._stop.wait())]
        try:
            await asyncio.wait(waits, return_when=asyncio.FIRST_COMPLETED)
        finally:
            for pending in waits:
                pending.cancel()

    async def _due_in_seconds(self) -> float | None:
        """When the next entry is due, if any is to come. A look is cheaper for the store than a claim of nothing."""
        due_at = await self._store.next_due(MEMORY)
        return None if due_at is None else (due_at - await self._store.now()).total_seconds()

    async def _take(self, heartbeat: Heartbeat, item: str | None = None) -> bool:
        """Claim some entries and do what they ask for; False when there were none."""
        asked = elapsed_seconds()
        most = ENTRIES_AT_ONCE if item is None else 1
        claims = await self._store.claim(
            MEMORY, self._holder, self._lease_seconds, limit=most, item=item, reader=READER
        )
        leases = [Lease(claim, asked, self._lease_seconds) for claim in claims]
        for lease in leases:
            heartbeat.enter(lease, _nothing)
        try:
            await self._work_off(claims)
        finally:
            for lease in leases:
                heartbeat.leave(lease)
        return bool(claims)

    async def _work_off(self, claims: Sequence[Claim]) -> None:
        """Do what entries ask for, then give them back together. Cancelled, those that are left go back as they were."""
        back: dict[str, Release] = {}
        try:
            for claim in claims:
                back[claim.item] = await self._done(claim)
        except asyncio.CancelledError:
            for claim in claims[len(back) :]:
                back[claim.item] = _released(claim, await self._progress_of(claim), claim.store_now)
            await self._give_back([*back.values()])
            raise
        await self._give_back([*back.values()])

    async def _give_back(self, back: Sequence[Release]) -> None:
        """All at once or, where a lease was lost meanwhile, each by itself."""
        if isinstance(await self._store.commit(back), Refused):
            for release in back:
                await self._store.commit([release])

    async def _progress_of(self, claim: Claim) -> Progress:
        entry = await self._store.read_entry(MEMORY, claim.item)
        return Progress.read(entry.note if entry is not None else "")

    async def _done(self, claim: Claim) -> Release:
        """Do what an entry asks for; returns how it is given back."""
        before, now = await self._progress_of(claim), claim.store_now
        try:
            return _released(claim, *await self._acted(claim.item, before, now))
        except Exception as error:  # noqa: BLE001 - whatever one entry brings, the keeper goes on with the others
            code = error.code if isinstance(error, OutlastError) else type(error).__name__
            _log.warning("%s is not remembered yet: %s: %s", claim.item, code, error)
            return _released(claim, *after_failure(before, code, now))

    async def _acted(self, item: str, before: Progress, now: datetime) -> tuple[Progress, datetime | None]:
        if item != UPKEEP:
            return Progress(await self._indexer.remember(item, before.position)), None
        has_more = await keep_in_order(self._kept, now)
        return Progress(), now if has_more else now + timedelta(seconds=UPKEEP_SECONDS)


def after_failure(before: Progress, trouble: str, now: datetime) -> tuple[Progress, datetime]:
    """The progress of an entry that failed once more, and when it is tried again."""
    seconds = min(RETRY_SECONDS * 2.0**before.failures, LONGEST_RETRY_SECONDS)
    return Progress(before.position, before.failures + 1, trouble), now + timedelta(seconds=seconds)


def _released(claim: Claim, progress: Progress, due_at: datetime | None) -> Release:
    return Release(MEMORY, claim.item, claim.generation, due_at, progress.as_note())


def _nothing() -> None:
    """A lease that is lost needs no word: what is done twice is the same."""
