"""How idle workers keep out of one another's way: all of them hear that something is due, and one is enough to take it.

Whoever hears of it holds back by chance, the longer the more workers there are, and then looks before it claims. The first of a
thousand comes after milliseconds; the others find that nothing is due any more, for the price of a look. The slower the store
answers claims, the further apart they come, so that a crowd does not make a slow store slower.
"""

from __future__ import annotations

from datetime import timedelta
from typing import Final

SAFETY_POLL_SECONDS: Final = 5.0
"""What is due is looked for this often even when nobody tells of it."""

APART_SECONDS: Final = 0.001
"""How far apart workers come on average, at least: about as long as the first takes from its look to a claim that others see."""

MOST_SECONDS: Final = 2.0
"""Nobody holds back longer."""

MOST_WORKERS: Final = 500
"""Nobody counts further."""

COUNT_SECONDS: Final = 60.0
"""How long a worker goes by the number of workers it has counted."""


def hold_back_seconds(workers: int, claim_seconds: float, chance: float) -> float:
    """How long to hold back among so many workers, oneself included; a worker alone does not.

    `claim_seconds` is how long the last claim took, `chance` is from 0 to 1.
    """
    others = min(workers, MOST_WORKERS) - 1
    return min(max(others, 0) * max(claim_seconds, APART_SECONDS), MOST_SECONDS) * chance


def is_found_in_time(due_in: timedelta) -> bool:
    """Is something due so late that every idle worker looks before, without being told? Twice their interval, for slow ones."""
    return due_in.total_seconds() > 2 * SAFETY_POLL_SECONDS
