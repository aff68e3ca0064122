"""A worker's whole shift: runs and, beside them, background tasks and memory."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from typing import Final

from outlast.domain.errors import OutlastError
from outlast.runs.remembering.keeper import Keeper
from outlast.runs.shift import Shift
from outlast.tasks.loops import TaskShift

SETTLE_SECONDS: Final = 30.0
"""How long a worker that has nothing else to do waits for what outlasts its runs."""


class Tending:
    """Looks after background tasks for as long as a shift lasts; `make` gives the lanes anew for every time."""

    def __init__(self, make: Callable[[], TaskShift]) -> None:
        self._make = make
        self._tasks: TaskShift | None = None

    async def is_idle(self) -> bool:
        """Is nothing being done, and nothing due? While the store does not say, no."""
        try:
            return self._tasks is None or await self._tasks.is_idle()
        except OutlastError:
            return False

    def begin(self) -> asyncio.Task[None]:
        """Work from now on, until told to stop."""
        self._tasks = self._make()
        return asyncio.create_task(self._tasks.serve())

    def stop(self) -> None:
        """Take nothing more, and end once every lease has been given back."""
        if self._tasks is not None:
            self._tasks.stop()


class WholeShift:
    """A shift of runs with the tending of background tasks and the keeping of memory beside it; see `Shift`."""

    def __init__(
        self,
        runs: Shift,
        tending: Tending,
        keeper: Keeper | None = None,
        settle: Callable[[float], Awaitable[None]] | None = None,
    ) -> None:
        self._runs = runs
        self._tending = tending
        self._keeper = keeper
        self._settle = settle

    @property
    def is_stopping(self) -> bool:
        """Was it told to stop?"""
        return self._runs.is_stopping

    def stop(self) -> None:
        """Take nothing more, and end once everything has been given back."""
        self._runs.stop()
        self._tending.stop()

    def hurry(self) -> None:
        """Stop, and let no call in flight go on."""
        self._runs.hurry()
        self._tending.stop()

    async def serve(self, *, until_idle: bool = False, on_ready: Callable[[], None] = lambda: None) -> None:
        """Work until told to stop or, with `until_idle`, until nothing is due; `on_ready` as in `Shift.serve`.

        Where one half fails, the other gives back what it holds, and the error is raised.
        """
        keeping = asyncio.create_task(self._keeper.serve()) if self._keeper is not None else None
        try:
            await self._serve(until_idle=until_idle, on_ready=on_ready)
        finally:
            if self._keeper is not None and keeping is not None:
                self._keeper.stop()
                await asyncio.wait([keeping])
        if self._settle is not None and until_idle and not self.is_stopping:
            await self._settle(SETTLE_SECONDS)
        if self._keeper is not None and until_idle and not self.is_stopping:
            await self._keeper.clear()

    async def _serve(self, *, until_idle: bool, on_ready: Callable[[], None]) -> None:
        tending = self._tending.begin()
        running = asyncio.create_task(self._runs.serve(until_idle=until_idle, on_ready=on_ready))
        try:
            await asyncio.wait([running, tending], return_when=asyncio.FIRST_COMPLETED)
            if not running.done() and _has_failed(tending):
                running.cancel()
            await asyncio.wait([running])
        finally:
            running.cancel()
            self._tending.stop()
            await asyncio.wait([running, tending])
        tending.result()
        running.result()


def _has_failed(task: asyncio.Task[None]) -> bool:
    return task.cancelled() or task.exception() is not None
