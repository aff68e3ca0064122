"""Background tasks on their way to another store: taken along with the run that began them, followed in one store and no other.

A task that goes on is marked as moved here before anybody reads its row elsewhere, under the leases of all its queues, so that no
worker of this store is at work on it then or later. The row as it was is kept in the marked one: what was marked can be written out
again, and be taken back.
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Sequence
from dataclasses import fields, replace
from datetime import datetime
from typing import Any, Final

from outlast.domain.background import BackgroundTask, TaskStatus, Tracking
from outlast.domain.dataclass import dataclass
from outlast.domain.door import Json
from outlast.domain.errors import Conflict
from outlast.domain.notification import Notification
from outlast.ports.batch import Committed, Item
from outlast.ports.queue import Claim, Enqueue, Release
from outlast.ports.store import Store
from outlast.ports.task_rows import InsertTask, TaskFilter, TaskRow, UpdateTask
from outlast.runs.background import LOCAL, begin_item, stream_of_begin
from outlast.tasks.codec import row_of, task_in
from outlast.tasks.happenings import Queue

LEASE_SECONDS: Final = 60.0
"""How long the leases may be held under which tasks are marked."""

_HOLDER: Final = "moving"
_PAGE: Final = 100
_FIELDS: Final = tuple(field.name for field in fields(TaskRow) if field.name != "revision")
_TIMES: Final = frozenset({"created_at", "updated_at"})
_NO_LEADS: Final[dict[str, Any]] = {"remote_id": None, "driver_data": {}, "idempotency_key": None}
_WAITING: Final = frozenset({Notification.PENDING, Notification.CLAIMED, Notification.RETRY})


@dataclass(frozen=True, slots=True, kw_only=True)
class PortableTask:
    """A task as it travels. `has_begun` says of work of ours that it was begun, so that it is not begun again elsewhere."""

    row: TaskRow
    result: str | None
    has_begun: bool

    def plain(self) -> dict[str, Json]:
        """The task as JSON."""
        return {**_plain(self.row), "result": self.result, "has_begun": self.has_begun}


def portable_task(found: dict[str, Any]) -> PortableTask:
    """The task in such JSON. Raises ValueError, TypeError or KeyError for what is none."""
    if tuple(found) != (*_FIELDS, "result", "has_begun"):
        raise ValueError("expected the fields of a background task")
    row = _row(found)
    if row_of(task_in(row)) != row:
        raise ValueError(f"the background task {row.task_id} does not fit its row")
    return PortableTask(row=row, result=found["result"], has_begun=found["has_begun"])


async def tasks_to_take(store: Store, run_id: str) -> list[PortableTask]:
    """The tasks of a run that travel with it, the oldest first.

    Those are the settled ones, without what would lead to the other side, and those that were marked as moved, as they were.
    """
    taken: list[PortableTask] = []
    async for row in _tasks_of(store, run_id):
        travelling = _travelling(row)
        if travelling is not None:
            result = await store.read_task_result(row.task_id)
            has_begun = await _has_begun(store, task_in(travelling))
            taken.append(PortableTask(row=travelling, result=result, has_begun=has_begun))
    return taken[::-1]


async def mark_as_moved(store: Store, run_id: str) -> int:
    """Let nobody here follow the tasks of a run any more that go on or are still to be told; how many they are.

    Raises Conflict (`tasks_busy`) while a worker is at work on one, or a run tells of it; then all is as it was.
    """
    tasks = [row async for row in _tasks_of(store, run_id)]
    claims: list[Claim] = []
    items: list[Item] = []
    for row in tasks:
        task = task_in(row)
        if task.moved is not None or _is_settled(task):
            continue
        held = await _held(store, task)
        claims += held or []
        if held is None or task.notification is Notification.DISPATCHED:
            await _give_back(store, claims)
            raise _busy(task)
        guard = held[0] if held else None
        lease = ("", None) if guard is None else (guard.queue, guard.generation)
        items.append(UpdateTask(row_of(_marked(task, row, await store.now())), row.revision, None, *lease))
    if not items:
        return 0
    gone: list[Item] = [Release(one.queue, one.item, one.generation, None, is_quiet=True) for one in claims]
    if not isinstance(await store.commit([*items, *gone]), Committed):
        await _give_back(store, claims)
        raise Conflict(
            "tasks_busy", f"Background tasks of {run_id} have just changed.", "Give the command again."
        )
    return len(items)


def items_to_take(tasks: Sequence[PortableTask], known: set[str]) -> list[Item]:
    """What a commit must hold so that tasks are there, whoever is to follow them; those that are `known` are there already."""
    return [InsertTask(one.row) for one in tasks if one.row.task_id not in known]


async def follow_taken(store: Store, tasks: Sequence[PortableTask]) -> int:
    """Let workers follow tasks that were taken up, with their results beside them; how many there were to be followed.

    It may be done again: a task that went on here since is left alone, one that was marked as moved from here is taken back.
    """
    now, taken = await store.now(), 0
    kept = {row.task_id: row for row in await store.read_tasks([one.row.task_id for one in tasks])}
    for one in tasks:
        row = kept.get(one.row.task_id)
        if row is None or not _is_as_taken(row, one):
            continue
        task = task_in(one.row)
        if one.has_begun and not await _has_begun(store, task):
            await store.commit([begin_item(task.remote_id or "", now)])
        items: list[Item] = [UpdateTask(one.row, row.revision, one.result), *_due(task, now)]
        written = await store.commit(items)
        taken += isinstance(written, Committed) and not _is_settled(task)
    return taken


def is_unsettled(task: PortableTask) -> bool:
    """Does it go on, or is it still to be told?"""
    return not _is_settled(task_in(task.row))


def _is_as_taken(row: TaskRow, taken: PortableTask) -> bool:
    """Has nobody followed it since it was taken up, or was it moved away?"""
    return row.status == TaskStatus.MOVED or replace(row, revision=1) == taken.row


def _travelling(row: TaskRow) -> TaskRow | None:
    """The row of a task as it travels; None for one that stays."""
    task = task_in(row)
    if task.moved is not None:
        return _row(task.moved)
    if _is_settled(task):
        return row_of(replace(task, server="", principal="", **_NO_LEADS))
    return None


def _is_settled(task: BackgroundTask) -> bool:
    return not task.is_open and not task.is_undelivered


def _marked(task: BackgroundTask, row: TaskRow, now: datetime) -> BackgroundTask:
    return replace(
        task,
        status=TaskStatus.MOVED,
        ended_at=now,
        updated_at=now,
        **_NO_LEADS,
        questions={},
        tracking=Tracking.OK,
        notification=Notification.NONE,
        notified_version=task.event_version,
        moved=_plain(row),
    )


async def _held(store: Store, task: BackgroundTask) -> list[Claim] | None:
    """The leases of all entries of a task, taken now; None where somebody else holds one."""
    claims: list[Claim] = []
    for queue in Queue:
        if await store.read_entry(queue.value, task.task_id) is None:
            continue
        found = await store.claim(queue.value, _HOLDER, LEASE_SECONDS, item=task.task_id)
        if not found:
            await _give_back(store, claims)
            return None
        claims += found
    return claims


async def _give_back(store: Store, claims: Sequence[Claim]) -> None:
    for claim in claims:
        await store.commit([Release(claim.queue, claim.item, claim.generation, claim.store_now)])


def _busy(task: BackgroundTask) -> Conflict:
    return Conflict(
        "tasks_busy",
        f"A worker is at work on the background task {task.name} ({task.task_id}), or a run tells of it.",
        "Stop the workers of this store, or give the command again in a moment.",
    )


def _due(task: BackgroundTask, now: datetime) -> list[Item]:
    """What is due of a task that was taken up: it is asked for at once, as after a start."""
    wanted = {
        Queue.POLL: True,
        Queue.CANCEL: task.is_open
        and task.remote_id is not None
        and task.cancel_requested_at is not None
        and task.cancel_acknowledged_at is None,
        Queue.NOTIFY: task.is_undelivered and task.notification in _WAITING,
    }
    return [
        Enqueue(queue.value, task.task_id, now, task.user_id, task.server)
        for queue, is_due in wanted.items()
        if is_due
    ]


async def _tasks_of(store: Store, run_id: str) -> AsyncIterator[TaskRow]:
    offset = 0
    while rows := await store.list_tasks(TaskFilter(run_id=run_id, limit=_PAGE, offset=offset)):
        offset += len(rows)
        for row in rows:
            yield row


async def _has_begun(store: Store, task: BackgroundTask) -> bool:
    """Was work of ours begun, by a worker that may have died?"""
    if task.driver != LOCAL or task.remote_id is None:
        return False
    return await store.read_head(stream_of_begin(task.remote_id)) > 0


def _plain(row: TaskRow) -> dict[str, Json]:
    found = {name: getattr(row, name) for name in _FIELDS}
    return {name: value.isoformat() if name in _TIMES else value for name, value in found.items()}


def _row(found: dict[str, Any]) -> TaskRow:
    values = {name: found[name] for name in _FIELDS}
    return TaskRow(**{**values, **{name: datetime.fromisoformat(values[name]) for name in _TIMES}})
