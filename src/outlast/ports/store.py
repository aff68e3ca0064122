"""The seam to the store: one write verb, a few reads, one lease skeleton.

A store holds opaque text. Streams hold events at gapless positions from 1; a run has the stream named by its id, a thread the
stream named by its id. Rows describe runs and threads for lists. Queue entries say what must happen later: they have a due time
and are claimed under a lease with a generation, a new one for every claim. Meaning lives above this seam.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import datetime
from enum import StrEnum
from typing import Protocol

from outlast.ports.inventory import Inventory
from outlast.ports.watch import Watch


@dataclass(frozen=True, slots=True)
class EventRow:
    """An event as text. `at` is aware UTC with microseconds, `version` the version of its kind, `body` one JSON object."""

    position: int
    kind: str
    version: int
    at: datetime
    body: str


@dataclass(frozen=True, slots=True)
class Append:
    """Add events to a stream.

    Guard `POSITION`: the stream ends at `after` (None: wherever it ends). The store numbers the events from there, whatever
    positions they carry. Guard `GENERATION`, when given: the queue entry (`queue`, stream) still has that generation and its lease
    was not given back. Without events only the guards are checked.
    """

    stream: str
    after: int | None
    events: tuple[EventRow, ...]
    generation: int | None = None
    queue: str = "runs"


@dataclass(frozen=True, slots=True, kw_only=True)
class RunRow:
    """A run as lists see it. `summary` is a JSON object that the service layer understands.

    `key` is the caller's idempotency key, unique for a user. `is_active` is False once the run has ended; a thread has at most
    one active run. `min_reader` is the lowest reader version that understands every event of the run.
    """

    run_id: str
    thread_id: str
    user_id: str
    task: str
    state: str
    is_active: bool
    created_at: datetime
    updated_at: datetime
    summary: str
    key: str | None = None
    outcome: str | None = None
    min_reader: int = 1


@dataclass(frozen=True, slots=True)
class InsertRun:
    """Add a run. Guards: `EXISTS` (no run has this id), `KEY` (no run of this user has this key), `THREAD_BUSY` (it is not active,
    or its thread has no other active run), `MISSING` (its thread exists, or is made by an InsertThread earlier in the batch)."""

    row: RunRow


@dataclass(frozen=True, slots=True)
class UpdateRun:
    """Replace what changes of a run's row. Guards: `MISSING`; `GENERATION` when given, as for Append with queue `runs`;
    `THREAD_BUSY` when it makes the run active again and its thread has another active run."""

    run_id: str
    state: str
    is_active: bool
    outcome: str | None
    updated_at: datetime
    summary: str
    min_reader: int
    generation: int | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class ThreadRow:
    """A conversation and its owner."""

    thread_id: str
    user_id: str
    title: str
    created_at: datetime


@dataclass(frozen=True, slots=True)
class InsertThread:
    """Add a thread; a thread with this id that is there already is left as it is, unless it is another user's (guard `EXISTS`)."""

    row: ThreadRow


@dataclass(frozen=True, slots=True)
class PutSnapshot:
    """Keep the newest folded state of a stream; an older snapshot than the stored one is ignored. No guard."""

    stream: str
    position: int
    fold_version: int
    body: str


@dataclass(frozen=True, slots=True)
class PutPayload:
    """Keep content once, under its sha256 in hexadecimal, with a reference from `stream`. No guard; putting it again is harmless."""

    stream: str
    digest: str
    content: bytes


@dataclass(frozen=True, slots=True)
class CopyPayloads:
    """Let stream `target` refer to every payload `source` refers to. Guard `MISSING`: the source has events (it was not deleted)."""

    source: str
    target: str


@dataclass(frozen=True, slots=True)
class Enqueue:
    """Make the entry (`queue`, `item`) due at `due_at`: insert it with `generation`, or bring its due time forward. Never touches a
    lease, never puts a due time off; without a due time it only sees to it that there is an entry. No guard."""

    queue: str
    item: str
    due_at: datetime | None
    user_id: str
    label: str = ""
    generation: int = 0


@dataclass(frozen=True, slots=True)
class Release:
    """Give a lease back and set when the entry is due again (None: not until an Enqueue). Guard `GENERATION`. An Enqueue since the
    claim is not lost: the earlier of both due times holds."""

    queue: str
    item: str
    generation: int
    due_at: datetime | None
    note: str = ""


@dataclass(frozen=True, slots=True)
class DeleteRun:
    """Delete a run: its row, its entry in the queue `runs`, its stream with snapshot and payload references, and every payload
    to which no other stream refers. Guards: `MISSING`; `ACTIVE` (the run has ended); `POSITION` (its stream ends at `at`)."""

    run_id: str
    at: int


@dataclass(frozen=True, slots=True)
class DeleteThread:
    """Delete a thread: its row and its stream, as DeleteRun does. Guards: `MISSING`; `THREAD_BUSY` (it has no run, ended or not)."""

    thread_id: str


@dataclass(frozen=True, slots=True)
class SweepPayloads:
    """Delete what those `streams` refer to without events, then those of these payloads and of `digests` that no stream needs."""

    streams: tuple[str, ...] = ()
    digests: tuple[str, ...] = ()


Item = (
    Append
    | InsertRun
    | UpdateRun
    | InsertThread
    | PutSnapshot
    | PutPayload
    | CopyPayloads
    | Enqueue
    | Release
    | DeleteRun
    | DeleteThread
    | SweepPayloads
)


class Guard(StrEnum):
    """Why a batch was refused."""

    POSITION = "position"
    GENERATION = "generation"
    EXISTS = "exists"
    KEY = "key"
    MISSING = "missing"
    THREAD_BUSY = "thread_busy"
    ACTIVE = "active"


@dataclass(frozen=True, slots=True)
class Committed:
    """All items of the batch are durable."""


@dataclass(frozen=True, slots=True)
class Refused:
    """Nothing was written: the guard of the item at `index` failed."""

    guard: Guard
    index: int


@dataclass(frozen=True, slots=True)
class Claim:
    """A lease: the right to act on an entry until `until`, for as long as its generation is `generation`.

    `store_now` is the store's time of the claim. `attempts` counts claims in a row that were never released.
    """

    queue: str
    item: str
    generation: int
    until: datetime
    store_now: datetime
    attempts: int = 1


@dataclass(frozen=True, slots=True)
class Shares:
    """How live leases are shared out when due entries are claimed: no user has more than `per_user` of a queue, no label more than
    `per_label` (None: as many as there are), and whoever has fewest is served first."""

    per_user: int | None = None
    per_label: int | None = None


@dataclass(frozen=True, slots=True)
class QueueEntry:
    """An entry as it stands. `holder` is the text the last claimer gave; `until` is None when no lease is held."""

    queue: str
    item: str
    due_at: datetime | None
    generation: int
    holder: str | None
    until: datetime | None
    note: str = ""


@dataclass(frozen=True, slots=True)
class RunFilter:
    """Which runs to list, newest first. None means any."""

    user_id: str | None = None
    thread_id: str | None = None
    state: str | None = None
    task: str | None = None
    limit: int = 100


@dataclass(frozen=True, slots=True)
class SnapshotRow:
    """A stored snapshot."""

    position: int
    fold_version: int
    body: str


class Store(Inventory, Protocol):
    """Where everything durable is. All methods may be called from any event loop of the process.

    Every method raises Broken with code `store_unavailable`, `store_full`, `store_newer` or `store_damaged` when the store cannot
    serve; a `commit` that raises has written nothing, or raises Broken with code `commit_unknown` when that cannot be known.
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
        """When the next entry that no live lease holds is due."""
        ...

    def watch(self, topics: Sequence[str]) -> Watch:
        """Be told of commits that touch one of `topics`.

        A topic is the name of a stream (any append), `signals:STREAM` (appends without a generation), or `queue:NAME` (an
        enqueue, or a release with a due time). Commits of other processes may touch more topics than they would here.
        """
        ...


@dataclass(frozen=True, slots=True)
class StoreCounts:
    """What a store has done since it was opened, for tests and benchmarks."""

    statements: int = 0
    commits: int = 0
    durable_syncs: int = field(default=0)
