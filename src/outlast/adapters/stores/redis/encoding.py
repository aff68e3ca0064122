"""What the port says, as the arguments of scripts. Whatever no store holds is refused here, before anything is sent."""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Sequence
from datetime import datetime
from typing import assert_never

from outlast.adapters.stores.times import to_micros
from outlast.domain.errors import CallerMistake
from outlast.ports.batch import Item
from outlast.ports.queue import ClaimDue, Enqueue, Release, Shares
from outlast.ports.run_rows import DeleteRun, InsertRun, RunRow, UpdateRun
from outlast.ports.stream import Append, CopyPayloads, EventRow, PutPayload, PutSnapshot, SweepPayloads
from outlast.ports.task_rows import DeleteTask, InsertTask, TaskFilter, TaskRow, UpdateTask
from outlast.ports.thread_rows import DeleteThread, InsertThread

_MOST_BYTES = 512 << 20
"""What Redis takes as one value; more ends the connection."""


def arguments(batch: Sequence[Item]) -> tuple[bytes, ...]:
    """The items as the commit script takes them. Raises CallerMistake (`not_storable`)."""
    found = tuple(itertools.chain.from_iterable(map(_item, batch)))
    if sum(map(len, found)) > _MOST_BYTES:
        raise _not_storable("a batch of more than 512 MiB")
    return found


def text(value: str) -> bytes:
    """Text as bytes. Raises CallerMistake (`not_storable`) for a lone surrogate."""
    try:
        return value.encode()
    except UnicodeEncodeError as error:
        raise _not_storable(str(error)) from error


def number(value: int) -> bytes:
    """A number as its digits. Raises CallerMistake (`not_storable`) beyond 64 bits."""
    if not -(1 << 63) <= value < 1 << 63:
        raise _not_storable("a number beyond 64 bits")
    return b"%d" % value


def event_text(event: EventRow) -> bytes:
    """An event as one text: version, time and the length of its kind, then kind and body as they are."""
    kind = text(event.kind)
    return b"%b %d %d\n%b%b" % (number(event.version), to_micros(event.at), len(kind), kind, text(event.body))


def optional(value: bytes | None) -> bytes:
    """Empty for None, else the value behind a mark."""
    return b"" if value is None else b"=" + value


def number_or_none(value: int | None) -> bytes:
    """Empty for None, else the digits."""
    return b"" if value is None else number(value)


def lease_micros(seconds: float) -> bytes:
    """The length of a lease."""
    return b"%d" % round(seconds * 1_000_000)


def bounds(shares: Shares) -> tuple[bytes, bytes]:
    """What one user and one label may hold."""
    return number_or_none(shares.per_user), number_or_none(shares.per_label)


def task_lists(wanted: TaskFilter) -> list[bytes]:
    """The names of the lists in which every task is that is meant."""
    asked = {
        "tasks_of_user:": wanted.user_id,
        "tasks_of_thread:": wanted.thread_id,
        "tasks_of_run:": wanted.run_id,
        "tasks_in_status:": wanted.status,
        "tasks_tracked_as:": wanted.tracking,
        "tasks_notified_as:": wanted.notification,
    }
    truths = {"tasks_open:": wanted.is_open, "tasks_undelivered:": wanted.is_undelivered}
    lists = [text(name + value) for name, value in asked.items() if value is not None]
    lists += [name.encode() + _truth(value) for name, value in truths.items() if value is not None]
    return lists or [b"tasks"]


def _not_storable(what: str) -> CallerMistake:
    return CallerMistake(
        "not_storable",
        f"A value cannot be stored or looked for: {what}.",
        "Leave out characters that are no valid text (lone surrogates), keep numbers within 64 bits, and large content in parts.",
    )


def _item(item: Item) -> Iterator[bytes]:  # noqa: C901 - one case an item
    match item:
        case Append():
            return _append(item)
        case InsertRun():
            return _insert_run(item.row)
        case UpdateRun():
            return _update_run(item)
        case InsertThread():
            row = item.row
            created = _micros(row.created_at)
            fields = _row(user_id=text(row.user_id), title=text(row.title), created_at=created)
            return iter((b"insert_thread", text(row.thread_id), text(row.user_id), created, *fields))
        case PutSnapshot():
            where = number(item.position), number(item.fold_version)
            return iter((b"put_snapshot", text(item.stream), *where, text(item.body)))
        case PutPayload():
            return iter((b"put_payload", text(item.stream), text(item.digest), item.content))
        case CopyPayloads():
            return iter((b"copy_payloads", text(item.source), text(item.target)))
        case Enqueue():
            fresh = _row(
                generation=number(item.generation),
                attempts=b"0",
                user_id=text(item.user_id),
                label=text(item.label),
                note=b"",
            )
            return iter(
                (b"enqueue", text(item.queue), text(item.item), _optional_micros(item.due_at), *fresh)
            )
        case Release():
            due_at = _optional_micros(item.due_at)
            entry = text(item.queue), text(item.item), number(item.generation)
            return iter((b"release", *entry, due_at, text(item.note)))
        case ClaimDue():
            lease = lease_micros(item.lease_seconds), number(item.limit), number(item.reader)
            return iter((b"claim_due", text(item.queue), text(item.holder), *lease, *bounds(item.shares)))
        case DeleteRun():
            return iter((b"delete_run", text(item.run_id), number(item.at)))
        case DeleteThread():
            return iter((b"delete_thread", text(item.thread_id)))
        case SweepPayloads():
            streams, digests = map(text, item.streams), map(text, item.digests)
            counts = number(len(item.streams)), number(len(item.digests))
            return itertools.chain((b"sweep_payloads", *counts), streams, digests)
        case InsertTask(row):
            return itertools.chain((b"insert_task", text(row.task_id)), _task_row(row, with_fixed=True))
        case UpdateTask():
            return _update_task(item)
        case DeleteTask():
            queues = map(text, item.queues)
            head = b"delete_task", text(item.task_id), number(item.after), number(len(item.queues))
            return itertools.chain(head, queues)
        case _:
            assert_never(item)


def _append(item: Append) -> Iterator[bytes]:
    yield from (b"append", text(item.stream), _optional_number(item.after))
    yield from (text(item.queue), _optional_number(item.generation), number(len(item.events)))
    yield from map(event_text, item.events)


def _insert_run(row: RunRow) -> Iterator[bytes]:
    key = None if row.key is None else text(row.key)
    yield from (b"insert_run", text(row.run_id), text(row.thread_id), text(row.user_id), optional(key))
    yield from (text(row.state), text(row.task), _truth(row.is_active), _micros(row.created_at))
    fields = {
        "thread_id": text(row.thread_id),
        "user_id": text(row.user_id),
        "task": text(row.task),
        "state": text(row.state),
        "is_active": _truth(row.is_active),
        "created_at": _micros(row.created_at),
        "updated_at": _micros(row.updated_at),
        "summary": text(row.summary),
        "min_reader": number(row.min_reader),
        "key": key,
        "outcome": None if row.outcome is None else text(row.outcome),
    }
    yield from _row(**fields)


def _update_run(item: UpdateRun) -> Iterator[bytes]:
    yield from (b"update_run", text(item.run_id), text(item.state), _truth(item.is_active))
    yield from (
        _optional_number(item.generation),
        optional(None if item.outcome is None else text(item.outcome)),
    )
    yield from _row(
        state=text(item.state),
        is_active=_truth(item.is_active),
        updated_at=_micros(item.updated_at),
        summary=text(item.summary),
        min_reader=number(item.min_reader),
    )


def _update_task(item: UpdateTask) -> Iterator[bytes]:
    yield from (b"update_task", text(item.row.task_id), number(item.after))
    yield from (optional(None if item.result is None else text(item.result)), text(item.queue))
    yield _optional_number(item.generation)
    yield from _task_row(item.row, with_fixed=False)


def _task_row(row: TaskRow, *, with_fixed: bool) -> Iterator[bytes]:
    fixed = {
        "user_id": text(row.user_id),
        "thread_id": text(row.thread_id),
        "run_id": text(row.run_id),
        "name": text(row.name),
        "created_at": _micros(row.created_at),
    }
    return _row(
        **(fixed if with_fixed else {}),
        server=text(row.server),
        remote_id=None if row.remote_id is None else text(row.remote_id),
        status=text(row.status),
        tracking=text(row.tracking),
        notification=text(row.notification),
        is_open=_truth(row.is_open),
        event_version=number(row.event_version),
        notified_version=number(row.notified_version),
        updated_at=_micros(row.updated_at),
        body_version=number(row.body_version),
        body=text(row.body),
    )


def _row(**fields: bytes | None) -> Iterator[bytes]:
    """The fields of a hash that have a value, behind the number of arguments they take."""
    given = [word for name, value in fields.items() if value is not None for word in (name.encode(), value)]
    return iter((number(len(given)), *given))


def _optional_number(value: int | None) -> bytes:
    return optional(None if value is None else number(value))


def _truth(value: bool) -> bytes:
    return b"1" if value else b"0"


def _optional_micros(at: datetime | None) -> bytes:
    return optional(None if at is None else _micros(at))


def _micros(at: datetime) -> bytes:
    return b"%d" % to_micros(at)
