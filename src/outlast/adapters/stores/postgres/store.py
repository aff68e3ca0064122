"""The store behind the port: every verb, done where the caller's event loop has its connections."""

from __future__ import annotations

import asyncio
import random
import secrets
from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from contextlib import asynccontextmanager
from datetime import datetime
from typing import Final, TypeVar

from outlast.adapters.stores.postgres import journal, queues, rows, tasks
from outlast.adapters.stores.postgres.address import read_address
from outlast.adapters.stores.postgres.channels import Channels
from outlast.adapters.stores.postgres.encoding import encode
from outlast.adapters.stores.postgres.link import Dialer, Link
from outlast.adapters.stores.postgres.memory.store import PostgresMemory
from outlast.adapters.stores.postgres.patience import Patience
from outlast.adapters.stores.postgres.queries import migrations
from outlast.adapters.stores.postgres.schema import migrate
from outlast.adapters.stores.postgres.site import Annex, Site
from outlast.adapters.stores.postgres.troubles import closed
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

_DEAF: Final = (
    "Behind a transaction pooler nothing can be heard of other processes, so they are looked at every second. "
    "Give harness.persistence.url a way around it: direct=HOST:PORT."
)


class PostgresStore:
    """A store in one schema of a PostgreSQL server, shared by any number of processes.

    `url` is read by `read_address`, which raises CallerMistake (`store_url`). A server that is away is waited for
    `patience_seconds`, except at `open`; a connection on which an answer takes longer than `answer_seconds` counts as lost. Once
    open, `server` says what it is, `warning` what it cannot do as it is reached, and `schema` the version of the schema as it was
    found and as it is.
    """

    def __init__(self, url: str, *, patience_seconds: float = 10.0, answer_seconds: float = 30.0) -> None:
        address = read_address(url)
        self._dialer = Dialer(address, answer_seconds)
        self._channels = Channels(address.schema, secrets.token_hex(6))
        self._numbers = random.Random()  # noqa: S311 - they mark, they hide nothing
        self._patience_seconds = patience_seconds
        self._watches = Watches(lambda: None)
        self._annex = Annex(self._new_site)
        self._home: Site | None = None
        self._residences: dict[asyncio.AbstractEventLoop, Site] = {}
        self.memory = PostgresMemory(self._do)
        self.server: str | None = None
        self.schema = (0, 0)
        self.warning: str | None = None if address.can_listen else _DEAF

    async def open(self) -> None:
        """See `Store.open`. A server that is not there is not waited for."""
        home = self._new_site()
        self._numbers.seed()  # a process that was forked since draws others than its parent
        try:
            async with home.pool.link() as link:
                found = await migrate(link, self._dialer.address.schema, migrations())
                self.schema = (found, max(migrations()))
                where = f"{self._dialer.address.shown}, schema {self._dialer.address.schema}"
                self.server = f"PostgreSQL {link.version} at {where}"
        except BaseException as error:
            await home.close()
            await Patience(0, self._dialer.address.shown).wait_out(error)
            raise
        self._home = home

    async def close(self) -> None:
        """See `Store.close`."""
        home, self._home = self._home, None
        if home is None:
            return
        await self._annex.close()
        if home.loop is asyncio.get_running_loop():
            await home.close()
        elif home.loop.is_running():
            await asyncio.wrap_future(asyncio.run_coroutine_threadsafe(home.close(), home.loop))

    async def now(self) -> datetime:
        """See `Store.now`."""
        return await self._do(queues.now)

    async def commit(self, batch: Sequence[Item]) -> Committed | Refused:
        """See `Store.commit`."""
        items = tuple(batch)
        if not items:
            return Committed()
        encoded, site = encode(items, self._channels, self._numbers.getrandbits(63)), self._site_here()
        if site is not None:
            return await site.committer.commit(encoded)
        return await self._annex.do(lambda site: site.committer.commit(encoded))

    async def read_events(self, stream: str, after: int = 0, limit: int | None = None) -> list[EventRow]:
        """See `Store.read_events`."""
        return await self._do(lambda link: journal.read_events(link, stream, after, limit))

    async def read_head(self, stream: str) -> int:
        """See `Store.read_head`."""
        return await self._do(lambda link: journal.read_head(link, stream))

    async def read_snapshot(self, stream: str) -> SnapshotRow | None:
        """See `Store.read_snapshot`."""
        return await self._do(lambda link: journal.read_snapshot(link, stream))

    async def read_payloads(self, digests: Sequence[str]) -> dict[str, bytes]:
        """See `Store.read_payloads`."""
        return await self._do(lambda link: journal.read_payloads(link, digests))

    async def list_payloads(self, stream: str) -> dict[str, int]:
        """See `Inventory.list_payloads`."""
        return await self._do(lambda link: journal.list_payloads(link, stream))

    async def find_stray(self) -> Stray:
        """See `Inventory.find_stray`."""
        return await self._do(journal.find_stray)

    async def read_run(self, run_id: str) -> RunRow | None:
        """See `Store.read_run`."""
        return await self._do(lambda link: rows.read_run(link, run_id))

    async def find_run(self, user_id: str, key: str) -> RunRow | None:
        """See `Store.find_run`."""
        return await self._do(lambda link: rows.find_run(link, user_id, key))

    async def list_runs(self, wanted: RunFilter) -> list[RunRow]:
        """See `Store.list_runs`."""
        return await self._do(lambda link: rows.list_runs(link, wanted))

    async def list_run_ids(self, ended_before: datetime | None = None) -> list[str]:
        """See `Inventory.list_run_ids`."""
        return await self._do(lambda link: rows.list_run_ids(link, ended_before))

    async def read_thread(self, thread_id: str) -> ThreadRow | None:
        """See `Store.read_thread`."""
        return await self._do(lambda link: rows.read_thread(link, thread_id))

    async def list_threads(self, user_id: str, limit: int = 100) -> list[ThreadRow]:
        """See `Store.list_threads`."""
        return await self._do(lambda link: rows.list_threads(link, user_id, limit))

    async def read_tasks(self, task_ids: Sequence[str]) -> list[TaskRow]:
        """See `TaskReads.read_tasks`."""
        return await self._do(lambda link: tasks.read_tasks(link, task_ids))

    async def read_task_result(self, task_id: str) -> str | None:
        """See `TaskReads.read_task_result`."""
        return await self._do(lambda link: tasks.read_task_result(link, task_id))

    async def list_tasks(self, wanted: TaskFilter) -> list[TaskRow]:
        """See `TaskReads.list_tasks`."""
        return await self._do(lambda link: tasks.list_tasks(link, wanted))

    async def count_tasks(self, wanted: TaskFilter) -> int:
        """See `TaskReads.count_tasks`."""
        return await self._do(lambda link: tasks.count_tasks(link, wanted))

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
        return await self._do(lambda link: queues.claim(link, wish))

    async def renew(self, claims: Sequence[Claim], lease_seconds: float) -> set[str]:
        """See `Store.renew`."""
        return await self._do(lambda link: queues.renew(link, claims, lease_seconds))

    async def read_entry(self, queue: str, item: str) -> QueueEntry | None:
        """See `Store.read_entry`."""
        return await self._do(lambda link: queues.read_entry(link, queue, item))

    async def list_leases(self, queue: str, limit: int = 1000) -> list[QueueEntry]:
        """See `Store.list_leases`."""
        return await self._do(lambda link: queues.list_leases(link, queue, limit))

    async def list_entries(self, queue: str) -> list[str]:
        """See `Inventory.list_entries`."""
        return await self._do(lambda link: queues.list_entries(link, queue))

    async def next_due(self, queue: str) -> datetime | None:
        """See `Store.next_due`."""
        return await self._do(lambda link: queues.next_due(link, queue))

    def watch(self, topics: Sequence[str]) -> TopicWatch:
        """See `Store.watch`."""
        watch = self._watches.add(topics)
        if self._home is not None:
            self._home.listener.mind()
        return watch

    @asynccontextmanager
    async def residence(self) -> AsyncIterator[None]:
        """See `Residences.residence`. At home, and in a residence, there are connections of the loop's own already."""
        if self._site_here() is not None:
            yield
            return
        loop = asyncio.get_running_loop()
        site = self._residences[loop] = self._new_site()
        try:
            yield
        finally:
            del self._residences[loop]
            await site.close()

    def counts(self) -> StoreCounts:
        """What was done at home since the store was opened: statements of every kind, and commits, of which each is synced."""
        commits = 0 if self._home is None else self._home.committer.commits
        return StoreCounts(self._dialer.statements, commits, commits)

    async def expire_lease(self, queue: str, item: str) -> None:
        """For tests: let a live lease run out now, as if its time had passed."""
        await self._do(lambda link: queues.expire(link, queue, item))

    async def _do(self, work: Callable[[Link], Awaitable[T]]) -> T:
        return await self._at(lambda site: site.do(work))

    async def _at(self, work: Callable[[Site], Awaitable[T]]) -> T:
        site = self._site_here()
        return await work(site) if site is not None else await self._annex.do(work)

    def _site_here(self) -> Site | None:
        """The site of the running loop, if it has one. Raises what a closed store raises."""
        home, loop = self._home, asyncio.get_running_loop()
        if home is None:
            raise closed()
        return home if home.loop is loop else self._residences.get(loop)

    def _new_site(self) -> Site:
        return Site(self._dialer, self._channels, self._watches, self._patience_seconds)
