"""How long a server asks to wait, in every form servers use."""

from __future__ import annotations

import math
import re
from collections.abc import Mapping
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from typing import Final

_UNIT_SECONDS: Final = {"ms": 0.001, "s": 1.0, "m": 60.0, "h": 3600.0}
_NUMBER: Final = r"\d+(?:\.\d+)?"
_IN_WORDS: Final = re.compile(
    rf"(?:retry|try again|retrydelay)\W+(?:after|in)?\W*((?:{_NUMBER}\s*(?:ms|s|m|h)[a-z]*\s*)+)",
    re.IGNORECASE,
)
_PART: Final = re.compile(rf"({_NUMBER})\s*(ms|s|m|h)", re.IGNORECASE)


def retry_after_seconds(headers: Mapping[str, str], message: str, now: datetime) -> float | None:
    """The wait the server wishes, in seconds, never negative; None when it states none that can be read.

    Read from `retry-after-ms`, from `Retry-After` in seconds, fractions or as an HTTP date (counted from the
    server's own `Date`, else from `now`; past dates mean at once), else from words such as "try again in
    1m30s" in `message`. `headers` are looked up in lower case. It may be very long: what to do with a long
    wait is the caller's decision.
    """
    milliseconds = _seconds(headers.get("retry-after-ms", ""))
    if milliseconds is not None:
        return milliseconds / 1000
    stated = headers.get("retry-after", "")
    seconds = _seconds(stated)
    if seconds is not None:
        return seconds
    at = _date(stated)
    if at is not None:
        return max(0.0, (at - (_date(headers.get("date", "")) or now)).total_seconds())
    return _in_words(message)


def _seconds(text: str) -> float | None:
    try:
        value = float(text)
    except ValueError:
        return None
    return max(0.0, value) if math.isfinite(value) else None


def _date(text: str) -> datetime | None:
    try:
        at = parsedate_to_datetime(text)
    except (ValueError, TypeError, IndexError, OverflowError):
        return None
    return at if at.tzinfo else at.replace(tzinfo=UTC)


def _in_words(message: str) -> float | None:
    found = _IN_WORDS.search(message)
    if not found:
        return None
    return sum(float(amount) * _UNIT_SECONDS[unit.lower()] for amount, unit in _PART.findall(found.group(1)))
