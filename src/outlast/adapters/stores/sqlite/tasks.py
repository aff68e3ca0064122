"""Background tasks: rows under a revision, their results beside them."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Sequence
from typing import Any

from outlast.adapters.stores.sqlite.queries import query
from outlast.adapters.stores.sqlite.session import Session
from outlast.adapters.stores.times import from_micros, to_micros
from outlast.ports.batch import Guard
from outlast.ports.task_rows import DeleteTask, TaskFilter, TaskRow, UpdateTask

_INSERT = query("insert_task_if_free")
_WHY_NOT_INSERTED = query("why_task_not_inserted")
_UPDATE = query("update_task_if_at")
_WHY_NOT_UPDATED = query("why_task_not_updated")
_DELETE = query("delete_task_if_at")
_DELETE_ENTRY = query("delete_entry")
_READ = query("read_tasks")
_READ_RESULT = query("read_task_result")
_LIST = query("list_tasks")
_COUNT = query("count_tasks")


def insert_task(session: Session, row: TaskRow) -> Guard | None:
    """Add the task in one statement that carries its guards."""
    fixed = {
        "user_id": row.user_id,
        "thread_id": row.thread_id,
        "run_id": row.run_id,
        "name": row.name,
        "created_at": to_micros(row.created_at),
    }
    if session.run(_INSERT, **fixed, **_changing(row)).rowcount:
        return None
    return Guard(
        session.value(_WHY_NOT_INSERTED, task_id=row.task_id, thread_id=row.thread_id, name=row.name)
    )


def update_task(session: Session, item: UpdateTask) -> Guard | None:
    """Replace the row in one statement that carries its guards."""
    lease = {"queue": item.queue, "generation": item.generation, "after": item.after}
    if session.run(_UPDATE, **lease, **_changing(item.row), result=item.result).rowcount:
        return None
    return Guard(session.value(_WHY_NOT_UPDATED, task_id=item.row.task_id, **lease))


def delete_task(session: Session, item: DeleteTask) -> Guard | None:
    """Delete the row as it is known, with its entries."""
    if session.run(_DELETE, task_id=item.task_id, after=item.after).rowcount == 0:
        is_there = session.run(_READ_RESULT, task_id=item.task_id).fetchone() is not None
        return Guard.REVISION if is_there else Guard.MISSING
    for queue in item.queues:
        session.run(_DELETE_ENTRY, queue=queue, item=item.task_id)
    return None


def read_tasks(connection: sqlite3.Connection, task_ids: Sequence[str]) -> list[TaskRow]:
    """The tasks that are there, in the order of the ids."""
    found = connection.execute(_READ, {"task_ids": json.dumps(list(task_ids))})
    rows = {row.task_id: row for row in map(_row, found)}
    return [rows[task_id] for task_id in task_ids if task_id in rows]


def read_task_result(connection: sqlite3.Connection, task_id: str) -> str | None:
    """The result that was kept with a task."""
    found = connection.execute(_READ_RESULT, {"task_id": task_id}).fetchone()
    return None if found is None else found[0]


def list_tasks(connection: sqlite3.Connection, wanted: TaskFilter) -> list[TaskRow]:
    """Tasks, newest first."""
    conditions, given = _conditions(wanted)
    asked = {**given, "limit": wanted.limit, "offset": wanted.offset}
    return [_row(found) for found in connection.execute(_LIST.replace("{conditions}", conditions), asked)]


def count_tasks(connection: sqlite3.Connection, wanted: TaskFilter) -> int:
    """How many tasks are meant."""
    conditions, given = _conditions(wanted)
    count: int = connection.execute(_COUNT.replace("{conditions}", conditions), given).fetchone()[0]
    return count


def _conditions(wanted: TaskFilter) -> tuple[str, dict[str, str]]:
    asked = {
        "user_id": wanted.user_id,
        "thread_id": wanted.thread_id,
        "run_id": wanted.run_id,
        "status": wanted.status,
        "tracking": wanted.tracking,
        "notification": wanted.notification,
    }
    given = {column: value for column, value in asked.items() if value is not None}
    terms = [f"{column} = :{column}" for column in given]
    if wanted.is_open is not None:
        terms.append("is_open" if wanted.is_open else "NOT is_open")
    if wanted.is_undelivered is not None:
        sign = ">" if wanted.is_undelivered else "<="
        terms.append(f"event_version {sign} notified_version")
    return " AND ".join(terms) or "TRUE", given


def _changing(row: TaskRow) -> dict[str, object]:
    return {
        "task_id": row.task_id,
        "server": row.server,
        "remote_id": row.remote_id,
        "status": row.status,
        "tracking": row.tracking,
        "notification": row.notification,
        "is_open": row.is_open,
        "event_version": row.event_version,
        "notified_version": row.notified_version,
        "updated_at": to_micros(row.updated_at),
        "body_version": row.body_version,
        "body": row.body,
    }


def _row(found: tuple[Any, ...]) -> TaskRow:
    return TaskRow(
        task_id=found[0],
        user_id=found[1],
        thread_id=found[2],
        run_id=found[3],
        name=found[4],
        server=found[5],
        remote_id=found[6],
        status=found[7],
        tracking=found[8],
        notification=found[9],
        is_open=bool(found[10]),
        event_version=found[11],
        notified_version=found[12],
        created_at=from_micros(found[13]),
        updated_at=from_micros(found[14]),
        body_version=found[15],
        body=found[16],
        revision=found[17],
    )
