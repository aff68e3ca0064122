"""Entries listed and counted."""

from __future__ import annotations

from collections.abc import Sequence

from outlast.adapters.stores.postgres.link import Link
from outlast.adapters.stores.postgres.memory.rows import chosen_by, memory_of, memory_query
from outlast.adapters.stores.postgres.memory.writing import user_no_of
from outlast.domain.memory import Memory, MemoryKind
from outlast.ports.memory import MemoryFilter, MemoryStats

_GET = memory_query("get_memories")
_LIST = memory_query("list_memories")
_STALE = memory_query("stale_memories")
_BY_KIND = memory_query("count_by_kind")
_BY_SPACE = memory_query("count_by_space")


async def get(link: Link, user_id: str, memory_ids: Sequence[str]) -> list[Memory]:
    """The entries of a user that are there, in the order asked for."""
    rows = await link.rows(_GET, user_id, list(memory_ids))
    found = {memory.memory_id: memory for memory in map(memory_of, rows)}
    return [found[memory_id] for memory_id in memory_ids if memory_id in found]


async def list_memories(
    link: Link, user_id: str, wanted: MemoryFilter, limit: int, before: Memory | None
) -> list[Memory]:
    """Entries of a user, newest first."""
    user_no = await user_no_of(link, user_id)
    if user_no is None:
        return []
    after = (None, None) if before is None else (before.created_at, before.memory_id)
    return list(map(memory_of, await link.rows(_LIST, *chosen_by(user_no, wanted), *after, limit)))


async def stale(link: Link, space: str, limit: int) -> list[Memory]:
    """Entries without a vector of a space."""
    return list(map(memory_of, await link.rows(_STALE, space, limit)))


async def stats(link: Link, user_id: str | None) -> MemoryStats:
    """How much there is."""
    user_no = None if user_id is None else await user_no_of(link, user_id)
    if user_id is not None and user_no is None:
        return MemoryStats()
    kinds = await link.rows(_BY_KIND, user_no)
    return MemoryStats(
        kinds={MemoryKind(kind): count for kind, count, _, _ in kinds},
        archived=sum(archived for _, _, archived, _ in kinds),
        outdated=sum(outdated for _, _, _, outdated in kinds),
        vectors=dict(await link.rows(_BY_SPACE, user_no)),
    )
