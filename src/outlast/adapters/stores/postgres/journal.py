"""Streams of events, their snapshots, and the payloads they refer to, as they are read."""

from __future__ import annotations

from collections.abc import Sequence

from outlast.adapters.stores.postgres.link import Link
from outlast.adapters.stores.postgres.queries import query
from outlast.ports.inventory import Stray
from outlast.ports.stream import EventRow, SnapshotRow

_READ_HEAD = query("read_head")
_READ_EVENTS = query("read_events")
_READ_SNAPSHOT = query("read_snapshot")
_READ_PAYLOADS = query("read_payloads")
_LIST_PAYLOADS = query("list_payloads")
_STRAY_STREAMS = query("stray_streams")
_STRAY_PAYLOADS = query("stray_payloads")


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


async def list_payloads(link: Link, stream: str) -> dict[str, int]:
    """The payloads a stream refers to, with their sizes."""
    return dict(await link.rows(_LIST_PAYLOADS, stream))


async def find_stray(link: Link) -> Stray:
    """Streams without events that refer to payloads, and payloads nobody else refers to."""
    streams = tuple(stream for (stream,) in await link.rows(_STRAY_STREAMS))
    return Stray(streams, dict(await link.rows(_STRAY_PAYLOADS)))
