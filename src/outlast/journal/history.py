"""Reading a journal: rows of text to events in their places."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import partial

from outlast.domain.events import KINDS, AnyEvent, Recorded
from outlast.journal.codec import decode, encode, payloads_named_in
from outlast.journal.upcast import is_present, upcast
from outlast.ports.store import Store
from outlast.ports.stream import EventRow


async def read_history(store: Store, stream: str, after: int = 0, limit: int | None = None) -> list[Recorded]:
    """The events of a stream after a position, in order, with their payloads."""
    rows = await store.read_events(stream, after, limit)
    digests = [digest for row in rows for digest in payloads_named_in(row.body)]
    payloads = await store.read_payloads(digests) if digests else {}
    return recorded_from(rows, payloads)


def recorded_from(rows: Sequence[EventRow], payloads: Mapping[str, bytes]) -> list[Recorded]:
    """The events that rows hold. Raises Broken (`journal_damaged`, `journal_newer`) for a row that cannot be read."""
    return [Recorded(row.position, row.at, _event_in(row, payloads)) for row in rows]


def row_of(recorded: Recorded) -> tuple[EventRow, dict[str, bytes]]:
    """An event as a row, and the payloads it refers to."""
    event = recorded.event
    body, payloads = encode(event)
    return EventRow(recorded.position, type(event).__name__, event.VERSION, recorded.at, body), payloads


def _event_in(row: EventRow, payloads: Mapping[str, bytes]) -> AnyEvent:
    is_old = not is_present(row.kind, row.version)
    event: AnyEvent = decode(
        KINDS[row.kind], row.body, payloads, partial(upcast, row.kind, row.version) if is_old else None
    )
    return event
