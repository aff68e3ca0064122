"""The loops over background tasks that every working process has: one lane a queue, beside one another."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Sequence
from typing import Final

from outlast.domain.errors import OutlastError
from outlast.ports.batch import Item
from outlast.ports.queue import Enqueue
from outlast.ports.store import Store
from outlast.ports.task_rows import TaskFilter
from outlast.tasks.happenings import Queue
from outlast.tasks.lane import Lane

_PAGE: Final = 500

_log = logging.getLogger("outlast.tasks")


class TaskShift:
    """One worker's lanes at work on the background tasks of a store."""

    def __init__(self, store: Store, lanes: Sequence[Lane]) -> None:
        self._store = store
        self._lanes = lanes

    def stop(self) -> None:
        """Take nothing more, and end once every lease has been given back."""
        for lane in self._lanes:
            lane.stop()

    async def is_idle(self) -> bool:
        """Is nothing being done, and nothing due? Raises what the store raises.

        Every lane is looked at twice: what one ends meanwhile may be due in another that was looked at before.
        """
        return all([await lane.is_idle() for lane in (*self._lanes, *self._lanes)])

    async def serve(self) -> None:
        """Ask for every open task once, then work until told to stop."""
        try:
            await poll_all_open(self._store)
        except OutlastError as trouble:
            _log.warning("open tasks are asked for when they are due: %s", trouble.detail)
        async with asyncio.TaskGroup() as group:
            for lane in self._lanes:
                group.create_task(lane.serve())


async def poll_all_open(store: Store) -> int:
    """Make the polls of all open tasks due now; how many there are. Who begins to look after tasks does not know for how long nobody
    did."""
    count = 0
    while True:
        rows = await store.list_tasks(TaskFilter(is_open=True, limit=_PAGE, offset=count))
        now = await store.now()
        polls: list[Item] = [
            Enqueue(Queue.POLL.value, row.task_id, now, row.user_id, row.server)
            for row in rows
            if row.remote_id is not None
        ]
        if polls:
            await store.commit(polls)
        count += len(rows)
        if len(rows) < _PAGE:
            return count
