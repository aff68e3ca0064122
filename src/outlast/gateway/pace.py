"""How fast one user may ask: a bucket that fills steadily and is emptied by a request a piece.

Each gateway has buckets of its own: they protect the machine it runs on. What a user may spend over all machines is bounded by
limits on runs and by `harness.max_runs_per_user`.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Final

from outlast.gateway.problems import Refusal

MOST_BUCKETS: Final = 10_000
"""How many users are remembered; beyond it those whose buckets are full are forgotten, which changes nothing for them."""


class Pace:
    """At most `per_second` requests a second of a user, `burst` at once. `clock` gives seconds that never go back."""

    def __init__(self, per_second: float, burst: int, clock: Callable[[], float]) -> None:
        self._per_second = per_second
        self._burst = burst
        self._clock = clock
        self._buckets: dict[str, tuple[float, float]] = {}

    def spend(self, user: str) -> None:
        """Count a request. Raises Refusal (`too_many_requests`) with the seconds to wait."""
        now = self._clock()
        left = self._left(user, now) - 1.0
        if left < 0:
            wait = math.ceil(-left / self._per_second)
            detail = f"More than {self._per_second:g} requests a second came from you."
            raise Refusal(
                "too_many_requests", detail, f"Wait {wait} s.", status=429, headers={"Retry-After": str(wait)}
            )
        if len(self._buckets) >= MOST_BUCKETS:
            self._buckets = {
                one: at for one, at in self._buckets.items() if self._left(one, now) < self._burst
            }
        self._buckets[user] = (left, now)

    def _left(self, user: str, now: float) -> float:
        left, at = self._buckets.get(user, (float(self._burst), now))
        return min(self._burst, left + (now - at) * self._per_second)
