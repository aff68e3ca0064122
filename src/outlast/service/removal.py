"""Removing runs that are over: which they are, how large they are, and the one commit that takes one away."""

from __future__ import annotations

from collections.abc import AsyncIterator
from datetime import datetime
from typing import Final

from outlast.domain.dataclass import dataclass
from outlast.domain.notification import Notification
from outlast.domain.states import ENDED, State
from outlast.ports.batch import Committed, Guard, Item
from outlast.ports.inventory import Stray
from outlast.ports.run_rows import DeleteRun, RunFilter, RunRow
from outlast.ports.store import Store
from outlast.ports.stream import SweepPayloads
from outlast.ports.task_rows import TaskFilter
from outlast.ports.thread_rows import DeleteThread

_PAGE: Final = 500


@dataclass(frozen=True, slots=True)
class Size:
    """How much a run takes: its events, and the bytes of their bodies and of the payloads it refers to, some perhaps with others."""

    events: int
    size_bytes: int


async def find_expired(store: Store, before: datetime, *, include_failed: bool) -> AsyncIterator[RunRow]:
    """The runs that ended before a time, oldest first; those that failed, which can be resumed, only when asked for.

    A run is not over while a background task it began goes on, or its thread has still to be told of one.
    """
    for run_id in await store.list_run_ids(before):
        row = await store.read_run(run_id)
        if row is None or row.state not in ENDED or (row.state == State.FAILED and not include_failed):
            continue
        if not await _goes_on(store, run_id):
            yield row


async def _goes_on(store: Store, run_id: str) -> bool:
    """Does a background task of the run go on, or wait to be told?"""
    undelivered = await store.list_tasks(TaskFilter(run_id=run_id, is_undelivered=True))
    is_told = all(row.notification == Notification.DEAD_LETTER.value for row in undelivered)
    return not is_told or await store.count_tasks(TaskFilter(run_id=run_id, is_open=True)) > 0


async def size_of(store: Store, run_id: str) -> Size:
    """How much a run takes."""
    events = size_bytes = 0
    while page := await store.read_events(run_id, events, _PAGE):
        events += len(page)
        size_bytes += sum(len(event.body.encode()) for event in page)
    payloads = await store.list_payloads(run_id)
    return Size(events, size_bytes + sum(size for size in payloads.values() if size > 0))


async def remove_run(store: Store, row: RunRow, at: int) -> bool:
    """Take away an ended run whose journal ends at `at`, with its thread if it was the last of it. What forks and continuations
    refer to stays.

    False: it has gone on meanwhile, or is gone; nothing was taken away.
    """
    in_thread = await store.list_runs(RunFilter(thread_id=row.thread_id, limit=2))
    run, thread = DeleteRun(row.run_id, at), DeleteThread(row.thread_id)
    batch: list[Item] = [run, thread] if len(in_thread) == 1 else [run]
    written = await store.commit(batch)
    if not isinstance(written, Committed) and written.guard is Guard.THREAD_BUSY:
        written = await store.commit([run])  # another run was begun in the thread
    return isinstance(written, Committed)


async def sweep(store: Store, stray: Stray) -> None:
    """Delete what nothing needs."""
    await store.commit([SweepPayloads(stray.streams, tuple(stray.payloads))])
