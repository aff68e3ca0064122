"""The store behind the port: every verb, handed to the writer or the reader."""

from __future__ import annotations

import asyncio
import sqlite3
from collections.abc import Callable, Sequence
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import TypeVar

from outlast.adapters.stores.lane import Job, Lane
from outlast.adapters.stores.sqlite import journal, queues, removal, rows, tasks
from outlast.adapters.stores.sqlite.batch import write_batch
from outlast.adapters.stores.sqlite.connection import Opener
from outlast.adapters.stores.sqlite.memory.store import SqliteMemory
from outlast.adapters.stores.sqlite.nearby import Nearby, is_light, stream_of
from outlast.adapters.stores.sqlite.quickness import QUICK_SECONDS, Quickness
from outlast.adapters.stores.sqlite.reader import Reader
from outlast.adapters.stores.sqlite.session import Unsynced
from outlast.adapters.stores.sqlite.writer import Writer
from outlast.adapters.stores.watches import TopicWatch, Watches
from outlast.ports.batch import Committed, Item, Refused
from outlast.ports.inventory import Stray
from outlast.ports.queue import Claim, QueueEntry, Shares
from outlast.ports.run_rows import RunFilter, RunRow
from outlast.ports.store import StoreCounts
from outlast.ports.stream import EventRow, SnapshotRow
from outlast.ports.task_rows import TaskFilter, TaskRow
from outlast.ports.thread_rows import ThreadRow

T = TypeVar("T")

_JOBS_A_TRANSACTION = 512


def _wall_clock() -> datetime:
    return datetime.now(UTC)


class SqliteStore:
    """A store in one SQLite file that processes of one machine share, or, with `path` None, in the memory of this process.

    `clock` gives the store's time as aware UTC. `connection_class` is for tests that inject faults. `busy_seconds` bounds the
    wait for another process's transaction. Light commits are made in the loop that asks while the disk lets it wait for less than
    `quick_seconds`, else by a thread. `memory` is the long-term memory in the same file.
    """

    def __init__(
        self,
        path: Path | None,
        *,
        clock: Callable[[], datetime] = _wall_clock,
        connection_class: type[sqlite3.Connection] = sqlite3.Connection,
        busy_seconds: float = 10.0,
        quick_seconds: float = QUICK_SECONDS,
    ) -> None:
        self._opener = Opener(path, connection_class, busy_seconds)
        self._clock = clock
        self._watches = Watches(self._nudge)
        self._writer: Writer | None = None
        self._writes = Lane("outlast-store-writer", self._make_writer, _JOBS_A_TRANSACTION)
        self._quickness = Quickness(quick_seconds)
        self._nearby = Nearby(self._writes, lambda: self._writer, self._quickness)
        self._reader: Reader | None = None
        self._reads = Lane("outlast-store-reader", self._make_reader, 1)
        self._recalls = Lane("outlast-store-memory", lambda: Reader(self._opener, opens_late=True), 1)
        self.memory = SqliteMemory(self._look, self._recall, self._writes.do)

    async def open(self) -> None:
        """See `Store.open`."""
        await self._writes.start()
        if self._opener.path is not None:
            try:
                await self._reads.start()
                await self._recalls.start()
            except BaseException:
                await self._reads.stop()
                await self._writes.stop()
                raise

    async def close(self) -> None:
        """See `Store.close`."""
        await self._recalls.stop()
        await self._reads.stop()
        self._nearby.hand_over()
        await self._writes.stop()

    async def now(self) -> datetime:
        """See `Store.now`."""
        return self._clock()

    async def commit(self, batch: Sequence[Item]) -> Committed | Refused:
        """See `Store.commit`."""
        items = tuple(batch)
        if not items:
            return Committed()
        if is_light(items):
            return await self._nearby.do(lambda session: write_batch(session, items), stream_of(items))
        return await self._writes.do(lambda session: write_batch(session, items))

    async def read_events(self, stream: str, after: int = 0, limit: int | None = None) -> list[EventRow]:
        """See `Store.read_events`."""
        return await self._read(lambda connection: journal.read_events(connection, stream, after, limit))

    async def read_head(self, stream: str) -> int:
        """See `Store.read_head`."""
        return await self._read(lambda connection: journal.read_head(connection, stream))

    async def read_snapshot(self, stream: str) -> SnapshotRow | None:
        """See `Store.read_snapshot`."""
        return await self._read(lambda connection: journal.read_snapshot(connection, stream))

    async def read_payloads(self, digests: Sequence[str]) -> dict[str, bytes]:
        """See `Store.read_payloads`."""
        return await self._read(lambda connection: journal.read_payloads(connection, digests))

    async def list_payloads(self, stream: str) -> dict[str, int]:
        """See `Inventory.list_payloads`."""
        return await self._read(lambda connection: removal.list_payloads(connection, stream))

    async def find_stray(self) -> Stray:
        """See `Inventory.find_stray`."""
        return await self._read(removal.find_stray)

    async def read_run(self, run_id: str) -> RunRow | None:
        """See `Store.read_run`."""
        return await self._read(lambda connection: rows.read_run(connection, run_id))

    async def find_run(self, user_id: str, key: str) -> RunRow | None:
        """See `Store.find_run`."""
        return await self._read(lambda connection: rows.find_run(connection, user_id, key))

    async def list_runs(self, wanted: RunFilter) -> list[RunRow]:
        """See `Store.list_runs`."""
        return await self._read(lambda connection: rows.list_runs(connection, wanted))

    async def list_run_ids(self, ended_before: datetime | None = None) -> list[str]:
        """See `Inventory.list_run_ids`."""
        return await self._read(lambda connection: rows.list_run_ids(connection, ended_before))

    async def read_thread(self, thread_id: str) -> ThreadRow | None:
        """See `Store.read_thread`."""
        return await self._read(lambda connection: rows.read_thread(connection, thread_id))

    async def list_threads(self, user_id: str, limit: int = 100) -> list[ThreadRow]:
        """See `Store.list_threads`."""
        return await self._read(lambda connection: rows.list_threads(connection, user_id, limit))

    async def read_tasks(self, task_ids: Sequence[str]) -> list[TaskRow]:
        """See `TaskReads.read_tasks`."""
        return await self._read(lambda connection: tasks.read_tasks(connection, task_ids))

    async def read_task_result(self, task_id: str) -> str | None:
        """See `TaskReads.read_task_result`."""
        return await self._read(lambda connection: tasks.read_task_result(connection, task_id))

    async def list_tasks(self, wanted: TaskFilter) -> list[TaskRow]:
        """See `TaskReads.list_tasks`."""
        return await self._read(lambda connection: tasks.list_tasks(connection, wanted))

    async def count_tasks(self, wanted: TaskFilter) -> int:
        """See `TaskReads.count_tasks`."""
        return await self._read(lambda connection: tasks.count_tasks(connection, wanted))

    async def claim(
        self,
        queue: str,
        holder: str,
        lease_seconds: float,
        *,
        limit: int = 1,
        item: str | None = None,
        evict: int | None = None,
        reader: int = 1,
        shares: Shares | None = None,
    ) -> list[Claim]:
        """See `Store.claim`."""
        wish = queues.Wish(queue, holder, lease_seconds, limit, item, evict, reader, shares)
        return await self._writes.do(Unsynced(lambda session: queues.claim(session, wish)))

    async def renew(self, claims: Sequence[Claim], lease_seconds: float) -> set[str]:
        """See `Store.renew`."""
        lease = timedelta(seconds=lease_seconds)
        return await self._writes.do(
            Unsynced(lambda session: queues.renew(session, claims, self._clock() + lease))
        )

    async def read_entry(self, queue: str, item: str) -> QueueEntry | None:
        """See `Store.read_entry`."""
        return await self._read(lambda connection: queues.read_entry(connection, queue, item))

    async def list_leases(self, queue: str, limit: int = 1000) -> list[QueueEntry]:
        """See `Store.list_leases`."""
        return await self._read(
            lambda connection: queues.list_leases(connection, queue, self._clock(), limit)
        )

    async def list_entries(self, queue: str) -> list[str]:
        """See `Inventory.list_entries`."""
        return await self._read(lambda connection: queues.list_entries(connection, queue))

    async def next_due(self, queue: str) -> datetime | None:
        """See `Store.next_due`."""
        return await self._read(lambda connection: queues.next_due(connection, queue))

    def watch(self, topics: Sequence[str]) -> TopicWatch:
        """See `Store.watch`."""
        return self._watches.add(topics)

    def counts(self) -> StoreCounts:
        """What the writer has done since the store was opened; BEGIN and COMMIT are no statements of data."""
        return StoreCounts() if self._writer is None else self._writer.counts()

    async def expire_lease(self, queue: str, item: str) -> None:
        """For tests: let a live lease run out now, as if its time had passed."""
        await self._writes.do(lambda session: queues.expire(session, queue, item, self._clock()))

    async def _read(self, work: Callable[[sqlite3.Connection], T]) -> T:
        return await self._read_nearby(self._reads, work)

    async def _look(self, work: Callable[[sqlite3.Connection], T]) -> T:
        """Read from memory what has only to be found; else it is read where nothing but memory is."""
        return await self._read_nearby(self._recalls, work)

    async def _read_nearby(self, lane: Lane, work: Callable[[sqlite3.Connection], T]) -> T:
        """Read in the loop that asks, which goes on meanwhile between one read and the next, or in a lane where that takes long."""
        if self._opener.path is None:
            return await self._writes.do(lambda session: work(session.connection))
        if self._reader is not None and self._quickness.is_quick:
            await asyncio.sleep(0)
            job = Job(work)
            if self._reader.serve_at_once(job):
                found: T = job.answer()
                return found
        return await lane.do(work)

    async def _recall(self, work: Callable[[sqlite3.Connection], T]) -> T:
        if self._opener.path is None:
            return await self._writes.do(lambda session: work(session.connection))
        return await self._recalls.do(work)

    def _make_reader(self) -> Reader:
        self._reader = Reader(self._opener)
        return self._reader

    def _make_writer(self) -> Writer:
        self._writer = Writer(self._opener, self._watches, self._clock)
        return self._writer

    def _nudge(self) -> None:
        self._writes.nudge()
