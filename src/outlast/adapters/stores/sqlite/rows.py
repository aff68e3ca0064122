"""Runs and threads as lists see them."""

from __future__ import annotations

import sqlite3
from typing import Any

from outlast.adapters.stores.sqlite.queries import query
from outlast.adapters.stores.sqlite.session import Session
from outlast.adapters.stores.sqlite.times import from_micros, to_micros
from outlast.ports.store import Guard, RunFilter, RunRow, ThreadRow, UpdateRun

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


def insert_thread(session: Session, row: ThreadRow) -> Guard | None:
    """Add the thread, or leave it as it is; refuse one of another user."""
    values = (row.thread_id, row.user_id, row.title, to_micros(row.created_at))
    return None if session.run(_INSERT_THREAD, values).rowcount else Guard.EXISTS


def insert_run(session: Session, row: RunRow) -> Guard | None:
    """Add the run in one statement that carries its four guards."""
    values = (
        row.run_id,
        row.thread_id,
        row.user_id,
        row.task,
        row.state,
        row.is_active,
        to_micros(row.created_at),
        to_micros(row.updated_at),
        row.summary,
        row.key,
        row.outcome,
        row.min_reader,
    )
    if session.run(_INSERT_RUN, values).rowcount:
        return None
    return Guard(
        session.value(_WHY_NOT_INSERTED, (row.run_id, row.thread_id, row.user_id, row.key, row.is_active))
    )


def update_run(session: Session, item: UpdateRun) -> Guard | None:
    """Replace what changes of a run's row, in one statement that carries its guards."""
    values = (
        item.run_id,
        item.state,
        item.is_active,
        item.outcome,
        to_micros(item.updated_at),
        item.summary,
        item.min_reader,
        item.generation,
    )
    if session.run(_UPDATE_RUN, values).rowcount:
        return None
    return Guard(session.value(_WHY_NOT_UPDATED, (item.run_id, item.generation)))


def read_run(connection: sqlite3.Connection, run_id: str) -> RunRow | None:
    """The row of a run."""
    return _run_or_none(connection.execute(_READ_RUN, (run_id,)).fetchone())


def find_run(connection: sqlite3.Connection, user_id: str, key: str) -> RunRow | None:
    """The run of a user that was started with an idempotency key."""
    return _run_or_none(connection.execute(_FIND_RUN, (user_id, key)).fetchone())


def list_runs(connection: sqlite3.Connection, wanted: RunFilter) -> list[RunRow]:
    """Rows of runs, newest first."""
    asked = {
        "user_id": wanted.user_id,
        "thread_id": wanted.thread_id,
        "state": wanted.state,
        "task": wanted.task,
    }
    given = {column: value for column, value in asked.items() if value is not None}
    conditions = " AND ".join(f"{column} = ?" for column in given) or "TRUE"
    found = connection.execute(
        _LIST_RUNS.replace("{conditions}", conditions), (*given.values(), wanted.limit)
    )
    return [_run(row) for row in found]


def read_thread(connection: sqlite3.Connection, thread_id: str) -> ThreadRow | None:
    """The row of a thread."""
    found = connection.execute(_READ_THREAD, (thread_id,)).fetchone()
    return None if found is None else _thread(found)


def list_threads(connection: sqlite3.Connection, user_id: str, limit: int) -> list[ThreadRow]:
    """The threads of a user, newest first."""
    return [_thread(row) for row in connection.execute(_LIST_THREADS, (user_id, limit))]


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
