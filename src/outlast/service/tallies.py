"""The tallies of runs: from their rows, and where a row has none or its run has gone on since, from the journal."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator, Iterable
from copy import deepcopy
from dataclasses import field
from typing import Any, Final

from outlast.domain.dataclass import dataclass
from outlast.domain.states import WORKING
from outlast.journal.history import read_history
from outlast.ports.run_rows import RunRow
from outlast.ports.store import Store
from outlast.runs.tally import Tally, tally_in

MOST_READ: Final = 500
"""How many journals are read for one question; figures of further runs are as old as their rows."""

_MOST_KEPT: Final = 2_000
_EVENTS_AT_ONCE: Final = 1_000


@dataclass(slots=True)
class Tallied:
    """A run and what it used. `summary` is the object in its row."""

    row: RunRow
    summary: dict[str, Any]
    tally: Tally


@dataclass(slots=True)
class Tallies:
    """Tallies of runs in one store. What was read of a journal is read once."""

    store: Store
    _kept: dict[str, Tally] = field(default_factory=dict)

    async def of(self, rows: Iterable[RunRow]) -> AsyncIterator[Tallied]:
        """The rows with their tallies, in the same order, read up to now for the first MOST_READ that need it."""
        reads_left = MOST_READ
        for row in rows:
            summary = json.loads(row.summary)
            tally = self._known(row, summary)
            if reads_left and _needs_reading(row, tally):
                tally = await self._read_on(row.run_id, tally)
                reads_left -= 1
            yield Tallied(row, summary, tally)

    def _known(self, row: RunRow, summary: dict[str, Any]) -> Tally:
        """What is known without reading: by the row or by an earlier question, whichever is newer."""
        written, kept = tally_in(summary.get("tally")), self._kept.get(row.run_id)
        return kept if kept is not None and kept.position > written.position else written

    async def _read_on(self, run_id: str, known: Tally) -> Tally:
        tally = await _up_to_now(self.store, run_id, known)
        if len(self._kept) >= _MOST_KEPT:
            self._kept.clear()
        self._kept[run_id] = tally
        return tally


async def tally_of(store: Store, row: RunRow) -> Tally:
    """The tally of one run as it stands now."""
    tally = tally_in(json.loads(row.summary).get("tally"))
    return await _up_to_now(store, row.run_id, tally) if _needs_reading(row, tally) else tally


async def _up_to_now(store: Store, run_id: str, known: Tally) -> Tally:
    """A tally with what has happened since."""
    tally = deepcopy(known)
    while news := await read_history(store, run_id, tally.position, _EVENTS_AT_ONCE):
        for recorded in news:
            tally.fold(recorded)
    return tally


def _needs_reading(row: RunRow, tally: Tally) -> bool:
    """Is a run at work, or was it never counted? The row of one that stands still or has ended was written with its last event."""
    return row.state in WORKING or not tally.position
