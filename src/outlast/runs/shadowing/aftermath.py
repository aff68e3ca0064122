"""What is still at work when the work on a run is over, for as long as the process has time."""

from __future__ import annotations

import asyncio
import logging
from typing import Final

from outlast.runs.means import SeeThrough

CLOSE_SECONDS: Final = 5.0
"""How long what is left may take to record how far it came."""

_log = logging.getLogger("outlast.worker")


class Aftermath:
    """`Afterwards` of one event loop."""

    def __init__(self) -> None:
        self._ending = asyncio.Event()
        self._tasks: set[asyncio.Task[None]] = set()

    def take_over(self, see_through: SeeThrough) -> None:
        """Begin the work now, and keep hold of it until it is done."""
        task = asyncio.create_task(see_through(self._ending))
        self._tasks.add(task)
        task.add_done_callback(self._ended)

    async def settle(self, seconds: float) -> None:
        """Wait until nothing is left to do, for so long at most."""
        if self._tasks:
            await asyncio.wait(set(self._tasks), timeout=seconds)

    async def close(self) -> None:
        """End what is left, and take nothing over any more but to end it. Safe to call twice."""
        self._ending.set()
        await self.settle(CLOSE_SECONDS)
        for task in self._tasks:
            task.cancel()

    def _ended(self, task: asyncio.Task[None]) -> None:
        self._tasks.discard(task)
        if not task.cancelled() and (error := task.exception()) is not None:
            _log.error("what outlasted a run ended in a surprise", exc_info=error)
