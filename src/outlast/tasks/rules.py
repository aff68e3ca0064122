"""The pace of tasks: how long to wait for what, within which bounds."""

from __future__ import annotations

import math
from collections.abc import Callable
from datetime import datetime, timedelta
from typing import Final

from outlast.domain.background import BackgroundTask
from outlast.domain.dataclass import dataclass

LEAST_WAIT_SECONDS: Final = 0.05
"""Nothing is asked for sooner, whatever a server says."""

FORGOTTEN_WAIT_SECONDS: Final = 10.0
"""How long to wait before a server that does not know a task is asked again: a deploy may be under way."""

TIMES_FORGOTTEN: Final = 3
"""How often a server must say that it does not know a task before it is lost."""

BUSY_WAIT_SECONDS: Final = 30.0
"""When to look again at a conversation whose run is at work; the end of that run is what wakes us, this is the net below it."""

CANCEL_AGAIN_SECONDS: Final = 60.0
"""How long a server may work on after it took a wish to cancel before it is told again."""

RESEND_POLLS: Final = 3
"""How often a server may go on asking after it was sent an answer before it is sent again."""

_MOST_DOUBLINGS: Final = 16
_JITTER: Final = 0.1
_TTL_SHARE: Final = 0.33
_DAY_SECONDS: Final = 86_400.0


@dataclass(frozen=True, slots=True, kw_only=True)
class TaskRules:
    """How tasks are followed. `call_seconds` is the deadline of one call to it."""

    poll_interval_seconds: float = 5.0
    max_backoff_seconds: float = 300.0
    lease_seconds: float = 30.0
    call_seconds: float = 30.0
    max_attempts: int = 5
    degraded_after_errors: int = 3
    retention_days: float = 30.0


RulesOf = Callable[[BackgroundTask], TaskRules]
"""The rules a task is followed by."""


@dataclass(frozen=True, slots=True)
class Moment:
    """When something is decided, and the chance, from 0 to 1, that spreads what is decided at the same time."""

    now: datetime
    chance: float = 0.5

    def after(self, seconds: float) -> datetime:
        """The time so many seconds later."""
        return self.now + timedelta(seconds=seconds)


def poll_wait_seconds(
    asked_seconds: float | None,
    ttl_seconds: float | None,
    rules: TaskRules,
    moment: Moment,
    *,
    errors: int = 0,
    at_least_seconds: float | None = None,
) -> float:
    """How long until a task is asked for again.

    The longest of the server's wish, the configured minimum, the wait after `errors` in a row and `at_least_seconds`, within 50 ms
    and the configured maximum, spread by a tenth; but less than a third of the server's ttl, so that asking keeps the task alive.
    """
    interval = max(usable_seconds(asked_seconds) or 0.0, rules.poll_interval_seconds)
    wait = max(
        backoff_seconds(interval, errors, rules) if errors else interval,
        usable_seconds(at_least_seconds) or 0.0,
    )
    wait = _within(_within(wait, rules) * (1 - _JITTER + 2 * _JITTER * moment.chance), rules)
    ttl = usable_seconds(ttl_seconds)
    return wait if ttl is None else max(min(wait, ttl * _TTL_SHARE), LEAST_WAIT_SECONDS)


def backoff_seconds(interval_seconds: float, failures: int, rules: TaskRules) -> float:
    """How long to wait after so many failures in a row: doubling, up to the configured maximum."""
    grown = interval_seconds * 2.0 ** min(failures, _MOST_DOUBLINGS)
    return min(grown, rules.max_backoff_seconds)


def retry_wait_seconds(failures: int, rules: TaskRules, moment: Moment, asked: float | None = None) -> float:
    """How long until a cancel or a notification that failed is tried again, spread by a tenth."""
    wait = max(backoff_seconds(rules.poll_interval_seconds, failures, rules), usable_seconds(asked) or 0.0)
    return _within(_within(wait, rules) * (1 - _JITTER + 2 * _JITTER * moment.chance), rules)


def retention_seconds(rules: TaskRules) -> float:
    """How long an ended task is kept."""
    return rules.retention_days * _DAY_SECONDS


def usable_seconds(seconds: float | None) -> float | None:
    """A length of time a server has named, None when it is none."""
    if seconds is None or not math.isfinite(seconds) or seconds <= 0:
        return None
    return seconds


def _within(seconds: float, rules: TaskRules) -> float:
    return min(max(seconds, LEAST_WAIT_SECONDS), max(rules.max_backoff_seconds, LEAST_WAIT_SECONDS))
