"""Keeping memory in order by itself: what has expired is forgotten, what is long outdated archived, what has no vector embedded."""

from __future__ import annotations

from datetime import datetime
from typing import Final

from outlast.domain.memory import Vector
from outlast.ports.embedder import Embedder
from outlast.ports.memory import MemoryFilter, MemoryStore
from outlast.runs.remembering.long_term_memory import LongTermMemory

BATCH: Final = 64
"""How many entries are embedded at a time."""

MOST_BATCHES: Final = 20
"""After how many of them the lease is given back, so that others get their turn."""


async def keep_in_order(kept: LongTermMemory, now: datetime) -> bool:
    """Forget, archive and embed what is due; is there more to embed? Raises what memory and the embedder raise."""
    await kept.store.expire(now)
    if kept.rules.outdated_for is not None:
        outdated = MemoryFilter(ended_before=now - kept.rules.outdated_for, archived=False)
        await kept.store.archive(None, outdated, now)
    return kept.embedder is not None and await _embedded_some(kept.store, kept.embedder)


async def _embedded_some(memory: MemoryStore, embedder: Embedder) -> bool:
    """Give entries their vectors, as after a switch of the embedder; is there more to do?

    A vector is kept in its own space: an endpoint may change its model, and with it its dimensions, at any time.
    """
    for _ in range(MOST_BATCHES):
        space = await embedder.space()
        part = await memory.stale(space, BATCH)
        if not part:
            return False
        made = await embedder.embed([one.text for one in part], "passage")
        by_space: dict[str, dict[str, Vector | None]] = {}
        for one, vector in zip(part, made, strict=True):
            by_space.setdefault(vector.space if vector else space, {})[one.memory_id] = vector
        for where, vectors in by_space.items():
            await memory.set_vectors(where, vectors)
    return True
