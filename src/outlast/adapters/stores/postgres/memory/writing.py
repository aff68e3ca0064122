"""Entries put, changed and deleted, each verb one transaction that holds its users' rows first."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from datetime import datetime
from itertools import groupby
from typing import Any

from outlast.adapters.stores.postgres.link import Link
from outlast.adapters.stores.postgres.memory.rows import chosen_by, memory_query, values_of
from outlast.adapters.stores.remembering.sketches import sketch_of
from outlast.domain.memory import Memory, Vector, content_digest
from outlast.ports.memory import Entry, MemoryFilter

_INSERT_USERS = memory_query("insert_users")
_LOCK_USERS = memory_query("lock_users")
_LOCK_USERS_BY_NO = memory_query("lock_users_by_no")
_USER = memory_query("read_user")
_COUNT = memory_query("count_user")
_NUMBER_SKETCHES = memory_query("number_sketches")
_BY_ID = memory_query("known_by_id")
_BY_DIGEST = memory_query("known_by_digest")
_INSERT = memory_query("insert_memory")
_EXPIRE_NO_SOONER = memory_query("expire_no_sooner")
_PUT_VECTOR = memory_query("put_vector")
_PUT_SKETCH = memory_query("put_sketch")
_SUPERSEDE = memory_query("supersede_if_it_holds")
_ARCHIVE = memory_query("archive")
_DELETE = memory_query("delete_chosen")
_EXPIRED_USERS = memory_query("expired_users")
_DELETE_EXPIRED = memory_query("delete_expired")
_OWNERS = memory_query("owners")


async def put(link: Link, entries: Sequence[Entry]) -> list[str]:
    """Keep entries; the ids they are kept under."""
    users = sorted({entry.memory.scope.user_id for entry in entries})
    kept: dict[int, str] = {}
    async with link.connection.transaction():
        await link.rows(_INSERT_USERS, users)
        for user_id, user_no, sketches in await link.rows(_LOCK_USERS, users):
            own = {at: entry for at, entry in enumerate(entries) if entry.memory.scope.user_id == user_id}
            ids = await _put_own(link, user_no, sketches, list(own.values()))
            kept.update(zip(own, ids, strict=True))
    return [kept[at] for at in range(len(entries))]


async def supersede(link: Link, user_id: str, old: Sequence[str], new: str, at: datetime) -> int:
    """Let entries hold no longer than until `at`."""
    user_no = await user_no_of(link, user_id)
    return 0 if user_no is None else len(await link.rows(_SUPERSEDE, user_no, list(old), new, at))


async def archive(link: Link, user_id: str | None, which: MemoryFilter, at: datetime) -> int:
    """Keep entries out of recall."""
    user_no = None if user_id is None else await user_no_of(link, user_id)
    if user_id is not None and user_no is None:
        return 0
    return len(await link.rows(_ARCHIVE, *chosen_by(user_no, which), at))


async def forget(link: Link, user_id: str, which: MemoryFilter) -> int:
    """Delete entries of a user; their vectors and sketches go with them."""
    async with link.connection.transaction():
        locked = await link.rows(_LOCK_USERS, [user_id])
        if not locked:
            return 0
        return await _count_gone(link, await link.rows(_DELETE, *chosen_by(locked[0]["user_no"], which)))


async def expire(link: Link, now: datetime) -> int:
    """Delete what has expired."""
    async with link.connection.transaction():
        users = [user_no for (user_no,) in await link.rows(_EXPIRED_USERS, now)]
        await link.rows(_LOCK_USERS_BY_NO, users)
        return await _count_gone(link, await link.rows(_DELETE_EXPIRED, now, users))


async def set_vectors(link: Link, space: str, vectors: Mapping[str, Vector | None]) -> int:
    """Give entries their vectors; how many are there."""
    async with link.connection.transaction():
        owners = await link.rows(_OWNERS, list(vectors))
        users = await link.rows(_LOCK_USERS_BY_NO, sorted({user_no for _, _, user_no in owners}))
        there = dict(await link.rows(_BY_ID, list(vectors)))
        for user_no, sketches in users:
            own = [
                (there[memory_id], space, vectors[memory_id])
                for memory_id, _, owner in owners
                if owner == user_no and memory_id in there
            ]
            await _put_vectors(link, user_no, sketches, own)
    return len(there)


async def user_no_of(link: Link, user_id: str) -> int | None:
    """The number of a user; None for one who never had an entry."""
    found: int | None = await link.value(_USER, user_id)
    return found


async def _put_own(link: Link, user_no: int, sketches: int, entries: Sequence[Entry]) -> list[str]:
    memories = [entry.memory for entry in entries]
    ids = await _ids_to_keep_under(link, user_no, memories)
    new = {
        memory.memory_id: memory
        for memory, kept in zip(memories, ids, strict=True)
        if kept == memory.memory_id
    }
    for memory_id in await _known_ids(link, list(new)):
        del new[memory_id]
    rows = [values_of(memory, user_no) for memory in new.values()]
    if rows:
        await link.many(_INSERT, [values for values, _ in rows])
        await link.rows(_COUNT, user_no, len(rows), sum(terms for _, terms in rows))
    await _expire_no_sooner(link, memories, ids)
    given = {kept: entry.vector for entry, kept in zip(entries, ids, strict=True) if entry.vector is not None}
    numbers = await _known_ids(link, list(given))
    await _put_vectors(
        link, user_no, sketches, [(numbers[kept], vector.space, vector) for kept, vector in given.items()]
    )
    return ids


async def _ids_to_keep_under(link: Link, user_no: int, memories: Sequence[Memory]) -> list[str]:
    """Its own id for an entry that is new or there already, else that of one that says the same and still holds."""
    known = set(await _known_ids(link, [memory.memory_id for memory in memories]))
    digests = [content_digest(memory) for memory in memories]
    holding = {digest: memory_id for digest, memory_id, _ in await link.rows(_BY_DIGEST, user_no, digests)}
    ids: list[str] = []
    for memory, digest in zip(memories, digests, strict=True):
        if memory.memory_id in known or memory.valid_to is not None or memory.archived_at is not None:
            ids.append(memory.memory_id)
        else:
            ids.append(holding.setdefault(digest, memory.memory_id))
        known.add(ids[-1])
    return ids


async def _expire_no_sooner(link: Link, memories: Sequence[Memory], ids: Sequence[str]) -> None:
    later = [
        (kept, memory.expires_at)
        for memory, kept in zip(memories, ids, strict=True)
        if kept != memory.memory_id
    ]
    if later:
        await link.many(_EXPIRE_NO_SOONER, later)


async def _known_ids(link: Link, ids: Sequence[str]) -> dict[str, int]:
    return dict(await link.rows(_BY_ID, list(ids)))


async def _put_vectors(
    link: Link, user_no: int, sketches: int, vectors: Sequence[tuple[int, str, Vector | None]]
) -> None:
    """Keep vectors of entries given by number and space, their sketches numbered on from `sketches`."""
    if not vectors:
        return
    contents = [(number, space, b"" if vector is None else vector.data) for number, space, vector in vectors]
    await link.many(_PUT_VECTOR, contents)
    drawn = [(number, space, sketch_of(vector)) for number, space, vector in vectors if vector is not None]
    if drawn:
        numbered = [
            (user_no, space, sketches + place, number, sketch)
            for place, (number, space, sketch) in enumerate(drawn, 1)
        ]
        await link.many(_PUT_SKETCH, numbered)
        await link.rows(_NUMBER_SKETCHES, user_no, len(drawn))


async def _count_gone(link: Link, gone: Iterable[Any]) -> int:
    """Take (number of the user, terms) of deleted entries off their users' counts."""
    rows = sorted(tuple(row) for row in gone)
    for user_no, own in groupby(rows, key=lambda row: row[0]):
        terms = [count for _, count in own]
        await link.rows(_COUNT, user_no, -len(terms), -sum(terms))
    return len(rows)
