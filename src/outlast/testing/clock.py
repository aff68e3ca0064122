"""A clock that stands still until it is told to go on."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

_START = datetime(2026, 1, 1, tzinfo=UTC)


class FakeClock:
    """Call it for the time as aware UTC; it changes by `advance` alone. Hand it to whatever takes a `clock`."""

    def __init__(self, start: datetime = _START) -> None:
        if start.tzinfo is None:
            raise ValueError(
                "start has no time zone; pass an aware time such as datetime(2026, 1, 1, tzinfo=UTC)"
            )
        self._now = start.astimezone(UTC)

    def __call__(self) -> datetime:
        """The time."""
        return self._now

    def advance(self, seconds: float) -> datetime:
        """Move on by `seconds`, or back by a negative number as a wall clock may be set; returns the new time."""
        self._now += timedelta(seconds=seconds)
        return self._now
