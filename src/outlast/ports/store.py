"""The seam to the store: one write verb, a few reads, one lease skeleton.

A store holds opaque text. Streams hold events at gapless positions from 1; a run has the stream named by its id, a thread the
stream named by its id. Rows describe runs, threads and background tasks for lists. Queue entries say what must happen later:
they have a due time and are claimed under a lease with a generation, a new one for every claim. Meaning lives above this seam.
What is written and read stands beside this file: `stream`, `run_rows`, `thread_rows`, `task_rows`, `queue`, and `batch` with the
answers of the write verb.
"""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import AbstractAsyncContextManager, nullcontext
from dataclasses import field
from datetime import datetime
from typing import Protocol, runtime_checkable

from outlast.domain.dataclass import dataclass
from outlast.ports.batch import Committed, Item, Refused
from outlast.ports.inventory import Inventory
from outlast.ports.queue import Claim, QueueEntry, Shares
from outlast.ports.run_rows import RunFilter, RunRow
from outlast.ports.stream import EventRow, SnapshotRow
from outlast.ports.task_rows import TaskReads
from outlast.ports.thread_rows import ThreadRow
from outlast.ports.watch import Watch


class Store(Inventory, TaskReads, Protocol):
    """Where everything durable is. All methods may be called from any event loop of the process.

    Every method raises Broken with code `store_unavailable`, `store_refused` (it is there and does not let us use it), `store_full`,
    `store_newer` or `store_damaged` when the store cannot serve; a `commit` that raises has written nothing, or raises Broken with
    code `commit_unknown` when that cannot be known.
    """

    async def open(self) -> None:
        """Connect, and bring an older schema forward. Raises Broken (`store_newer`) for a schema newer than this program knows."""
        ...

    async def close(self) -> None:
        """Finish pending commits and disconnect. Safe to call twice."""
        ...

    async def now(self) -> datetime:
        """The store's time: the one clock that leases and events go by."""
        ...

    async def commit(self, batch: Sequence[Item]) -> Committed | Refused:
        """Write all items or nothing. Durable when it returns Committed.

        Raises CallerMistake (`not_storable`) for a value no store holds: text with a lone surrogate, a number beyond 64 bits. A
        batch that is refused or raises does not touch those committed beside it.
        """
        ...

    async def read_events(self, stream: str, after: int = 0, limit: int | None = None) -> list[EventRow]:
        """Events of a stream in order, from position `after` + 1; an unknown stream is empty."""
        ...

    async def read_head(self, stream: str) -> int:
        """The last position of a stream, 0 when it has none."""
        ...

    async def read_snapshot(self, stream: str) -> SnapshotRow | None:
        """The newest snapshot of a stream."""
        ...

    async def read_payloads(self, digests: Sequence[str]) -> dict[str, bytes]:
        """The contents that are there, by digest."""
        ...

    async def read_run(self, run_id: str) -> RunRow | None:
        """The row of a run."""
        ...

    async def find_run(self, user_id: str, key: str) -> RunRow | None:
        """The run of a user that was started with an idempotency key."""
        ...

    async def list_runs(self, wanted: RunFilter) -> list[RunRow]:
        """Rows of runs, newest first."""
        ...

    async def read_thread(self, thread_id: str) -> ThreadRow | None:
        """The row of a thread."""
        ...

    async def list_threads(self, user_id: str, limit: int = 100) -> list[ThreadRow]:
        """The threads of a user, newest first."""
        ...

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
        """Take leases on due entries, earliest due first, skipping entries under a live lease; each claim has a new generation.

        With `shares` every entry is chosen as if it were claimed alone: entries of users and labels that have all they may are
        skipped, users with fewer live leases come first, and then the earliest due.

        With `item` only that entry, due or not, whatever `shares` say; its lease counts all the same. With `evict` (and `item`) a
        live lease of that generation is taken over: the caller has proof that its holder is gone. Entries of runs whose
        `min_reader` is above `reader` are skipped.
        """
        ...

    async def renew(self, claims: Sequence[Claim], lease_seconds: float) -> set[str]:
        """Extend leases that still have their generation; returns the items that do."""
        ...

    async def read_entry(self, queue: str, item: str) -> QueueEntry | None:
        """An entry of a queue as it stands."""
        ...

    async def list_leases(self, queue: str, limit: int = 1000) -> list[QueueEntry]:
        """The entries of a queue under a live lease, the one that ends soonest first."""
        ...

    async def next_due(self, queue: str) -> datetime | None:
        """When an entry of the queue could next be claimed, as it stands: the first of all due times and of all ends of leases.

        In the past where one can be claimed now. A holder that lives renews its lease before that ends.
        """
        ...

    def watch(self, topics: Sequence[str]) -> Watch:
        """Be told of commits that touch one of `topics`.

        A topic is the name of a stream (any append), `signals:STREAM` (appends without a generation), or `queue:NAME` (an
        enqueue, or a release with a due time that is not quiet). Commits of other processes may touch more topics than they
        would here.
        """
        ...


@runtime_checkable
class Residences(Protocol):
    """What a store may offer beside its verbs, whose connections belong to event loops."""

    def residence(self) -> AbstractAsyncContextManager[None]:
        """In it, what the running loop asks for takes connections of its own instead of those that all other loops share.

        For a loop that works on runs for long. One that hangs holds up what it has asked for itself, and no other loop.
        """
        ...


def residence_in(store: Store) -> AbstractAsyncContextManager[None]:
    """A residence of the running loop in a store that offers some; in any other store nothing changes."""
    return store.residence() if isinstance(store, Residences) else nullcontext()


@dataclass(frozen=True, slots=True)
class StoreCounts:
    """What a store has done since it was opened, for tests and benchmarks."""

    statements: int = 0
    commits: int = 0
    durable_syncs: int = field(default=0)
