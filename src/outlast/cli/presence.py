"""Is somebody there to work on a run?"""

from __future__ import annotations

import asyncio
from typing import Final

from outlast.ports.store import Store
from outlast.service.show import holder_of
from outlast.wiring.identity import is_surely_gone

PATIENCE_SECONDS: Final = 0.5
"""How long a worker that sits idle is given to take up what has become due."""


async def is_held(store: Store, run_id: str) -> bool:
    """Does a worker that is not known to be gone hold the run?"""
    held = await holder_of(store, run_id)
    return held.holder is not None and not is_surely_gone(held.holder)


async def is_taken_up(store: Store, run_id: str, patience_seconds: float = PATIENCE_SECONDS) -> bool:
    """Does a worker hold the run, or take it up within `patience_seconds`?"""
    position = await store.read_head(run_id)
    watch = store.watch([run_id])
    try:
        async with asyncio.timeout(patience_seconds):
            # A short run may be over before it is looked at: then its journal has grown.
            while not await is_held(store, run_id) and await store.read_head(run_id) == position:
                await watch.wait(patience_seconds)
        return True
    except TimeoutError:
        return False
    finally:
        watch.stop()
