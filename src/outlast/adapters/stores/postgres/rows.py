"""Runs and threads as lists see them."""

from __future__ import annotations

from datetime import datetime
from typing import Any

from outlast.adapters.stores.postgres.link import Link
from outlast.adapters.stores.postgres.queries import query
from outlast.ports.run_rows import RunFilter, RunRow
from outlast.ports.thread_rows import ThreadRow

_READ_RUN = query("read_run")
_FIND_RUN = query("find_run")
_LIST_RUNS = query("list_runs")
_LIST_RUN_IDS = query("list_run_ids")
_LIST_ENDED = query("list_runs_ended_before")
_READ_THREAD = query("read_thread")
_LIST_THREADS = query("list_threads")


async def read_run(link: Link, run_id: str) -> RunRow | None:
    """The row of a run."""
    return _run_or_none(await link.row(_READ_RUN, run_id))


async def find_run(link: Link, user_id: str, key: str) -> RunRow | None:
    """The run of a user that was started with an idempotency key."""
    return _run_or_none(await link.row(_FIND_RUN, user_id, key))


async def list_runs(link: Link, wanted: RunFilter) -> list[RunRow]:
    """Rows of runs, newest first."""
    asked = (wanted.user_id, wanted.thread_id, wanted.state, wanted.task)
    return [_run(row) for row in await link.rows(_LIST_RUNS, *asked, wanted.limit)]


async def list_run_ids(link: Link, ended_before: datetime | None) -> list[str]:
    """The ids of all runs, or of those that ended before a time, oldest first."""
    asked = link.rows(_LIST_RUN_IDS) if ended_before is None else link.rows(_LIST_ENDED, ended_before)
    return [run_id for (run_id,) in await asked]


async def read_thread(link: Link, thread_id: str) -> ThreadRow | None:
    """The row of a thread."""
    found = await link.row(_READ_THREAD, thread_id)
    return None if found is None else ThreadRow(**found)


async def list_threads(link: Link, user_id: str, limit: int) -> list[ThreadRow]:
    """The threads of a user, newest first."""
    return [ThreadRow(**row) for row in await link.rows(_LIST_THREADS, user_id, limit)]


def _run_or_none(found: Any | None) -> RunRow | None:
    return None if found is None else _run(found)


def _run(found: Any) -> RunRow:
    columns = dict(found)
    return RunRow(key=columns.pop("idempotency_key"), **columns)
