"""Who is there to take runs as they become due."""

from __future__ import annotations

from outlast.ports.store import Store
from outlast.runs.seat import WORKERS


async def holders_of_seats(store: Store) -> list[str]:
    """The workers that take whatever is due, by the texts of their leases. One that was killed is among them until its lease ends."""
    return [entry.holder for entry in await store.list_leases(WORKERS) if entry.holder is not None]
