"""Times as stores keep them: whole microseconds since 1970-01-01 UTC."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_MICROSECOND = timedelta(microseconds=1)


def to_micros(at: datetime) -> int:
    """Microseconds since the epoch of an aware time, exactly. A time without a zone raises TypeError."""
    return (at - _EPOCH) // _MICROSECOND


def from_micros(micros: int) -> datetime:
    """The aware UTC time of microseconds since the epoch, exactly."""
    return _EPOCH + timedelta(microseconds=micros)


def to_micros_or_none(at: datetime | None) -> int | None:
    """As `to_micros`; None stays None."""
    return None if at is None else to_micros(at)


def from_micros_or_none(micros: int | None) -> datetime | None:
    """As `from_micros`; None stays None."""
    return None if micros is None else from_micros(micros)
