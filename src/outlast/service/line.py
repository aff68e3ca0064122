"""The line of a thread as doors see it."""

from __future__ import annotations

from outlast.ports.store import Store
from outlast.runs.line import IN_LINE, ahead_of

__all__ = ["IN_LINE", "run_ahead"]


async def run_ahead(store: Store, run_id: str) -> str | None:
    """The run for whose end a run in line waits; None when its turn has come, or there is no such run."""
    row = await store.read_run(run_id)
    return None if row is None else await ahead_of(store, row.thread_id, run_id)
