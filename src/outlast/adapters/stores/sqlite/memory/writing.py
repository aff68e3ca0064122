"""Entries put, changed and deleted, each verb inside one transaction of the writer."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from datetime import datetime
from typing import Any

from outlast.adapters.stores.remembering.sketches import sketch_of
from outlast.adapters.stores.remembering.terms import terms_of_user
from outlast.adapters.stores.sqlite.memory.rows import chosen_by, fields_of, memory_query
from outlast.adapters.stores.sqlite.session import Session
from outlast.adapters.stores.times import to_micros
from outlast.domain.memory import Memory, Vector
from outlast.ports.memory import Entry, MemoryFilter

_INSERT_USER = memory_query("insert_memory_user")
_USER = memory_query("memory_user")
_COUNT = memory_query("count_memory")
_OF_ID = memory_query("memory_of_id")
_OF_IDS = memory_query("memory_of_ids")
_OF_DIGEST = memory_query("memory_of_digest")
_INSERT = memory_query("insert_memory")
_INSERT_WORDS = memory_query("insert_memory_words")
_EXPIRE_NO_SOONER = memory_query("expire_memory_no_sooner")
_PUT_VECTOR = memory_query("put_memory_vector")
_PUT_SKETCH = memory_query("put_memory_sketch")
_SUPERSEDE = memory_query("supersede_memory_that_holds")
_ARCHIVE = memory_query("archive_memory")
_CHOSEN = memory_query("memory_numbers")
_EXPIRED = memory_query("expired_memory")
_DELETIONS = [memory_query(f"delete_memory{what}") for what in ("_words", "_vectors", "_sketches", "")]


def put(session: Session, entries: Sequence[Entry]) -> list[str]:
    """Keep entries; the ids they are kept under."""
    return [_put(session, entry) for entry in entries]


def supersede(session: Session, user_id: str, old: Sequence[str], new: str, at: datetime) -> int:
    """Let entries hold no longer than until `at`."""
    user_no = _user_no(session, user_id)
    changed = session.run(_SUPERSEDE, user_no=user_no, old=json.dumps(list(old)), new=new, at=to_micros(at))
    return changed.rowcount


def archive(session: Session, user_id: str | None, which: MemoryFilter, at: datetime) -> int:
    """Keep entries out of recall."""
    user_no = None if user_id is None else _user_no(session, user_id)
    if user_id is not None and user_no is None:
        return 0
    return session.run(_ARCHIVE, at=to_micros(at), **chosen_by(user_no, which)).rowcount


def forget(session: Session, user_id: str, which: MemoryFilter) -> int:
    """Delete entries of a user."""
    user_no = _user_no(session, user_id)
    if user_no is None:
        return 0
    return _delete(session, session.run(_CHOSEN, **chosen_by(user_no, which)).fetchall())


def expire(session: Session, now: datetime, limit: int) -> int:
    """Delete at most `limit` entries that have expired."""
    return _delete(session, session.run(_EXPIRED, now=to_micros(now), limit=limit).fetchall())


def set_vectors(session: Session, space: str, vectors: Mapping[str, Vector | None]) -> int:
    """Give entries their vectors; how many are there."""
    found = session.run(_OF_IDS, memory_ids=json.dumps(list(vectors))).fetchall()
    for memory_id, memory_no, user_no in found:
        _put_vector(session, user_no, memory_no, space, vectors[memory_id])
    return len(found)


def _put(session: Session, entry: Entry) -> str:
    memory = entry.memory
    user_no = _user_no(session, memory.scope.user_id)
    if user_no is None:
        session.run(_INSERT_USER, user_id=memory.scope.user_id)
        user_no = _user_no(session, memory.scope.user_id)
    assert user_no is not None
    fields = fields_of(memory)
    found = _known(session, user_no, memory, fields)
    memory_no, memory_id = found or (_insert(session, user_no, memory, fields), memory.memory_id)
    if entry.vector is not None:
        _put_vector(session, user_no, memory_no, entry.vector.space, entry.vector)
    return memory_id


def _known(
    session: Session, user_no: int, memory: Memory, fields: Mapping[str, object]
) -> tuple[int, str] | None:
    """The entry itself when it is there already, else one that says the same and still holds, kept for as long as this one."""
    found: tuple[int, str] | None
    found = session.run(_OF_ID, memory_id=memory.memory_id, user_no=user_no).fetchone()
    if found is not None or memory.valid_to is not None or memory.archived_at is not None:
        return found
    found = session.run(_OF_DIGEST, user_no=user_no, digest=fields["digest"]).fetchone()
    if found is not None:
        session.run(_EXPIRE_NO_SOONER, memory_no=found[0], expires_at=fields["expires_at"])
    return found


def _insert(session: Session, user_no: int, memory: Memory, fields: dict[str, object]) -> int:
    terms = terms_of_user(user_no, memory)
    inserted = session.run(_INSERT, **fields, user_no=user_no, terms=len(terms))
    memory_no = inserted.lastrowid
    assert memory_no is not None
    session.run(_INSERT_WORDS, memory_no=memory_no, terms=" ".join(terms))
    session.run(_COUNT, user_no=user_no, entries=1, terms=len(terms))
    return memory_no


def _put_vector(session: Session, user_no: int, memory_no: int, space: str, vector: Vector | None) -> None:
    content = b"" if vector is None else vector.data
    session.run(_PUT_VECTOR, memory_no=memory_no, space=space, vector=content)
    if vector is not None:
        session.run(_PUT_SKETCH, user_no=user_no, space=space, memory_no=memory_no, sketch=sketch_of(vector))


def _delete(session: Session, rows: Iterable[tuple[Any, ...]]) -> int:
    """Delete entries given as (number, number of the user, terms) with all that belongs to them."""
    by_user: dict[int, list[tuple[int, int]]] = {}
    for memory_no, user_no, terms in rows:
        by_user.setdefault(user_no, []).append((memory_no, terms))
    for user_no, gone in by_user.items():
        numbers = json.dumps([memory_no for memory_no, _ in gone])
        for statement in _DELETIONS:
            session.run(statement, numbers=numbers)
        session.run(_COUNT, user_no=user_no, entries=-len(gone), terms=-sum(terms for _, terms in gone))
    return sum(map(len, by_user.values()))


def _user_no(session: Session, user_id: str) -> int | None:
    found = session.run(_USER, user_id=user_id).fetchone()
    return None if found is None else int(found[0])
