"""The seam to long-term memory: entries with scope and validity, found by words and by meaning.

What a store of memory knows of a user is seen under that user's id only; every verb takes it. Times are handed in.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import field
from datetime import datetime
from typing import Protocol

from outlast.domain.dataclass import dataclass
from outlast.domain.memory import Memory, MemoryKind, Scope, Vector


@dataclass(frozen=True, slots=True)
class Entry:
    """What is put: an entry of memory, and its vector where there is one already."""

    memory: Memory
    vector: Vector | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class MemoryQuery:
    """What is asked, and in whose name.

    Any `text` is valid; nothing in it is an operator. Without a `vector`, or where there are none of its space, words alone decide.
    `kinds` empty: any. With `subtasks`, entries that the asker's own run made in other subtasks are left out; those of no subtask
    and of other runs never are. Only entries that hold at `at` are found; with `include_outdated` also those that held before, after
    all others. Archived and expired ones never are.
    """

    text: str
    asker: Scope
    at: datetime
    vector: Vector | None = None
    limit: int = 8
    kinds: frozenset[MemoryKind] = frozenset()
    subtasks: frozenset[str] | None = None
    include_outdated: bool = False


@dataclass(frozen=True, slots=True)
class MemoryHit:
    """An entry that was found. `score` orders the hits of one query, from 0 to 1; `keyword` (0 to 1, the best hit by words has 1) and
    `vector` (the cosine, None where there was nothing to compare) are what it was made of. `is_outdated`: it no longer holds."""

    memory: Memory
    score: float
    keyword: float
    vector: float | None
    is_outdated: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class MemoryFilter:
    """Which entries of a user; everything given must fit, and without anything it is all of them.

    `source` is exact. `thread_id` and `run_id` name where entries came from or whom they are for. `ended_before`: those that
    ceased to hold before then. `archived` None: both.
    """

    memory_ids: tuple[str, ...] | None = None
    kinds: frozenset[MemoryKind] = frozenset()
    source: str | None = None
    thread_id: str | None = None
    run_id: str | None = None
    ended_before: datetime | None = None
    archived: bool | None = None


@dataclass(frozen=True, slots=True)
class MemoryStats:
    """How much there is: entries by kind, of these archived and outdated ones, and how many have a vector, by its space."""

    kinds: Mapping[MemoryKind, int] = field(default_factory=dict)
    archived: int = 0
    outdated: int = 0
    vectors: Mapping[str, int] = field(default_factory=dict)

    @property
    def entries(self) -> int:
        """All of them."""
        return sum(self.kinds.values())


class MemoryStore(Protocol):
    """Where memory is kept. Its methods may be called from any event loop of the process, while the store it belongs to is open.

    Every method raises Broken as those of `Store` do. Nothing here is part of a run's commits: what is remembered of an event is
    remembered again after a crash, and is then the same entry.
    """

    async def put(self, entries: Sequence[Entry]) -> list[str]:
        """Keep entries of any users; returns the id each is kept under.

        An entry whose scope, kind, text and source are those of one that still holds is not kept twice: the one that is there
        stays, expires when the later of both would, and its id is returned. An entry that is there already is left as it is. Raises
        CallerMistake (`bad_memory`) as `outlast.domain.memory.storable` does, and then keeps none.
        """
        ...

    async def supersede(self, user_id: str, old: Sequence[str], new: str, at: datetime) -> int:
        """Let `old` entries hold until `at` and name `new` in their place; returns how many did. Those that hold no longer, and
        `new` itself, are left as they are."""
        ...

    async def search(self, query: MemoryQuery) -> list[MemoryHit]:
        """At most `query.limit` entries that the asker may see, best first."""
        ...

    async def get(self, user_id: str, memory_ids: Sequence[str]) -> list[Memory]:
        """Those that are there, in the order asked for."""
        ...

    async def list_memories(
        self, user_id: str, wanted: MemoryFilter, limit: int = 100, before: Memory | None = None
    ) -> list[Memory]:
        """Entries, newest first, from the one after `before`."""
        ...

    async def forget(self, user_id: str, which: MemoryFilter) -> int:
        """Delete entries with their words and vectors; returns how many there were. What they superseded stays outdated."""
        ...

    async def archive(self, user_id: str | None, which: MemoryFilter, at: datetime) -> int:
        """Keep entries out of recall from now on (None: of all users); returns how many were not archived before."""
        ...

    async def expire(self, now: datetime) -> int:
        """Forget what has expired, of all users; returns how many there were."""
        ...

    async def stats(self, user_id: str | None) -> MemoryStats:
        """How much a user has, or (None) all users together."""
        ...

    async def stale(self, space: str, limit: int) -> list[Memory]:
        """Entries of all users that may be recalled and have no vector of this space, newest first."""
        ...

    async def set_vectors(self, space: str, vectors: Mapping[str, Vector | None]) -> int:
        """Give entries their vectors of a space, by id (None: its embedder has none for the text); returns how many are still
        there. Vectors of other spaces are kept beside them."""
        ...
