"""What Redis answers, as the port says it."""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from typing import Any

from outlast.adapters.stores.times import from_micros, from_micros_or_none
from outlast.ports.batch import Committed, Guard, Refused
from outlast.ports.queue import Claim, QueueEntry
from outlast.ports.run_rows import RunRow
from outlast.ports.stream import EventRow, SnapshotRow
from outlast.ports.task_rows import TaskRow
from outlast.ports.thread_rows import ThreadRow

Found = list[bytes]
"""A hash as the server lists it: field, value, field, value."""

ENTRY_FIELDS = ("generation", "due_at", "holder", "until", "note")
SNAPSHOT_FIELDS = ("position", "fold_version", "body")

_COMMITTED = Committed()


def commit_answer(reply: Any, queues: Sequence[str]) -> Committed | Refused:
    """The answer of the commit script to a batch that claims from `queues`."""
    if reply == 1:
        return _COMMITTED
    if reply[0] == 1:
        taken = itertools.starmap(claims, zip(queues, reply[1:], strict=True))
        return Committed(tuple(itertools.chain.from_iterable(taken)))
    guard, index = reply
    return Refused(Guard(guard.decode()), index)


def event(position: int, found: bytes) -> EventRow:
    """The event at a position of a stream."""
    head, _, rest = found.partition(b"\n")
    version, at, length = map(int, head.split(b" "))
    return EventRow(position, rest[:length].decode(), version, from_micros(at), rest[length:].decode())


def snapshot(found: Sequence[bytes | None]) -> SnapshotRow | None:
    """A snapshot from its SNAPSHOT_FIELDS."""
    position, fold_version, body = found
    if position is None or fold_version is None or body is None:
        return None
    return SnapshotRow(int(position), int(fold_version), body.decode())


def run(run_id: str, found: Found) -> RunRow | None:
    """The row of a run; None when there is none."""
    if not found:
        return None
    row = _texts(found)
    return RunRow(
        run_id=run_id,
        thread_id=row["thread_id"],
        user_id=row["user_id"],
        task=row["task"],
        state=row["state"],
        is_active=row["is_active"] == "1",
        created_at=from_micros(int(row["created_at"])),
        updated_at=from_micros(int(row["updated_at"])),
        summary=row["summary"],
        key=row.get("key"),
        outcome=row.get("outcome"),
        min_reader=int(row["min_reader"]),
    )


def named_run(reply: tuple[bytes, Found] | tuple[()]) -> RunRow | None:
    """A run with its id, as scripts list it."""
    return run(reply[0].decode(), reply[1]) if reply else None


def thread(thread_id: str, found: Found) -> ThreadRow | None:
    """The row of a thread; None when there is none."""
    if not found:
        return None
    row = _texts(found)
    return ThreadRow(
        thread_id=thread_id,
        user_id=row["user_id"],
        title=row["title"],
        created_at=from_micros(int(row["created_at"])),
    )


def task(task_id: str, found: Found) -> TaskRow | None:
    """The row of a background task; None when there is none."""
    if not found:
        return None
    row = _texts(found)
    return TaskRow(
        task_id=task_id,
        user_id=row["user_id"],
        thread_id=row["thread_id"],
        run_id=row["run_id"],
        name=row["name"],
        server=row["server"],
        remote_id=row.get("remote_id"),
        status=row["status"],
        tracking=row["tracking"],
        notification=row["notification"],
        is_open=row["is_open"] == "1",
        event_version=int(row["event_version"]),
        notified_version=int(row["notified_version"]),
        created_at=from_micros(int(row["created_at"])),
        updated_at=from_micros(int(row["updated_at"])),
        body_version=int(row["body_version"]),
        body=row["body"],
        revision=int(row["revision"]),
    )


def claims(queue: str, reply: Sequence[Any]) -> list[Claim]:
    """The leases that the claim script has given out."""
    now, until, *taken = reply
    store_now, ends = from_micros(int(now)), from_micros(int(until))
    return [
        Claim(queue, item.decode(), generation, ends, store_now, attempts)
        for item, generation, attempts in taken
    ]


def entry(queue: str, item: str, found: Sequence[bytes | None]) -> QueueEntry | None:
    """An entry from its ENTRY_FIELDS."""
    generation, due_at, holder, until, note = found
    if generation is None or note is None:
        return None
    return QueueEntry(
        queue,
        item,
        from_micros_or_none(None if due_at is None else int(due_at)),
        int(generation),
        None if holder is None else holder.decode(),
        from_micros_or_none(None if until is None else int(until)),
        note.decode(),
    )


def micros(reply: Sequence[bytes]) -> int:
    """The server's time."""
    seconds, rest = map(int, reply)
    return seconds * 1_000_000 + rest


def first_score(reply: Sequence[bytes]) -> int | None:
    """The score of the first member of a sorted set, listed with scores."""
    return int(float(reply[1])) if reply else None


def _texts(found: Found) -> dict[str, str]:
    return {name.decode(): value.decode() for name, value in zip(found[::2], found[1::2], strict=True)}
