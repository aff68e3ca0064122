"""Checking background tasks: whether each can be read, and whether somebody would go on with what is still to be done."""

from __future__ import annotations

from collections.abc import AsyncIterator
from typing import Final

from outlast.domain.background import BackgroundTask
from outlast.domain.errors import OutlastError
from outlast.domain.notification import Notification
from outlast.ports.store import Store
from outlast.ports.task_rows import TaskFilter
from outlast.tasks.codec import task_in
from outlast.tasks.happenings import Queue

_PAGE: Final = 500


async def check_tasks(store: Store) -> AsyncIterator[tuple[str, str]]:
    """What is wrong with background tasks and their queues: the id of a task, and what. Tasks may go on meanwhile."""
    offset = 0
    while rows := await store.list_tasks(TaskFilter(limit=_PAGE, offset=offset)):
        offset += len(rows)
        for row in rows:
            try:
                task = task_in(row)
            except OutlastError as error:
                yield row.task_id, error.detail
                continue
            for queue in await _missing(store, task):
                yield row.task_id, f"nobody would go on with it: the queue {queue.value} has no entry for it"
    for queue in Queue:
        for item in await store.list_entries(queue.value):
            if not await store.read_tasks([item]) and await store.read_entry(queue.value, item) is not None:
                yield (
                    item,
                    f"the queue {queue.value} has an entry for it, and there is no such background task",
                )


async def _missing(store: Store, task: BackgroundTask) -> list[Queue]:
    """The queues that should have an entry for the task as it stands, and have none."""
    is_to_be_told = task.is_undelivered and task.notification is Notification.PENDING
    wanted = {Queue.POLL: task.is_open and task.remote_id is not None, Queue.NOTIFY: is_to_be_told}
    return [
        queue
        for queue, is_wanted in wanted.items()
        if is_wanted and await store.read_entry(queue.value, task.task_id) is None
    ]
