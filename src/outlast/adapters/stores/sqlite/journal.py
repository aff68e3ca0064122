"""Streams of events, their snapshots, and the payloads they refer to."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Sequence

from outlast.adapters.stores.sqlite.queries import append_events, query
from outlast.adapters.stores.sqlite.session import Session
from outlast.adapters.stores.times import from_micros, to_micros
from outlast.ports.batch import Guard
from outlast.ports.stream import Append, CopyPayloads, EventRow, PutPayload, PutSnapshot, SnapshotRow

_READ_HEAD = query("read_head")
_READ_EVENTS = query("read_events")
_IS_LEASE_HELD = query("is_lease_held")
_PUT_SNAPSHOT = query("put_snapshot_if_newer")
_READ_SNAPSHOT = query("read_snapshot")
_PUT_PAYLOAD = query("put_payload_if_absent")
_REFER_TO_PAYLOAD = query("refer_to_payload")
_COPY_PAYLOADS = query("copy_payload_references")
_READ_PAYLOADS = query("read_payloads")

_EVENTS_A_STATEMENT = 500
"""Four parameters each stay well under SQLite's 32,766 a statement."""


def append_if_at(session: Session, item: Append) -> Guard | None:
    """Append in one statement that carries both guards; only an append of more than 500 events takes more."""
    after = session.value(_READ_HEAD, stream=item.stream) if item.after is None else item.after
    if not item.events:
        return _failed_guard(session, item, after)
    for start in range(0, len(item.events), _EVENTS_A_STATEMENT):
        part = item.events[start : start + _EVENTS_A_STATEMENT]
        values: list[object] = [item.stream, after + start, item.queue, item.generation]
        for event in part:
            values += (event.kind, event.version, to_micros(event.at), event.body)
        cursor = session.run_by_place(append_events(len(part)), values)
        if cursor.rowcount == 0:
            return _failed_guard(session, item, after) or Guard.POSITION
        session.appended(cursor.lastrowid or 0, len(part))
    return None


def _failed_guard(session: Session, item: Append, after: int) -> Guard | None:
    if session.value(_READ_HEAD, stream=item.stream) != after:
        return Guard.POSITION
    if item.generation is not None and not session.value(
        _IS_LEASE_HELD, queue=item.queue, item=item.stream, generation=item.generation
    ):
        return Guard.GENERATION
    return None


def put_snapshot(session: Session, item: PutSnapshot) -> None:
    """Keep the snapshot unless a newer one is there."""
    session.run(
        _PUT_SNAPSHOT,
        stream=item.stream,
        position=item.position,
        fold_version=item.fold_version,
        body=item.body,
    )


def put_payload(session: Session, item: PutPayload) -> None:
    """Keep the content once and a reference to it from the stream."""
    session.run(_PUT_PAYLOAD, digest=item.digest, content=item.content)
    session.run(_REFER_TO_PAYLOAD, stream=item.stream, digest=item.digest)


def copy_payloads(session: Session, item: CopyPayloads) -> Guard | None:
    """Let the target refer to all that the source refers to."""
    if session.value(_READ_HEAD, stream=item.source) == 0:
        return Guard.MISSING
    session.run(_COPY_PAYLOADS, source=item.source, target=item.target)
    return None


def read_events(connection: sqlite3.Connection, stream: str, after: int, limit: int | None) -> list[EventRow]:
    """Events of a stream in order."""
    wanted = {"stream": stream, "after": after, "limit": -1 if limit is None else limit}
    found = connection.execute(_READ_EVENTS, wanted)
    return [
        EventRow(position, kind, version, from_micros(at), body)
        for position, kind, version, at, body in found
    ]


def read_head(connection: sqlite3.Connection, stream: str) -> int:
    """The last position of a stream, 0 when it has none."""
    head: int = connection.execute(_READ_HEAD, {"stream": stream}).fetchone()[0]
    return head


def read_snapshot(connection: sqlite3.Connection, stream: str) -> SnapshotRow | None:
    """The newest snapshot of a stream."""
    found = connection.execute(_READ_SNAPSHOT, {"stream": stream}).fetchone()
    return found and SnapshotRow(*found)


def read_payloads(connection: sqlite3.Connection, digests: Sequence[str]) -> dict[str, bytes]:
    """The contents that are there, by digest."""
    wanted = {"digests": json.dumps(list(digests))}
    return dict(connection.execute(_READ_PAYLOADS, wanted).fetchall())
