"""Appending to a journal: events take the next positions, and everything that must hold with them rides in the same commit."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime

from outlast.domain.events import AnyEvent, Recorded
from outlast.journal.history import row_of
from outlast.ports.batch import Item
from outlast.ports.stream import Append, PutPayload


def placed(events: Sequence[AnyEvent], after: int, at: datetime) -> list[Recorded]:
    """Events at the positions that follow `after`."""
    return [Recorded(after + index, at, event) for index, event in enumerate(events, start=1)]


def items_to_append(stream: str, recorded: Sequence[Recorded], generation: int | None) -> list[Item]:
    """What to commit in order to append `recorded`, which begin right after where the stream is thought to end.

    The guarded append comes first, then the payloads that the events refer to.
    """
    rows = []
    payloads: dict[str, bytes] = {}
    for one in recorded:
        row, found = row_of(one)
        rows.append(row)
        if found:
            payloads.update(found)
    items: list[Item] = [Append(stream, recorded[0].position - 1, tuple(rows), generation)]
    if payloads:
        items += [PutPayload(stream, digest, content) for digest, content in payloads.items()]
    return items
