"""How soon a server that failed is tried again."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Final

FIRST_PAUSE_SECONDS: Final = 0.5
LONGEST_PAUSE_SECONDS: Final = 30.0
CRASH_MEMORY_SECONDS: Final = 60.0

_CRASHES_FORGIVEN: Final = 1


class Pacing:
    """Pauses that grow: with each failure to connect in a row, and with each loss of a connection within a minute but the first.

    `clock` gives elapsed seconds.
    """

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock
        self._crashes: list[float] = []
        self._not_before = 0.0
        self.failures = 0

    @property
    def pause_seconds(self) -> float:
        """How long from now the next attempt has to wait."""
        return max(self._not_before - self._clock(), 0.0)

    def note_failure(self) -> None:
        """A connection could not be made."""
        self.failures += 1
        self._pause(self.failures)

    def note_crash(self) -> None:
        """A connection was lost that had been open."""
        now = self._clock()
        self._crashes = [at for at in self._crashes if now - at < CRASH_MEMORY_SECONDS] + [now]
        self._pause(len(self._crashes) - _CRASHES_FORGIVEN)

    def note_success(self) -> None:
        """A request was answered."""
        self.failures = 0

    def _pause(self, times: int) -> None:
        if times > 0:
            pause = min(FIRST_PAUSE_SECONDS * 2 ** min(times - 1, 16), LONGEST_PAUSE_SECONDS)
            self._not_before = self._clock() + pause
