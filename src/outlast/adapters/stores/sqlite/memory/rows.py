"""Entries of memory as rows, and filters and askers as parameters."""

from __future__ import annotations

import json
from collections.abc import Iterable
from datetime import datetime
from pathlib import Path
from typing import Any

from outlast.adapters.stores.sqlite.queries import query
from outlast.adapters.stores.times import from_micros, from_micros_or_none, to_micros, to_micros_or_none
from outlast.domain.memory import Memory, MemoryKind, Origin, Scope, content_digest
from outlast.ports.memory import MemoryFilter, MemoryQuery

_FOLDER = Path(__file__).parent / "sql"
_PARTS = {name: query(f"memory_{name}", _FOLDER) for name in ("columns", "visible", "chosen")}


def memory_query(name: str) -> str:
    """The text of `sql/NAME.sql` with what it shares with others filled in."""
    text = query(name, _FOLDER)
    for part, filling in _PARTS.items():
        text = text.replace(f"{{{part}}}", filling)
    return text


def memory_of(row: tuple[Any, ...]) -> Memory:
    """The entry in a row of `memory_columns.sql`."""
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
        subtasks=tuple(json.loads(subtasks)),
        origin=Origin(origin_thread, origin_run, origin_position),
        created_at=from_micros(created),
        valid_from=from_micros(valid_from),
        valid_to=from_micros_or_none(valid_to),
        expires_at=from_micros_or_none(expires),
        superseded_by=superseded_by,
        archived_at=from_micros_or_none(archived),
    )


def fields_of(memory: Memory) -> dict[str, object]:
    """What is stored of an entry, but for what its words and its user add."""
    return {
        "memory_id": memory.memory_id,
        "thread_id": memory.scope.thread_id,
        "run_id": memory.scope.run_id,
        "kind": memory.kind.value,
        "text": memory.text,
        "title": memory.title,
        "source": memory.source,
        "subtasks": json.dumps(memory.subtasks, ensure_ascii=False),
        "origin_thread": memory.origin.thread_id,
        "origin_run": memory.origin.run_id,
        "origin_position": memory.origin.position,
        "created_at": to_micros(memory.created_at),
        "valid_from": to_micros(memory.valid_from),
        "valid_to": to_micros_or_none(memory.valid_to),
        "expires_at": to_micros_or_none(memory.expires_at),
        "superseded_by": memory.superseded_by,
        "archived_at": to_micros_or_none(memory.archived_at),
        "digest": content_digest(memory),
    }


def chosen_by(user_no: int | None, which: MemoryFilter) -> dict[str, object]:
    """The parameters of `memory_chosen.sql`."""
    return {
        "user_no": user_no,
        "memory_ids": None if which.memory_ids is None else json.dumps(which.memory_ids),
        "kinds": _kinds(which.kinds),
        "source": which.source,
        "of_thread": which.thread_id,
        "of_run": which.run_id,
        "ended_before": to_micros_or_none(which.ended_before),
        "archived": which.archived,
    }


def visible_to(user_no: int, asked: MemoryQuery) -> dict[str, object]:
    """The parameters of `memory_visible.sql`."""
    return {
        "user_no": user_no,
        "thread_id": asked.asker.thread_id,
        "run_id": asked.asker.run_id,
        "at": to_micros(asked.at),
        "include_outdated": asked.include_outdated,
        "kinds": _kinds(asked.kinds),
        "subtasks": None if asked.subtasks is None else json.dumps(sorted(asked.subtasks)),
    }


def is_outdated(valid_to: int | None, at: datetime) -> bool:
    """Did an entry that held until then cease to hold before `at`?"""
    return valid_to is not None and valid_to <= to_micros(at)


def _kinds(kinds: Iterable[MemoryKind]) -> str | None:
    return json.dumps(sorted(kinds)) if kinds else None
