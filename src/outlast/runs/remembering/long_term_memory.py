"""Long-term memory with what it takes to use it: where it is kept, what embeds its texts, and the rules of this installation."""

from __future__ import annotations

import logging
from collections.abc import Sequence
from dataclasses import field, replace
from datetime import datetime, timedelta
from typing import Final, Literal

from outlast.domain.dataclass import dataclass
from outlast.domain.errors import OutlastError
from outlast.domain.memory import Scope, Vector
from outlast.ports.embedder import Embedder
from outlast.ports.memory import MemoryHit, MemoryQuery, MemoryStore
from outlast.runs.contained import within

Audience = Literal["user", "thread"]

MOMENT_SECONDS: Final = 0.25
"""How long a run that is taken up waits to hear whether there is anything to ask memory for."""

_log = logging.getLogger("outlast.memory")


@dataclass(frozen=True, slots=True)
class Rules:
    """What is remembered is for all threads of the user or for the thread it comes from, is forgotten after `lifetime` (None: never),
    and is archived once it has been outdated for `outdated_for` (None: never)."""

    audience: Audience = "user"
    lifetime: timedelta | None = None
    outdated_for: timedelta | None = timedelta(days=30)

    def scope_of(self, user_id: str, thread_id: str) -> Scope:
        """Whom something from this thread of this user is for."""
        return Scope(user_id, thread_id if self.audience == "thread" else None)

    def expiry_of(self, at: datetime) -> datetime | None:
        """When what became known at this time is forgotten."""
        return at + self.lifetime if self.lifetime is not None else None


@dataclass(frozen=True, slots=True)
class LongTermMemory:
    """Memory as runs use it. Without an embedder, or while it cannot serve, words alone decide."""

    store: MemoryStore
    embedder: Embedder | None = None
    rules: Rules = Rules()
    _embedded: set[str] = field(default_factory=set, repr=False, compare=False)

    async def search(self, wanted: MemoryQuery) -> list[MemoryHit]:
        """The entries that fit a query best, by words, and by sense where an embedder can tell.

        An embedder is not asked for a user of whom nothing has a vector, since loading one takes time; nor is the store searched
        for one of whom nothing is remembered.
        """
        user_id = wanted.asker.user_id
        if self.embedder is None:
            return await self.store.search(wanted)
        if user_id not in self._embedded:
            there_is = await self.store.stats(user_id)
            if not there_is.entries:
                return []
            if not there_is.vectors:
                return await self.store.search(wanted)
            self._embedded.add(user_id)
        [vector] = await self._vectors([wanted.text], is_query=True)
        return await self.store.search(replace(wanted, vector=vector))

    async def is_without(self, user_id: str) -> bool:
        """Is nothing remembered of a user? False also where that cannot be told in a moment, or only by searching."""
        if self.embedder is None or user_id in self._embedded:
            return False
        try:
            return not (await within(self.store.stats(user_id), MOMENT_SECONDS)).entries
        except Exception:  # noqa: BLE001 - whatever fails in memory is told by who asks it for something
            return False

    async def vectors(self, texts: Sequence[str]) -> Sequence[Vector | None]:
        """The meaning of texts to be found, where an embedder can tell; the upkeep of memory makes up for what it cannot tell now."""
        return await self._vectors(texts, is_query=False)

    async def close(self) -> None:
        """Give up the embedder; where memory is kept belongs to the store. Safe to call twice."""
        if self.embedder is not None:
            await self.embedder.close()

    async def _vectors(self, texts: Sequence[str], *, is_query: bool) -> Sequence[Vector | None]:
        nothing = [None] * len(texts)
        if self.embedder is None:
            return nothing
        try:
            return await self.embedder.embed(texts, "query" if is_query else "passage")
        except OutlastError as trouble:
            _log.warning("nothing can be embedded now: %s: %s", trouble.code, trouble.detail)
            return nothing
