"""The clock of tests."""

from datetime import UTC, datetime, timedelta, timezone

import pytest

from outlast.testing.clock import FakeClock


def test_the_clock_stands_still_until_it_is_advanced() -> None:
    clock = FakeClock()
    start = clock()
    assert clock() == start
    assert clock.advance(1.5) == clock() == start + timedelta(seconds=1.5)
    clock.advance(-1)
    assert clock() == start + timedelta(seconds=0.5)


def test_the_clock_tells_utc_wherever_it_was_set() -> None:
    clock = FakeClock(datetime(2026, 5, 1, 12, tzinfo=timezone(timedelta(hours=2))))
    assert clock() == datetime(2026, 5, 1, 10, tzinfo=UTC)
    assert clock().utcoffset() == timedelta(0)


def test_a_clock_without_a_zone_is_refused() -> None:
    with pytest.raises(ValueError, match="no time zone"):
        FakeClock(datetime(2026, 5, 1))  # noqa: DTZ001 - the mistake under test
