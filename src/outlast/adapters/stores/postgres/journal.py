"""Streams of events, their snapshots, and the payloads they refer to, as they are read."""

from __future__ import annotations

from collections.abc import Sequence

from outlast.adapters.stores.postgres.link import Link
from outlast.adapters.stores.postgres.queries import query
from outlast.ports.store import EventRow, SnapshotRow

_READ_HEAD = query("read_head")
_READ_EVENTS = query("read_events")
_READ_SNAPSHOT = query("read_snapshot")
_READ_PAYLOADS = query("read_payloads")


async def read_events(link: Link, stream: str, after: int, limit: int | None) -> list[EventRow]:
    """Events of a stream in order."""
    return [EventRow(*row) for row in await link.rows(_READ_EVENTS, stream, after, limit)]


async def read_head(link: Link, stream: str) -> int:
    """The last position of a stream, 0 when it has none."""
    head: int | None = await link.value(_READ_HEAD, stream)
    return head or 0


async def read_snapshot(link: Link, stream: str) -> SnapshotRow | None:
    """The newest snapshot of a stream."""
    found = await link.row(_READ_SNAPSHOT, stream)
    return None if found is None else SnapshotRow(*found)


async def read_payloads(link: Link, digests: Sequence[str]) -> dict[str, bytes]:
    """The contents that are there, by digest."""
    return dict(await link.rows(_READ_PAYLOADS, list(digests)))
