"""The end of a call's time: `asyncio.timeout` for a call that is made at every step."""

from __future__ import annotations

import asyncio
from typing import Any


class Deadline:
    """Cancels the task it is made in once `seconds` are over, unless it is stopped before.

    It has the rules of `asyncio.timeout` for less: what it asked for it takes back, and what others asked for stays.
    `is_over` says whether the time ended first. Raises RuntimeError where there is no task.
    """

    __slots__ = ("_cancelling_before", "_task", "_timer", "is_over")

    _task: asyncio.Task[Any]

    def __init__(self, seconds: float) -> None:
        loop = asyncio.get_running_loop()
        task = asyncio.current_task(loop)
        if task is None:
            raise RuntimeError("A call is made in a task.")
        self._task, self._cancelling_before = task, task.cancelling()
        self.is_over = False
        self._timer = loop.call_later(seconds, self._end)

    def stop(self) -> bool:
        """Cancel no more, to be called once. Is it this deadline alone that a cancellation of the task comes from?"""
        self._timer.cancel()
        return self.is_over and self._task.uncancel() <= self._cancelling_before

    def _end(self) -> None:
        self.is_over = True
        self._task.cancel()
