"""`harness.memory`: what is remembered of a user."""

from __future__ import annotations

from typing import Any

from outlast.ports.store import Store
from outlast.service import memory as verbs
from outlast.service.memory import Choice
from outlast.wiring.remembering import LongTermMemory


class Memory:
    """The memory of one user: looked into, and forgotten."""

    def __init__(self, kept: LongTermMemory, store: Store, user_id: str) -> None:
        self._kept, self._store, self._user_id = kept, store, user_id

    async def search(
        self, query: str, *, limit: int = 8, thread_id: str | None = None
    ) -> list[dict[str, Any]]:
        """What a run would be reminded of by a query, best first, outdated entries last. Raises CallerMistake (`empty_text`)."""
        at = await self._store.now()
        return await verbs.search_memory(
            self._kept, self._user_id, query, at, limit=limit, thread_id=thread_id
        )

    async def list(self, *, archived: bool = False, limit: int = 100, **choice: Any) -> list[dict[str, Any]]:
        """Entries, newest first; `choice` are fields of `Choice`: kind, source, thread_id, run_id. Raises CallerMistake."""
        at = await self._store.now()
        return await verbs.list_memory(
            self._kept.store, self._user_id, Choice(**choice), at, archived=archived, limit=limit
        )

    async def forget(self, *ids: str, **choice: Any) -> int:
        """Delete entries for good, by id or by `choice`; `is_everything=True` is all. Returns how many there were.

        Raises CallerMistake (`bad_choice`), NotFound (`unknown_memory`).
        """
        return await verbs.forget_memory(self._kept.store, self._user_id, Choice(ids=ids, **choice))

    async def archive(self, *ids: str, **choice: Any) -> int:
        """Keep entries out of recall from now on; returns how many. Raises as `forget` does."""
        at = await self._store.now()
        return await verbs.archive_memory(self._kept.store, self._user_id, Choice(ids=ids, **choice), at)

    async def stats(self) -> dict[str, Any]:
        """How much is remembered, by kind, and how much of it the present embedder has embedded."""
        return await verbs.memory_stats(self._kept, self._user_id)
