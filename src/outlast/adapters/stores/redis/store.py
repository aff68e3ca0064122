"""The store behind the port: every verb, handed to the writer or the reader."""

from __future__ import annotations

import asyncio
import itertools
import time
from collections.abc import Sequence
from datetime import datetime
from pathlib import Path
from typing import Any, Final

from outlast.adapters.stores.lane import Lane
from outlast.adapters.stores.redis import decoding
from outlast.adapters.stores.redis.address import Address
from outlast.adapters.stores.redis.encoding import (
    arguments,
    bounds,
    lease_micros,
    number,
    number_or_none,
    optional,
    task_lists,
    text,
)
from outlast.adapters.stores.redis.listener import Listener
from outlast.adapters.stores.redis.opening import SCHEMA, open_store
from outlast.adapters.stores.redis.reader import Reader
from outlast.adapters.stores.redis.requests import Commit, Request
from outlast.adapters.stores.redis.scripts import (
    CLAIM,
    COUNT_ROWS,
    EXPIRE,
    FIND_RUN,
    LIST_LEASES,
    LIST_ROWS,
    LIST_THREADS,
    RENEW,
    Command,
)
from outlast.adapters.stores.redis.survey import Survey
from outlast.adapters.stores.redis.troubles import Lost
from outlast.adapters.stores.redis.wire import Wire
from outlast.adapters.stores.redis.writer import Writer
from outlast.adapters.stores.sqlite import SqliteStore
from outlast.adapters.stores.times import from_micros, from_micros_or_none
from outlast.adapters.stores.watches import TopicWatch, Watches, topics_of
from outlast.ports.batch import Committed, Item, Refused
from outlast.ports.inventory import Stray
from outlast.ports.memory import MemoryStore
from outlast.ports.queue import Claim, ClaimDue, QueueEntry, Shares
from outlast.ports.run_rows import RunFilter, RunRow
from outlast.ports.store import StoreCounts
from outlast.ports.stream import EventRow, SnapshotRow
from outlast.ports.task_rows import TaskFilter, TaskRow
from outlast.ports.thread_rows import ThreadRow

_BATCHES_A_ROUND: Final = 128
_EVENTS_A_READ: Final = 2000
_PAYLOADS_A_COMMAND: Final = 100


class RedisStore:
    """A store on a Redis server that any number of processes share; several stores of a server differ by `name`.

    `url` is redis://, rediss:// or unix://. A server that may lose what it has answered is refused unless `allow_loss`.
    Long-term memory is searched in ways Redis has no index for: it is kept in the SQLite file `memory_file`, for those who share that
    file; without one `memory` is None.
    `patience_seconds` bounds how long a call waits for a server that is away, and `open` waits a fifth of it.
    Once it is open, `server` says what the server is, `warning` what is to be feared of it and `schema` the version of the keys as
    it was found and as it is. Raises CallerMistake (`store_url`) for an address that cannot be read.
    """

    def __init__(
        self,
        url: str,
        *,
        name: str = "main",
        allow_loss: bool = False,
        patience_seconds: float = 10.0,
        memory_file: Path | None = None,
    ) -> None:
        self.server: str | None = None
        self.schema = (0, 0)
        self.warning: str | None = None
        self._address = Address.of(url)
        self._root = b"{outlast:%b}:" % text(name)
        self._allow_loss = allow_loss
        self._patience_seconds = patience_seconds
        self._watches = Watches(self._listen)
        self._writer: Writer | None = None
        self._listener: Listener | None = None
        self._survey = Survey(self._read, self._root)
        self._beside = None if memory_file is None else SqliteStore(memory_file)
        self.memory: MemoryStore | None = None if self._beside is None else self._beside.memory
        self._writes = Lane("outlast-store-writer", self._make_writer, _BATCHES_A_ROUND)
        self._reads = Lane("outlast-store-reader", self._make_reader, _BATCHES_A_ROUND)

    async def open(self) -> None:
        """See `Store.open`. Also raises Broken (`store_may_lose`)."""
        await self._writes.start()
        try:
            await self._reads.start()
            if self._beside is not None:
                await self._beside.open()
        except BaseException:
            await self._reads.stop()
            await self._writes.stop()
            raise
        self._listener = Listener(self._address, self._root + b"wakeup", self._watches, self._is_own)
        if self._watches:
            self._listen()

    async def close(self) -> None:
        """See `Store.close`."""
        listener, self._listener = self._listener, None
        if listener is not None:
            await asyncio.to_thread(listener.stop)
        if self._beside is not None:
            await self._beside.close()
        await self._reads.stop()
        await self._writes.stop()

    async def now(self) -> datetime:
        """See `Store.now`."""
        [time_now] = await self._read([("TIME",)])
        return from_micros(decoding.micros(time_now))

    async def commit(self, batch: Sequence[Item]) -> Committed | Refused:
        """See `Store.commit`."""
        items = tuple(batch)
        if not items:
            return Committed()
        topics = frozenset(itertools.chain.from_iterable(map(topics_of, items)))
        queues = tuple(item.queue for item in items if isinstance(item, ClaimDue))
        return await self._writes.do(Commit(self._root, arguments(items), topics, queues))

    async def read_events(self, stream: str, after: int = 0, limit: int | None = None) -> list[EventRow]:
        """See `Store.read_events`."""
        key, found = self._key("events:", stream), list[EventRow]()
        while limit is None or len(found) < limit:
            count = min(_EVENTS_A_READ, _EVENTS_A_READ if limit is None else limit - len(found))
            start = after + len(found)
            [texts] = await self._read([("LRANGE", key, start, start + count - 1)])
            found += itertools.starmap(decoding.event, enumerate(texts, start + 1))
            if len(texts) < count:
                break
        return found

    async def read_head(self, stream: str) -> int:
        """See `Store.read_head`."""
        [head] = await self._read([("LLEN", self._key("events:", stream))])
        return int(head)

    async def read_snapshot(self, stream: str) -> SnapshotRow | None:
        """See `Store.read_snapshot`."""
        [found] = await self._read([("HMGET", self._key("snapshot:", stream), *decoding.SNAPSHOT_FIELDS)])
        return decoding.snapshot(found)

    async def read_payloads(self, digests: Sequence[str]) -> dict[str, bytes]:
        """See `Store.read_payloads`."""
        keys = [self._key("payload:", digest) for digest in digests]
        starts = range(0, len(keys), _PAYLOADS_A_COMMAND)
        if not keys:
            return {}
        replies = await self._read([("MGET", *keys[start : start + _PAYLOADS_A_COMMAND]) for start in starts])
        found = zip(digests, itertools.chain.from_iterable(replies), strict=True)
        return {digest: content for digest, content in found if content is not None}

    async def list_payloads(self, stream: str) -> dict[str, int]:
        """See `Inventory.list_payloads`."""
        return await self._survey.payloads(stream)

    async def find_stray(self) -> Stray:
        """See `Inventory.find_stray`."""
        return await self._survey.stray()

    async def read_run(self, run_id: str) -> RunRow | None:
        """See `Store.read_run`."""
        [found] = await self._read([("HGETALL", self._key("run:", run_id))])
        return decoding.run(run_id, found)

    async def find_run(self, user_id: str, key: str) -> RunRow | None:
        """See `Store.find_run`."""
        [found] = await self._read([FIND_RUN.call(self._root, text(user_id), text(key))])
        return decoding.named_run(found)

    async def list_runs(self, wanted: RunFilter) -> list[RunRow]:
        """See `Store.list_runs`."""
        asked = {
            "runs_of_user:": wanted.user_id,
            "runs_of_thread:": wanted.thread_id,
            "runs_in_state:": wanted.state,
            "runs_of_task:": wanted.task,
        }
        lists = [text(list_ + value) for list_, value in asked.items() if value is not None] or [b"runs"]
        command = LIST_ROWS.call(self._root, b"run:", number(wanted.limit), 0, *lists)
        [found] = await self._read([command])
        return [row for row in map(decoding.named_run, found) if row is not None]

    async def list_run_ids(self, ended_before: datetime | None = None) -> list[str]:
        """See `Inventory.list_run_ids`."""
        return await self._survey.run_ids(ended_before)

    async def read_thread(self, thread_id: str) -> ThreadRow | None:
        """See `Store.read_thread`."""
        [found] = await self._read([("HGETALL", self._key("thread:", thread_id))])
        return decoding.thread(thread_id, found)

    async def list_threads(self, user_id: str, limit: int = 100) -> list[ThreadRow]:
        """See `Store.list_threads`."""
        [found] = await self._read([LIST_THREADS.call(self._root, text(user_id), number(limit))])
        rows = [decoding.thread(thread_id.decode(), fields) for thread_id, fields in found]
        return [row for row in rows if row is not None]

    async def read_tasks(self, task_ids: Sequence[str]) -> list[TaskRow]:
        """See `TaskReads.read_tasks`."""
        commands: list[Command] = [("HGETALL", self._key("task:", task_id)) for task_id in task_ids]
        found = await self._read(commands) if commands else []
        rows = itertools.starmap(decoding.task, zip(task_ids, found, strict=True))
        return [row for row in rows if row is not None]

    async def read_task_result(self, task_id: str) -> str | None:
        """See `TaskReads.read_task_result`."""
        [found] = await self._read([("HMGET", self._root + b"task_results", text(task_id))])
        return None if found[0] is None else found[0].decode()

    async def list_tasks(self, wanted: TaskFilter) -> list[TaskRow]:
        """See `TaskReads.list_tasks`."""
        page = number(wanted.limit), number(wanted.offset)
        command = LIST_ROWS.call(self._root, b"task:", *page, *task_lists(wanted))
        [found] = await self._read([command])
        rows = [decoding.task(task_id.decode(), fields) for task_id, fields in found]
        return [row for row in rows if row is not None]

    async def count_tasks(self, wanted: TaskFilter) -> int:
        """See `TaskReads.count_tasks`."""
        [count] = await self._read([COUNT_ROWS.call(self._root, *task_lists(wanted))])
        return int(count)

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
        wish = (
            text(queue),
            text(holder),
            lease_micros(lease_seconds),
            number(limit),
            number(reader),
            optional(None if item is None else text(item)),
            number_or_none(evict),
            *((b"", b"", b"") if shares is None else (b"1", *bounds(shares))),
        )
        command = CLAIM.call(self._root, *wish)
        return decoding.claims(queue, await self._write(command))

    async def renew(self, claims: Sequence[Claim], lease_seconds: float) -> set[str]:
        """See `Store.renew`."""
        held = [(text(claim.queue), text(claim.item), number(claim.generation)) for claim in claims]
        command = RENEW.call(self._root, lease_micros(lease_seconds), *itertools.chain.from_iterable(held))
        kept: list[int] = await self._write(command)
        return {claim.item for claim, is_kept in zip(claims, kept, strict=True) if is_kept}

    async def read_entry(self, queue: str, item: str) -> QueueEntry | None:
        """See `Store.read_entry`."""
        name = text(queue)
        key = self._root + b"entry:%d:%b:%b" % (len(name), name, text(item))
        [found] = await self._read([("HMGET", key, *decoding.ENTRY_FIELDS)])
        return decoding.entry(queue, item, found)

    async def list_leases(self, queue: str, limit: int = 1000) -> list[QueueEntry]:
        """See `Store.list_leases`."""
        command = LIST_LEASES.call(self._root, text(queue), number(limit), *decoding.ENTRY_FIELDS)
        [found] = await self._read([command])
        held = (decoding.entry(queue, item.decode(), fields) for item, fields in found)
        return [entry for entry in held if entry is not None]

    async def list_entries(self, queue: str) -> list[str]:
        """See `Inventory.list_entries`."""
        return await self._survey.entries(queue)

    async def next_due(self, queue: str) -> datetime | None:
        """See `Store.next_due`."""
        sets = [self._key(of, queue) for of in ("due:", "leased:")]
        firsts: list[Command] = [("ZRANGE", key, 0, 0, "WITHSCORES") for key in sets]
        known = [decoding.first_score(found) for found in await self._read(firsts)]
        return from_micros_or_none(min((at for at in known if at is not None), default=None))

    def watch(self, topics: Sequence[str]) -> TopicWatch:
        """See `Store.watch`."""
        return self._watches.add(topics)

    def counts(self) -> StoreCounts:
        """What the writer has done since the store was opened."""
        return StoreCounts() if self._writer is None else self._writer.counts()

    async def expire_lease(self, queue: str, item: str) -> None:
        """For tests: let a live lease run out now, as if its time had passed."""
        await self._write(EXPIRE.call(self._root, text(queue), text(item)))

    async def _write(self, command: Command) -> Any:
        [reply] = await self._writes.do(Request([command]))
        return reply

    async def _read(self, commands: Sequence[Command]) -> list[Any]:
        """The replies, as they are after everything that this store has committed or given up."""
        if self._writer is not None and self._writer.is_unsettled:
            await self._write(("TIME",))
        return await self._reads.do(Request(commands))

    def _key(self, kind: str, name: str) -> bytes:
        return self._root + text(kind + name)

    def _make_writer(self) -> Writer:
        wire = Wire(self._address, self._patience_seconds)
        try:
            self._make_ready(wire, time.monotonic() + self._patience_seconds / 5)
        except BaseException:
            wire.close()
            raise
        self._writer = Writer(wire, self._root, self._watches, self._patience_seconds)
        return self._writer

    def _make_ready(self, wire: Wire, give_up_at: float) -> None:
        while True:
            wire.reach(give_up_at)
            try:
                found = open_store(wire, self._root, allow_loss=self._allow_loss)
            except Lost as lost:
                wire.lose(give_up_at, lost)
            else:
                self.server, self.warning = found.server, found.warning
                self.schema = (found.schema, SCHEMA)
                return

    def _make_reader(self) -> Reader:
        return Reader(Wire(self._address, self._patience_seconds), self._patience_seconds)

    def _is_own(self, writer: str) -> bool:
        return self._writer is not None and self._writer.id == writer

    def _listen(self) -> None:
        if self._listener is not None:
            self._listener.start()
