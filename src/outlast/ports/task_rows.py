"""Background tasks as a store keeps them: opaque text, the columns that lists and guards go by, and the items that write them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import field
from datetime import datetime
from typing import Protocol

from outlast.domain.dataclass import dataclass


@dataclass(frozen=True, slots=True, kw_only=True)
class TaskRow:
    """A background task. `body` is a JSON object that the layers above understand, written under `body_version`.

    `name` is unique in its thread as it is written here, so whoever writes it folds its case. No user has two tasks of one
    `server` with one `remote_id` (None: there is none yet), which is a secret. `revision` counts the writes of the row, from 1.
    """

    task_id: str
    user_id: str
    thread_id: str
    run_id: str
    name: str
    server: str
    remote_id: str | None = field(default=None, repr=False)
    status: str
    tracking: str
    notification: str
    is_open: bool
    event_version: int = 0
    notified_version: int = 0
    created_at: datetime
    updated_at: datetime
    body_version: int
    body: str = field(repr=False)
    revision: int = 1


@dataclass(frozen=True, slots=True)
class InsertTask:
    """Add a task with revision 1. Guards: `EXISTS` (no task has this id), `NAME` (no task of its thread has this name), `REMOTE` (no
    task of this user and server has this remote id)."""

    row: TaskRow


@dataclass(frozen=True, slots=True)
class UpdateTask:
    """Replace a task's row but for its user, thread, run, name and creation; it then has the revision `after` + 1.

    Guards, in this order: `MISSING`; `REVISION` (it has the revision `after`); `GENERATION`, when given: the entry (`queue`, task)
    still has it and its lease was not given back; `REMOTE`, as for InsertTask. A `result` is kept beside the row; without one
    the kept one stays.
    """

    row: TaskRow
    after: int
    result: str | None = field(default=None, repr=False)
    queue: str = ""
    generation: int | None = None


@dataclass(frozen=True, slots=True)
class DeleteTask:
    """Delete a task, its result and its entries in `queues`. Guards: `MISSING`; `REVISION` (it has the revision `after`)."""

    task_id: str
    after: int
    queues: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class TaskFilter:
    """Which tasks are meant. None means any; `is_undelivered` is a task whose event version is above its notified version."""

    user_id: str | None = None
    thread_id: str | None = None
    run_id: str | None = None
    status: str | None = None
    tracking: str | None = None
    notification: str | None = None
    is_open: bool | None = None
    is_undelivered: bool | None = None
    limit: int = 100
    offset: int = 0


class TaskReads(Protocol):
    """What a store tells of background tasks. Errors are those of `Store`."""

    async def read_tasks(self, task_ids: Sequence[str]) -> list[TaskRow]:
        """The tasks with these ids that are there, in the order of the ids."""
        ...

    async def read_task_result(self, task_id: str) -> str | None:
        """The result that was kept with a task."""
        ...

    async def list_tasks(self, wanted: TaskFilter) -> list[TaskRow]:
        """Tasks, newest first, `offset` of them left out; what changes between two pages may move tasks from one to the other."""
        ...

    async def count_tasks(self, wanted: TaskFilter) -> int:
        """How many tasks are meant, whatever limit and offset say."""
        ...
