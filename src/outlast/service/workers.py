"""Who is there to take runs as they become due, and how it waits for a store that is not there yet."""

from __future__ import annotations

import asyncio
import random
from collections.abc import Awaitable, Callable
from typing import Final

from outlast.domain.errors import Broken
from outlast.ports.store import Store
from outlast.runs.seat import WORKERS

LONGEST_PAUSE_SECONDS: Final = 5.0
"""A store that is away is tried this often at least."""

_FIRST_PAUSE_SECONDS: Final = 0.1


async def holders_of_seats(store: Store) -> list[str]:
    """The workers that take whatever is due, by the texts of their leases. One that was killed is among them until its lease ends."""
    return [entry.holder for entry in await store.list_leases(WORKERS) if entry.holder is not None]


async def open_when_there(
    open_store: Callable[[], Awaitable[None]],
    tell: Callable[[str], None],
    pause: Callable[[float], Awaitable[None]] = asyncio.sleep,
) -> None:
    """Open a store, waiting for as long as it takes where its server is away.

    It is tried ever less often, and `tell` hears of the first, second, fourth, eighth try and so on, so that a night makes a dozen
    lines; and once more when the store is there. What no waiting changes (`store_refused` and all else) is raised at once.
    """
    tries, seconds = 0, _FIRST_PAUSE_SECONDS
    while True:
        try:
            await open_store()
        except Broken as trouble:
            if trouble.code != "store_unavailable":
                raise
            tries += 1
            if tries & (tries - 1) == 0:
                tell(f"Waiting for the store (try {tries}): {trouble.detail} {trouble.next_step}")
        else:
            if tries:
                tell("The store is there.")
            return
        await pause(seconds * random.uniform(0.5, 1.0))  # noqa: S311 - spreads workers, hides nothing
        seconds = min(2 * seconds, LONGEST_PAUSE_SECONDS)
