"""The runs of a period, found without reading the rows of all runs there are."""

from __future__ import annotations

from dataclasses import replace
from datetime import datetime
from typing import Final

from outlast.domain.dataclass import dataclass
from outlast.ports.run_rows import RunFilter, RunRow
from outlast.ports.store import Store

FIRST_LOOK: Final = 500
"""How many rows are read at first; a longer period takes further looks, each at five times as many."""


@dataclass(frozen=True, slots=True)
class Period:
    """Which runs are meant: those of a user (None: everybody's) that began since a time, of one task if it is named."""

    user_id: str | None
    since: datetime
    task: str | None = None


async def rows_of(store: Store, period: Period, most: int) -> tuple[list[RunRow], bool]:
    """The rows of a period, newest first, of the newest `most` runs; and whether these are all."""
    return await began_since(store, RunFilter(user_id=period.user_id, task=period.task), period.since, most)


async def began_since(
    store: Store, wanted: RunFilter, since: datetime | None, most: int
) -> tuple[list[RunRow], bool]:
    """The rows of the newest `most` runs that are wanted, as far as they began since a time (None: whenever), newest first; and
    whether these are all."""
    limit = most if since is None else min(FIRST_LOOK, most)
    while True:
        rows = await store.list_runs(replace(wanted, limit=limit))
        is_whole = len(rows) < limit or (bool(rows) and since is not None and rows[-1].created_at < since)
        if is_whole or limit >= most:
            return [row for row in rows if since is None or row.created_at >= since], is_whole
        limit = min(limit * 5, most)
