"""How long to wait, in every form."""

from datetime import UTC, datetime

import pytest

from outlast.adapters.providers.openai_compatible.retry_after import retry_after_seconds

NOW = datetime(2026, 10, 21, 7, 0, tzinfo=UTC)


@pytest.mark.parametrize(
    ("headers", "message", "seconds"),
    [
        ({"retry-after": "7"}, "", 7),
        ({"retry-after": "1.5"}, "", 1.5),
        ({"retry-after-ms": "1500"}, "", 1.5),
        ({"retry-after-ms": "1500", "retry-after": "9"}, "", 1.5),
        ({"retry-after": "Wed, 21 Oct 2026 07:28:00 GMT"}, "", 28 * 60),
        ({"retry-after": "Wed, 21 Oct 2026 07:28:00 GMT", "date": "Wed, 21 Oct 2026 07:27:30 GMT"}, "", 30),
        ({"retry-after": "Wed, 21 Oct 2020 07:28:00 GMT"}, "", 0),
        ({"retry-after": "86400"}, "", 86400),
        ({"retry-after": "-3"}, "", 0),
        ({"retry-after": "NaN"}, "", None),
        ({"retry-after": "inf"}, "", None),
        ({"retry-after": "soon"}, "", None),
        ({"retry-after": "Wed, 99 Oct 99999 07:28:00 GMT"}, "", None),
        ({}, "please retry after 25s", 25),
        ({}, "Please try again in 1m30.5s. Visit the page", 90.5),
        ({}, "try again in 250ms", 0.25),
        ({}, '{"retryDelay": "31s"}', 31),
        ({}, "Retry after 20 seconds", 20),
        ({}, "try again later", None),
        ({}, "", None),
    ],
)
def test_g02_12_waits_are_read(headers: dict[str, str], message: str, seconds: float | None) -> None:
    assert retry_after_seconds(headers, message, NOW) == seconds
