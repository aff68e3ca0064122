"""What is still at work when the work on a run is over, for as long as the process has time."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Coroutine
from typing import Any

_log = logging.getLogger("outlast.worker")


class Aftermath:
    """`Afterwards` of one event loop."""

    def __init__(self) -> None:
        self._tasks: set[asyncio.Task[None]] = set()

    def take_over(self, work: Coroutine[Any, Any, None]) -> None:
        """Do this work from now on."""
        task = asyncio.create_task(work)
        self._tasks.add(task)
        task.add_done_callback(self._ended)

    async def settle(self, seconds: float) -> None:
        """Wait until nothing is left to do, for so long at most."""
        if self._tasks:
            await asyncio.wait(set(self._tasks), timeout=seconds)

    async def close(self) -> None:
        """End what is left; it records how far it came. Safe to call twice."""
        await asyncio.sleep(0)  # what was taken over a moment ago must have begun, or it could record nothing
        tasks = set(self._tasks)
        for task in tasks:
            task.cancel()
        if tasks:
            await asyncio.wait(tasks)

    def _ended(self, task: asyncio.Task[None]) -> None:
        self._tasks.discard(task)
        if not task.cancelled() and (error := task.exception()) is not None:
            _log.error("what outlasted a run ended in a surprise", exc_info=error)
