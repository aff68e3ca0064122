"""Long-term memory behind its port: every verb, done where the caller's event loop has its connections."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Coroutine, Mapping, Sequence
from dataclasses import replace
from datetime import datetime
from typing import Any, Final, Protocol, TypeVar

from outlast.adapters.stores.postgres.link import Link
from outlast.adapters.stores.postgres.memory import reading, writing
from outlast.adapters.stores.postgres.memory.searching import Finder
from outlast.adapters.stores.remembering.keywords import Holdings
from outlast.adapters.stores.remembering.sketches import Shelves
from outlast.domain.memory import Memory, Vector, askable, storable
from outlast.ports.memory import Entry, MemoryFilter, MemoryHit, MemoryQuery, MemoryStats

T = TypeVar("T")

_PUT_AT_ONCE: Final = 200


class Do(Protocol):
    """Does work on a link, again where a passing trouble hindered it."""

    def __call__(self, work: Callable[[Link], Awaitable[T]], /) -> Coroutine[Any, Any, T]:
        """The result of the work."""
        ...


class PostgresMemory:
    """See `MemoryStore`."""

    def __init__(self, do: Do) -> None:
        self._do = do
        self._shelves = Shelves()
        self._finder = Finder(Holdings(), self._shelves)

    async def put(self, entries: Sequence[Entry]) -> list[str]:
        """See `MemoryStore.put`."""
        ready = [Entry(storable(entry.memory), entry.vector) for entry in entries]
        ids: list[str] = []
        for start in range(0, len(ready), _PUT_AT_ONCE):
            ids += await self._put(ready[start : start + _PUT_AT_ONCE])
        return ids

    async def supersede(self, user_id: str, old: Sequence[str], new: str, at: datetime) -> int:
        """See `MemoryStore.supersede`."""
        return await self._do(lambda link: writing.supersede(link, user_id, old, new, at))

    async def search(self, query: MemoryQuery) -> list[MemoryHit]:
        """See `MemoryStore.search`."""
        asked = replace(query, text=askable(query.text))
        return await self._do(lambda link: self._finder.search(link, asked))

    async def get(self, user_id: str, memory_ids: Sequence[str]) -> list[Memory]:
        """See `MemoryStore.get`."""
        return await self._do(lambda link: reading.get(link, user_id, memory_ids))

    async def list_memories(
        self, user_id: str, wanted: MemoryFilter, limit: int = 100, before: Memory | None = None
    ) -> list[Memory]:
        """See `MemoryStore.list_memories`."""
        return await self._do(lambda link: reading.list_memories(link, user_id, wanted, limit, before))

    async def forget(self, user_id: str, which: MemoryFilter) -> int:
        """See `MemoryStore.forget`."""
        gone = await self._do(lambda link: writing.forget(link, user_id, which))
        self._shelves.drop_all()
        return gone

    async def archive(self, user_id: str | None, which: MemoryFilter, at: datetime) -> int:
        """See `MemoryStore.archive`."""
        return await self._do(lambda link: writing.archive(link, user_id, which, at))

    async def expire(self, now: datetime) -> int:
        """See `MemoryStore.expire`."""
        gone = await self._do(lambda link: writing.expire(link, now))
        if gone:
            self._shelves.drop_all()
        return gone

    async def stats(self, user_id: str | None) -> MemoryStats:
        """See `MemoryStore.stats`."""
        return await self._do(lambda link: reading.stats(link, user_id))

    async def stale(self, space: str, limit: int) -> list[Memory]:
        """See `MemoryStore.stale`."""
        return await self._do(lambda link: reading.stale(link, space, limit))

    async def set_vectors(self, space: str, vectors: Mapping[str, Vector | None]) -> int:
        """See `MemoryStore.set_vectors`."""
        return await self._do(lambda link: writing.set_vectors(link, space, vectors))

    async def _put(self, entries: Sequence[Entry]) -> list[str]:
        return await self._do(lambda link: writing.put(link, entries))
