"""Reading and writing what happened to credentials: a stream of its own, whose name no run and no thread can have."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from typing import Final

from outlast.domain.access import ACCESS_EVENTS, AccessEvent
from outlast.domain.errors import Broken
from outlast.journal.codec import decode, encode
from outlast.ports.store import Store
from outlast.ports.stream import Append, EventRow

ACCESS: Final = "/access"
"""The stream. A name with a slash is no id."""


async def read_access(store: Store, after: int) -> list[tuple[int, datetime, AccessEvent]]:
    """What happened after a position, in order, each with its position and time. Raises Broken (`journal_newer`)."""
    rows = await store.read_events(ACCESS, after)
    return [(row.position, row.at, _event(row)) for row in rows]


def access_items(events: Sequence[AccessEvent], after: int | None, at: datetime) -> Append:
    """The item that tells what happened; with `after` only if nothing happened since that position."""
    rows = (EventRow(1, type(event).__name__, event.VERSION, at, encode(event)[0]) for event in events)
    return Append(ACCESS, after, tuple(rows))


def _event(row: EventRow) -> AccessEvent:
    kind = ACCESS_EVENTS.get(row.kind)
    if kind is None or row.version > kind.VERSION:
        detail = f"The stream of credentials has {row.kind} in version {row.version}, which this version does not know."
        raise Broken("journal_newer", detail, "Upgrade outlast on this machine.")
    event: AccessEvent = decode(kind, row.body, {})
    return event
