"""How long the answers on a connection may take: one timer for many of them, where one for each takes a tenth of a commit."""

from __future__ import annotations

import asyncio
from collections.abc import Callable


class Deadline:
    """Calls `miss` once an answer is not there `seconds` after it was asked for. Used in the loop it was made in."""

    def __init__(self, seconds: float, miss: Callable[[], None]) -> None:
        self._seconds = seconds
        self._miss = miss
        self._loop = asyncio.get_running_loop()
        self._asked_at: float | None = None
        self._timer: asyncio.TimerHandle | None = None

    def begin(self) -> None:
        """Something was asked just now."""
        self._asked_at = self._loop.time()
        if self._timer is None:
            self._set(self._asked_at)

    def end(self) -> None:
        """It was answered, or nobody asks any more."""
        self._asked_at = None

    def stop(self) -> None:
        """Nothing will be asked again."""
        self._asked_at = None
        if self._timer is not None:
            self._timer.cancel()

    def _set(self, asked_at: float) -> None:
        self._timer = self._loop.call_at(asked_at + self._seconds, self._look)

    def _look(self) -> None:
        """See whether the answer that is waited for, if any, is late. What was asked last may have been asked since."""
        self._timer = None
        if self._asked_at is None:
            return
        if self._loop.time() < self._asked_at + self._seconds:
            self._set(self._asked_at)
        else:
            self._miss()
