"""Entries listed and counted."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Sequence

from outlast.adapters.stores.sqlite.memory.rows import chosen_by, memory_of, memory_query
from outlast.adapters.stores.times import to_micros
from outlast.domain.memory import Memory, MemoryKind
from outlast.ports.memory import MemoryFilter, MemoryStats

_USER = memory_query("memory_user")
_GET = memory_query("get_memory")
_LIST = memory_query("list_memory")
_STALE = memory_query("stale_memory")
_BY_KIND = memory_query("memory_by_kind")
_BY_SPACE = memory_query("memory_by_space")


def get(connection: sqlite3.Connection, user_id: str, memory_ids: Sequence[str]) -> list[Memory]:
    """The entries of a user that are there, in the order asked for."""
    wanted = {"user_no": _user_no(connection, user_id), "memory_ids": json.dumps(list(memory_ids))}
    found = {memory.memory_id: memory for memory in map(memory_of, connection.execute(_GET, wanted))}
    return [found[memory_id] for memory_id in memory_ids if memory_id in found]


def list_memories(
    connection: sqlite3.Connection, user_id: str, wanted: MemoryFilter, limit: int, before: Memory | None
) -> list[Memory]:
    """Entries of a user, newest first."""
    user_no = _user_no(connection, user_id)
    if user_no is None:
        return []
    after = {
        "before_at": None if before is None else to_micros(before.created_at),
        "before_id": None if before is None else before.memory_id,
    }
    rows = connection.execute(_LIST, {**chosen_by(user_no, wanted), **after, "limit": limit})
    return list(map(memory_of, rows))


def stale(connection: sqlite3.Connection, space: str, limit: int) -> list[Memory]:
    """Entries without a vector of a space."""
    return list(map(memory_of, connection.execute(_STALE, {"space": space, "limit": limit})))


def stats(connection: sqlite3.Connection, user_id: str | None) -> MemoryStats:
    """How much there is."""
    user_no = None if user_id is None else _user_no(connection, user_id)
    if user_id is not None and user_no is None:
        return MemoryStats()
    kinds = connection.execute(_BY_KIND, {"user_no": user_no}).fetchall()
    return MemoryStats(
        kinds={MemoryKind(kind): count for kind, count, _, _ in kinds},
        archived=sum(archived for _, _, archived, _ in kinds),
        outdated=sum(outdated for _, _, _, outdated in kinds),
        vectors=dict(connection.execute(_BY_SPACE, {"user_no": user_no}).fetchall()),
    )


def _user_no(connection: sqlite3.Connection, user_id: str) -> int | None:
    found = connection.execute(_USER, {"user_id": user_id}).fetchone()
    return None if found is None else int(found[0])
