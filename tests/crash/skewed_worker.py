"""The command line of a machine whose clock is wrong by OUTLAST_TEST_SKEW_SECONDS: `python skewed_worker.py worker ...`.

Every reading of the wall clock from Python is off, in our code and in libraries; time that goes on, and the clocks of servers,
are as they are. It must be the first thing the process does, before anything has taken hold of the right clock.
"""

import datetime as dt
import os
import sys
import time
from typing import Any

SKEW = dt.timedelta(seconds=float(os.environ["OUTLAST_TEST_SKEW_SECONDS"]))

_true_time, _true_time_ns = time.time, time.time_ns


class Skewed(dt.datetime):
    """The wall clock of this machine."""

    __slots__ = ()  # extension modules insist on the size of the class they were built with

    @classmethod
    def now(cls, tz: dt.tzinfo | None = None) -> Any:
        """What this machine takes for now."""
        return super().now(tz) + SKEW


dt.datetime = Skewed  # type: ignore[misc]
time.time = lambda: _true_time() + SKEW.total_seconds()
time.time_ns = lambda: _true_time_ns() + int(SKEW.total_seconds()) * 10**9

from outlast.cli.main import answer  # noqa: E402 - what it imports is to see the wrong clock

if __name__ == "__main__":
    sys.exit(answer(sys.argv[1:]))
