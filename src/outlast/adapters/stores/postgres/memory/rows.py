"""Entries of memory as rows, and filters and askers as arguments."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import Any, Final

from outlast.adapters.stores.postgres.queries import query
from outlast.adapters.stores.remembering.terms import terms_of_user
from outlast.domain.memory import Memory, MemoryKind, Origin, Scope, content_digest
from outlast.ports.memory import MemoryFilter, MemoryQuery

MOST_POSITION: Final = 16_383
"""The last place of a term that PostgreSQL tells from others."""

_FOLDER: Final = Path(__file__).parent / "sql"
_PARTS: Final = {name: query(name, _FOLDER) for name in ("columns", "visible", "chosen")}


def memory_query(name: str) -> str:
    """The text of `sql/NAME.sql` with what it shares with others filled in."""
    text = query(name, _FOLDER)
    for part, filling in _PARTS.items():
        text = text.replace(f"{{{part}}}", filling)
    return text


def memory_of(row: Any) -> Memory:
    """The entry in a row of `columns.sql`."""
    memory_id, user_id, thread_id, run_id, kind, text, title, source, subtasks, *rest = row
    origin_thread, origin_run, origin_position, created, valid_from, *fates = rest
    valid_to, expires, superseded_by, archived = fates
    return Memory(
        memory_id=memory_id,
        kind=MemoryKind(kind),
        text=text,
        title=title,
        source=source,
        scope=Scope(user_id, thread_id, run_id),
        subtasks=tuple(subtasks),
        origin=Origin(origin_thread, origin_run, origin_position),
        created_at=created,
        valid_from=valid_from,
        valid_to=valid_to,
        expires_at=expires,
        superseded_by=superseded_by,
        archived_at=archived,
    )


def values_of(memory: Memory, user_no: int) -> tuple[tuple[object, ...], int]:
    """The values of `insert_memory.sql`, and how many terms there are."""
    terms = terms_of_user(user_no, memory)
    values = (
        memory.memory_id,
        user_no,
        memory.scope.thread_id,
        memory.scope.run_id,
        memory.kind.value,
        memory.text,
        memory.title,
        memory.source,
        list(memory.subtasks),
        memory.origin.thread_id,
        memory.origin.run_id,
        memory.origin.position,
        memory.created_at,
        memory.valid_from,
        memory.valid_to,
        memory.expires_at,
        memory.superseded_by,
        memory.archived_at,
        content_digest(memory),
        len(terms),
        _words(terms),
    )
    return values, len(terms)


def chosen_by(user_no: int | None, which: MemoryFilter) -> tuple[object, ...]:
    """The arguments of `chosen.sql`."""
    ids = None if which.memory_ids is None else list(which.memory_ids)
    places = (which.source, which.thread_id, which.run_id)
    return (user_no, ids, _kinds(which.kinds), *places, which.ended_before, which.archived)


def visible_to(user_no: int, asked: MemoryQuery) -> tuple[object, ...]:
    """The arguments of `visible.sql`."""
    subtasks = None if asked.subtasks is None else sorted(asked.subtasks)
    asker = (asked.asker.thread_id, asked.asker.run_id)
    return (user_no, *asker, asked.at, asked.include_outdated, _kinds(asked.kinds), subtasks)


def _words(terms: Iterable[str]) -> str:
    """A tsvector with every term at its place. Terms are letters and digits, so nothing in them needs escaping."""
    return " ".join(f"'{term}':{min(place, MOST_POSITION)}" for place, term in enumerate(terms, 1))


def _kinds(kinds: Iterable[MemoryKind]) -> list[str] | None:
    return sorted(kind.value for kind in kinds) or None
