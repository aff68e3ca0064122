"""Is somebody there to work on a run?"""

from __future__ import annotations

from outlast.ports.store import Store
from outlast.service.show import holder_of
from outlast.service.workers import holders_of_seats
from outlast.wiring.identity import as_name, is_surely_gone, read_holder


async def live_workers(store: Store) -> list[str]:
    """The names of the workers that take whatever is due, without those that are known to be gone."""
    names = []
    for holder in await holders_of_seats(store):
        if not is_surely_gone(holder):
            identity = read_holder(holder)
            names.append(as_name(identity) if identity is not None else holder)
    return sorted(names)


async def is_seen_to(store: Store, run_id: str) -> bool:
    """Does somebody work on the run, or is a worker there that takes it when it is due?

    Ask after what makes it due was committed: a worker that is about to end leaves its seat before it looks for the last time.
    """
    held = await holder_of(store, run_id)
    if held.holder is not None and not is_surely_gone(held.holder):
        return True
    return bool(await live_workers(store))
