"""Runs and threads as lists see them."""

from __future__ import annotations

import sqlite3
from datetime import datetime
from typing import Any

from outlast.adapters.stores.sqlite.queries import query
from outlast.adapters.stores.sqlite.session import Session
from outlast.adapters.stores.times import from_micros, to_micros
from outlast.ports.batch import Guard
from outlast.ports.run_rows import RunFilter, RunRow, UpdateRun
from outlast.ports.thread_rows import ThreadRow

_INSERT_THREAD = query("insert_thread_unless_anothers")
_READ_THREAD = query("read_thread")
_LIST_THREADS = query("list_threads")
_INSERT_RUN = query("insert_run_if_allowed")
_WHY_NOT_INSERTED = query("why_run_not_inserted")
_UPDATE_RUN = query("update_run_if_generation")
_WHY_NOT_UPDATED = query("why_run_not_updated")
_READ_RUN = query("read_run")
_FIND_RUN = query("find_run")
_LIST_RUNS = query("list_runs")
_LIST_RUN_IDS = query("list_run_ids")
_LIST_ENDED = query("list_runs_ended_before")


def insert_thread(session: Session, row: ThreadRow) -> Guard | None:
    """Add the thread, or leave it as it is; refuse one of another user."""
    inserted = session.run(
        _INSERT_THREAD,
        thread_id=row.thread_id,
        user_id=row.user_id,
        title=row.title,
        created_at=to_micros(row.created_at),
    )
    return None if inserted.rowcount else Guard.EXISTS


def insert_run(session: Session, row: RunRow) -> Guard | None:
    """Add the run in one statement that carries its four guards."""
    inserted = session.run(
        _INSERT_RUN,
        run_id=row.run_id,
        thread_id=row.thread_id,
        user_id=row.user_id,
        task=row.task,
        state=row.state,
        is_active=row.is_active,
        created_at=to_micros(row.created_at),
        updated_at=to_micros(row.updated_at),
        summary=row.summary,
        key=row.key,
        outcome=row.outcome,
        min_reader=row.min_reader,
    )
    if inserted.rowcount:
        return None
    why = session.value(
        _WHY_NOT_INSERTED,
        run_id=row.run_id,
        thread_id=row.thread_id,
        user_id=row.user_id,
        key=row.key,
        is_active=row.is_active,
    )
    return Guard(why)


def update_run(session: Session, item: UpdateRun) -> Guard | None:
    """Replace what changes of a run's row, in one statement that carries its guards."""
    updated = session.run(
        _UPDATE_RUN,
        run_id=item.run_id,
        state=item.state,
        is_active=item.is_active,
        outcome=item.outcome,
        updated_at=to_micros(item.updated_at),
        summary=item.summary,
        min_reader=item.min_reader,
        generation=item.generation,
    )
    if updated.rowcount:
        return None
    return Guard(session.value(_WHY_NOT_UPDATED, run_id=item.run_id, generation=item.generation))


def read_run(connection: sqlite3.Connection, run_id: str) -> RunRow | None:
    """The row of a run."""
    return _run_or_none(connection.execute(_READ_RUN, {"run_id": run_id}).fetchone())


def find_run(connection: sqlite3.Connection, user_id: str, key: str) -> RunRow | None:
    """The run of a user that was started with an idempotency key."""
    return _run_or_none(connection.execute(_FIND_RUN, {"user_id": user_id, "key": key}).fetchone())


def list_runs(connection: sqlite3.Connection, wanted: RunFilter) -> list[RunRow]:
    """Rows of runs, newest first."""
    asked = {
        "user_id": wanted.user_id,
        "thread_id": wanted.thread_id,
        "state": wanted.state,
        "task": wanted.task,
    }
    given = {column: value for column, value in asked.items() if value is not None}
    conditions = " AND ".join(f"{column} = :{column}" for column in given) or "TRUE"
    found = connection.execute(
        _LIST_RUNS.replace("{conditions}", conditions), {**given, "limit": wanted.limit}
    )
    return [_run(row) for row in found]


def list_run_ids(connection: sqlite3.Connection, ended_before: datetime | None) -> list[str]:
    """The ids of all runs, or of those that ended before a time, oldest first."""
    if ended_before is None:
        found = connection.execute(_LIST_RUN_IDS)
    else:
        found = connection.execute(_LIST_ENDED, {"before": to_micros(ended_before)})
    return [run_id for (run_id,) in found]


def read_thread(connection: sqlite3.Connection, thread_id: str) -> ThreadRow | None:
    """The row of a thread."""
    found = connection.execute(_READ_THREAD, {"thread_id": thread_id}).fetchone()
    return None if found is None else _thread(found)


def list_threads(connection: sqlite3.Connection, user_id: str, limit: int) -> list[ThreadRow]:
    """The threads of a user, newest first."""
    return [_thread(row) for row in connection.execute(_LIST_THREADS, {"user_id": user_id, "limit": limit})]


def _run_or_none(found: tuple[Any, ...] | None) -> RunRow | None:
    return None if found is None else _run(found)


def _run(found: tuple[Any, ...]) -> RunRow:
    run_id, thread_id, user_id, task, state, is_active, created, updated, summary, key, outcome, reader = (
        found
    )
    return RunRow(
        run_id=run_id,
        thread_id=thread_id,
        user_id=user_id,
        task=task,
        state=state,
        is_active=bool(is_active),
        created_at=from_micros(created),
        updated_at=from_micros(updated),
        summary=summary,
        key=key,
        outcome=outcome,
        min_reader=reader,
    )


def _thread(found: tuple[Any, ...]) -> ThreadRow:
    thread_id, user_id, title, created = found
    return ThreadRow(thread_id=thread_id, user_id=user_id, title=title, created_at=from_micros(created))
