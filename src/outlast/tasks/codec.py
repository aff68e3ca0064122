"""Background tasks as rows and back. What a column holds is left out of the body; fields that older programs did not know have
their defaults.
"""

from __future__ import annotations

import json
from typing import Any, Final

from outlast.domain.background import BackgroundTask
from outlast.domain.errors import Broken
from outlast.journal.codec import UNREADABLE, from_plain, to_plain
from outlast.ports.task_rows import TaskRow

BODY_VERSION: Final = 1
"""The version of the bodies that this program writes; it reads this one and all before."""

_PLAIN_COLUMNS: Final = (
    "task_id",
    "user_id",
    "thread_id",
    "run_id",
    "server",
    "remote_id",
    "status",
    "tracking",
    "notification",
    "event_version",
    "notified_version",
)
_TIMES: Final = ("created_at", "updated_at")
_to_json = json.JSONEncoder(ensure_ascii=False, allow_nan=False, separators=(",", ":")).encode


def row_of(task: BackgroundTask) -> TaskRow:
    """The row of a task; its revision is the store's business."""
    plain = to_plain(task)
    for column in (*_PLAIN_COLUMNS, *_TIMES):
        plain.pop(column, None)
    return TaskRow(
        task_id=task.task_id,
        user_id=task.user_id,
        thread_id=task.thread_id,
        run_id=task.run_id,
        name=task.name.casefold(),
        server=task.server,
        remote_id=task.remote_id,
        status=task.status.value,
        tracking=task.tracking.value,
        notification=task.notification.value,
        is_open=task.is_open,
        event_version=task.event_version,
        notified_version=task.notified_version,
        created_at=task.created_at,
        updated_at=task.updated_at,
        body_version=BODY_VERSION,
        body=_to_json(plain),
    )


def task_in(row: TaskRow) -> BackgroundTask:
    """The task a row describes. Raises Broken: `task_newer` for a row of a later program, `store_damaged` for one that describes
    none."""
    if row.body_version > BODY_VERSION:
        raise Broken(
            "task_newer",
            f"The background task {row.task_id} was written by a later version of outlast.",
            "Upgrade this process; until then another worker looks after the task.",
        )
    columns: dict[str, Any] = {name: getattr(row, name) for name in _PLAIN_COLUMNS}
    columns |= {name: getattr(row, name).isoformat() for name in _TIMES}
    try:
        found: BackgroundTask = from_plain(BackgroundTask, {**json.loads(row.body), **columns})
    except UNREADABLE as error:
        raise Broken(
            "store_damaged",
            f"The background task {row.task_id} cannot be read: {error}",
            "Run `outlast db check`; restore the database from a backup if it is damaged.",
        ) from error
    return found
