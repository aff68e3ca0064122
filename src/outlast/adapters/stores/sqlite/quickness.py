"""Whether the disk is quick enough at present for a loop to stand still until it has written."""

from __future__ import annotations

import math
import time
from typing import Final

QUICK_SECONDS: Final = 0.001
"""For a disk whose syncs take longer than this and the hops they spare nobody waits in a loop."""

HOP_SECONDS: Final = 0.0001
"""What a hop to another thread and back costs a commit."""

_WAITS_OF_LATE: Final = 8
"""About so many waits tell how long they are at present."""

_LONGEST_COUNTED: Final = 4
"""A longer wait counts as this many times what is quick: one hiccup does not make a disk slow."""

_PAUSES: Final = 100
"""A disk that is not quick is tried again after so many times the wait it was tried with: little of a loop's time is lost by that."""


class Quickness:
    """How long a loop stood still for its commits of late, beyond what they spared it.

    With `quick_seconds` 0 it is never quick.
    """

    def __init__(self, quick_seconds: float = QUICK_SECONDS) -> None:
        self._quick_seconds = quick_seconds
        self._wait_seconds = 0.0
        self._again_at = math.inf

    @property
    def is_quick(self) -> bool:
        """Is it quick, or is it time to try again?"""
        return self._wait_seconds < self._quick_seconds or time.monotonic() >= self._again_at

    def note(self, seconds: float) -> None:
        """Note one wait that has just ended, less what it spared."""
        counted = min(max(0.0, seconds), _LONGEST_COUNTED * self._quick_seconds)
        self._wait_seconds += (counted - self._wait_seconds) / _WAITS_OF_LATE
        self._again_at = time.monotonic() + _PAUSES * max(0.0, seconds)
