"""Elapsed time by which leases are judged in this process: never set back, and going on while the machine sleeps."""

from __future__ import annotations

import time
from typing import Final

_CLOCK: Final = getattr(time, "CLOCK_BOOTTIME", time.CLOCK_MONOTONIC)


def elapsed_seconds() -> float:
    """Seconds since some fixed moment; where the system can tell, those it slept through are counted."""
    return time.clock_gettime(_CLOCK)
