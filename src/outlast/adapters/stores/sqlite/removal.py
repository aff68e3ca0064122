"""Deleting runs and threads with all that is theirs alone."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Iterable

from outlast.adapters.stores.sqlite.queries import query
from outlast.adapters.stores.sqlite.session import REMOVAL, Session
from outlast.ports.batch import Guard
from outlast.ports.inventory import Stray
from outlast.ports.run_rows import DeleteRun
from outlast.ports.stream import SweepPayloads
from outlast.ports.thread_rows import DeleteThread

_RUN_TO_DELETE = query("run_to_delete")
_DELETE_RUN = query("delete_run")
_DELETE_ENTRY = query("delete_entry")
_DELETE_THREAD = query("delete_thread_without_runs")
_READ_HEAD = query("read_head")
_READ_THREAD = query("read_thread")
_DELETE_EVENTS = query("delete_events")
_DELETE_SNAPSHOT = query("delete_snapshot")
_DROP_REFERENCES = query("drop_payload_references")
_DROP_PAYLOADS = query("drop_payloads_if_unreferenced")
_LIST_PAYLOADS = query("list_payloads")
_STRAY_STREAMS = query("stray_streams")
_STRAY_PAYLOADS = query("stray_payloads")


def delete_run(session: Session, item: DeleteRun) -> Guard | None:
    """Delete a run that has ended where it is thought to end."""
    found = session.run(_RUN_TO_DELETE, run_id=item.run_id).fetchone()
    if found is None:
        return Guard.MISSING
    is_active, head = found
    if is_active or head != item.at:
        return Guard.ACTIVE if is_active else Guard.POSITION
    session.run(_DELETE_RUN, run_id=item.run_id)
    session.run(_DELETE_ENTRY, queue="runs", item=item.run_id)
    _delete_stream(session, item.run_id)
    return None


def delete_thread(session: Session, item: DeleteThread) -> Guard | None:
    """Delete a thread that has no run."""
    if session.run(_DELETE_THREAD, thread_id=item.thread_id).rowcount == 0:
        found = session.run(_READ_THREAD, thread_id=item.thread_id).fetchone()
        return Guard.MISSING if found is None else Guard.THREAD_BUSY
    _delete_stream(session, item.thread_id)
    return None


def sweep_payloads(session: Session, item: SweepPayloads) -> None:
    """Delete what streams without events hold, and payloads that nothing holds."""
    digests = set(item.digests)
    for stream in item.streams:
        if session.value(_READ_HEAD, stream=stream) == 0:
            session.run(_DELETE_SNAPSHOT, stream=stream)
            digests.update(_dropped_references(session, stream))
    _drop_payloads(session, digests)


def list_payloads(connection: sqlite3.Connection, stream: str) -> dict[str, int]:
    """The payloads a stream refers to, with their sizes."""
    return dict(connection.execute(_LIST_PAYLOADS, {"stream": stream}).fetchall())


def find_stray(connection: sqlite3.Connection) -> Stray:
    """Streams without events that refer to payloads, and payloads nobody else refers to."""
    streams = tuple(stream for (stream,) in connection.execute(_STRAY_STREAMS))
    return Stray(streams, dict(connection.execute(_STRAY_PAYLOADS).fetchall()))


def _delete_stream(session: Session, stream: str) -> None:
    session.run(_DELETE_EVENTS, stream=stream)
    session.run(_DELETE_SNAPSHOT, stream=stream)
    _drop_payloads(session, _dropped_references(session, stream))
    session.touched.add(REMOVAL)


def _dropped_references(session: Session, stream: str) -> list[str]:
    return [digest for (digest,) in session.run(_DROP_REFERENCES, stream=stream).fetchall()]


def _drop_payloads(session: Session, digests: Iterable[str]) -> None:
    session.run(_DROP_PAYLOADS, digests=json.dumps(list(digests)))
