"""Appending to a journal: events take the next positions, and everything that must hold with them rides in the same commit."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime

from outlast.domain.events import AnyEvent, Recorded
from outlast.domain.quick import quick
from outlast.journal.history import row_of
from outlast.ports.batch import Item
from outlast.ports.stream import Append, PutPayload


def placed(events: Sequence[AnyEvent], after: int, at: datetime) -> list[Recorded]:
    """Events at the positions that follow `after`."""
    return [Recorded(after + index, at, event) for index, event in enumerate(events, start=1)]


@quick
@dataclass(frozen=True, slots=True)
class Prepared:
    """The items of a commit that append events to a stream, the guarded append first."""

    items: tuple[Item, ...]


def prepare(stream: str, recorded: Sequence[Recorded], generation: int | None) -> Prepared:
    """What to commit in order to append `recorded`, which begin right after where the stream is thought to end."""
    rows = []
    payloads: dict[str, bytes] = {}
    for one in recorded:
        row, found = row_of(one)
        rows.append(row)
        payloads.update(found)
    append = Append(stream, recorded[0].position - 1, tuple(rows), generation)
    return Prepared((append, *(PutPayload(stream, digest, content) for digest, content in payloads.items())))
