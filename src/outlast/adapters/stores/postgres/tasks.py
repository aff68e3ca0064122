"""Background tasks as lists and loops read them."""

from __future__ import annotations

from collections.abc import Sequence

from outlast.adapters.stores.postgres.link import Link
from outlast.adapters.stores.postgres.queries import query
from outlast.ports.task_rows import TaskFilter, TaskRow

_READ = query("read_tasks")
_READ_RESULT = query("read_task_result")
_LIST = query("list_tasks")
_COUNT = query("count_tasks")


async def read_tasks(link: Link, task_ids: Sequence[str]) -> list[TaskRow]:
    """The tasks that are there, in the order of the ids."""
    return [TaskRow(**row) for row in await link.rows(_READ, list(task_ids))]


async def read_task_result(link: Link, task_id: str) -> str | None:
    """The result that was kept with a task."""
    result: str | None = await link.value(_READ_RESULT, task_id)
    return result


async def list_tasks(link: Link, wanted: TaskFilter) -> list[TaskRow]:
    """Tasks, newest first."""
    conditions, given = _conditions(wanted)
    pages = f"LIMIT ${len(given) + 1} OFFSET ${len(given) + 2}"
    sql = f"{_LIST.replace('{conditions}', conditions)} {pages}"
    return [TaskRow(**row) for row in await link.rows(sql, *given, wanted.limit, wanted.offset)]


async def count_tasks(link: Link, wanted: TaskFilter) -> int:
    """How many tasks are meant."""
    conditions, given = _conditions(wanted)
    count: int = await link.value(_COUNT.replace("{conditions}", conditions), *given)
    return count


def _conditions(wanted: TaskFilter) -> tuple[str, list[str]]:
    """Only what is asked for, so that every plan can go by the index of it."""
    asked = {
        "user_id": wanted.user_id,
        "thread_id": wanted.thread_id,
        "run_id": wanted.run_id,
        "status": wanted.status,
        "tracking": wanted.tracking,
        "notification": wanted.notification,
    }
    given = {column: value for column, value in asked.items() if value is not None}
    terms = [f"task.{column} = ${place}" for place, column in enumerate(given, 1)]
    if wanted.is_open is not None:
        terms.append("task.is_open" if wanted.is_open else "NOT task.is_open")
    if wanted.is_undelivered is not None:
        sign = ">" if wanted.is_undelivered else "<="
        terms.append(f"task.event_version {sign} task.notified_version")
    return " AND ".join(terms) or "TRUE", list(given.values())
