"""Long-term memory behind its port: every verb, handed to the store's writer or to a reader of its own."""

from __future__ import annotations

import sqlite3
from collections.abc import Callable, Coroutine, Mapping, Sequence
from dataclasses import replace
from datetime import datetime
from functools import partial
from typing import Any, Final, Protocol, TypeVar

from outlast.adapters.stores.remembering.keywords import Holdings
from outlast.adapters.stores.remembering.sketches import Shelves
from outlast.adapters.stores.sqlite.memory import reading, writing
from outlast.adapters.stores.sqlite.memory.searching import Finder
from outlast.adapters.stores.sqlite.session import Session
from outlast.domain.memory import Memory, Vector, askable, storable
from outlast.ports.memory import Entry, MemoryFilter, MemoryHit, MemoryQuery, MemoryStats

T = TypeVar("T")

_EXPIRED_AT_ONCE: Final = 1000
_PUT_AT_ONCE: Final = 200


class Read(Protocol):
    """Does work on a connection that sees what is committed."""

    def __call__(self, work: Callable[[sqlite3.Connection], T], /) -> Coroutine[Any, Any, T]:
        """The result of the work."""
        ...


class Write(Protocol):
    """Does work in a transaction."""

    def __call__(self, work: Callable[[Session], T], /) -> Coroutine[Any, Any, T]:
        """The result of the work."""
        ...


class SqliteMemory:
    """See `MemoryStore`. Searches (`search`) have a connection of their own, so that a long one holds up no run."""

    def __init__(self, read: Read, search: Read, write: Write) -> None:
        self._read = read
        self._search = search
        self._write = write
        self._shelves = Shelves()
        self._finder = Finder(Holdings(), self._shelves)

    async def put(self, entries: Sequence[Entry]) -> list[str]:
        """See `MemoryStore.put`."""
        ready = [Entry(storable(entry.memory), entry.vector) for entry in entries]
        ids: list[str] = []
        for start in range(0, len(ready), _PUT_AT_ONCE):
            ids += await self._write(partial(_put, entries=ready[start : start + _PUT_AT_ONCE]))
        return ids

    async def supersede(self, user_id: str, old: Sequence[str], new: str, at: datetime) -> int:
        """See `MemoryStore.supersede`."""
        return await self._write(lambda session: writing.supersede(session, user_id, old, new, at))

    async def search(self, query: MemoryQuery) -> list[MemoryHit]:
        """See `MemoryStore.search`."""
        asked = replace(query, text=askable(query.text))
        return await self._search(lambda connection: self._finder.search(connection, asked))

    async def get(self, user_id: str, memory_ids: Sequence[str]) -> list[Memory]:
        """See `MemoryStore.get`."""
        return await self._read(lambda connection: reading.get(connection, user_id, memory_ids))

    async def list_memories(
        self, user_id: str, wanted: MemoryFilter, limit: int = 100, before: Memory | None = None
    ) -> list[Memory]:
        """See `MemoryStore.list_memories`."""
        return await self._read(
            lambda connection: reading.list_memories(connection, user_id, wanted, limit, before)
        )

    async def forget(self, user_id: str, which: MemoryFilter) -> int:
        """See `MemoryStore.forget`."""
        gone = await self._write(lambda session: writing.forget(session, user_id, which))
        self._shelves.drop_all()
        return gone

    async def archive(self, user_id: str | None, which: MemoryFilter, at: datetime) -> int:
        """See `MemoryStore.archive`."""
        return await self._write(lambda session: writing.archive(session, user_id, which, at))

    async def expire(self, now: datetime) -> int:
        """See `MemoryStore.expire`."""
        gone, some = 0, _EXPIRED_AT_ONCE
        while some == _EXPIRED_AT_ONCE:
            some = await self._write(lambda session: writing.expire(session, now, _EXPIRED_AT_ONCE))
            gone += some
        if gone:
            self._shelves.drop_all()
        return gone

    async def stats(self, user_id: str | None) -> MemoryStats:
        """See `MemoryStore.stats`."""
        return await self._read(lambda connection: reading.stats(connection, user_id))

    async def stale(self, space: str, limit: int) -> list[Memory]:
        """See `MemoryStore.stale`."""
        return await self._read(lambda connection: reading.stale(connection, space, limit))

    async def set_vectors(self, space: str, vectors: Mapping[str, Vector | None]) -> int:
        """See `MemoryStore.set_vectors`."""
        return await self._write(lambda session: writing.set_vectors(session, space, vectors))


def _put(session: Session, entries: Sequence[Entry]) -> list[str]:
    return writing.put(session, entries)
