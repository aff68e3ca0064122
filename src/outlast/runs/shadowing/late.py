"""Recording comparisons that outlast the work on their run."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from outlast.domain.events import ShadowCompared
from outlast.journal.append import items_to_append, placed
from outlast.ports.batch import Committed, Guard
from outlast.ports.store import Store

MAX_RACES: Final = 50


async def append_late(store: Store, run_id: str, events: Sequence[ShadowCompared]) -> None:
    """Append comparisons wherever the journal of a run ends by now, whoever holds it; nothing where the run was deleted meanwhile.

    A worker that is at work on it meets them as it does signals. Raises Broken as the store does.
    """
    for _ in range(MAX_RACES if events else 0):
        head = await store.read_head(run_id)
        if not head:
            return
        recorded = placed(events, head, await store.now())
        written = await store.commit(items_to_append(run_id, recorded, None))
        if isinstance(written, Committed) or written.guard is not Guard.POSITION:
            return
