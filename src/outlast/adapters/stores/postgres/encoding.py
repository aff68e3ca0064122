"""Batches as the server is given them. Whatever it could not store is refused here, where it harms nobody else."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from datetime import datetime
from itertools import count
from typing import Final, assert_never

from outlast.adapters.stores.postgres.channels import Channels
from outlast.adapters.stores.watches import QUEUE_TOPIC, SIGNAL_TOPIC, topics_of
from outlast.domain.dataclass import dataclass
from outlast.domain.errors import CallerMistake
from outlast.domain.quick import quick
from outlast.ports.batch import Item, Write
from outlast.ports.queue import ClaimDue, Enqueue, Release
from outlast.ports.run_rows import DeleteRun, InsertRun, UpdateRun
from outlast.ports.stream import Append, CopyPayloads, EventRow, PutPayload, PutSnapshot, SweepPayloads
from outlast.ports.task_rows import DeleteTask, InsertTask, TaskRow, UpdateTask
from outlast.ports.thread_rows import DeleteThread, InsertThread, ThreadRow

BETWEEN: Final = "\x1f"
"""Stands between the texts of plain batches that are sent together. JSON does not hold it as it is."""

_INTEGER_BOUND: Final = 1 << 63
_NOTHING: Final = frozenset[str]()
_to_json = json.JSONEncoder(ensure_ascii=False, separators=(",", ":"), check_circular=False).encode

Field = str | int | bool | None | list["Fields"] | list[str]
Fields = dict[str, Field]


@quick
@dataclass(frozen=True, slots=True)
class Batch:
    """A batch on its way. `number` is drawn for it and marks its events in the journal.

    `topics` are what it touches, of which `streams` are told of after its commit. `size_bytes` is about how much is sent.

    `plain` is the append of a holder that is all there is, none of whose texts holds BETWEEN: what a run does most of the time, with
    a statement of its own.
    `releases` are all that is written where whoever claimed many entries has done with them, of which nobody need be told. Any
    other batch has `document`, its items as JSON, `notices`, what to tell whom on its commit, and `contents`, its payloads.
    `written_once` is what no other batch of the same statement may be about, where its kind has a statement of its own. `wishes`
    are what any but a plain one is to claim.
    """

    items: tuple[Item, ...]
    number: int
    topics: frozenset[str]
    streams: frozenset[str] = frozenset()
    size_bytes: int = 0
    written_once: frozenset[object] = frozenset()
    plain: Append | None = None
    releases: tuple[Release, ...] = ()
    document: str = ""
    notices: str = "[]"
    contents: tuple[bytes, ...] = ()
    wishes: tuple[ClaimDue, ...] = ()

    def place_of(self, written: int) -> int:
        """Where an item stands in the batch, of which the server knows only what is written, and in which order."""
        return [place for place, item in enumerate(self.items) if not isinstance(item, ClaimDue)][written]


def encode(items: tuple[Item, ...], channels: Channels, number: int) -> Batch:
    """A batch of items, ready to be sent. Raises CallerMistake (`not_storable`) for what no text or number of a server holds."""
    try:
        plain = _plain(items)
        if plain is not None and BETWEEN not in (text := _text_of(plain)):
            stream = frozenset((plain.stream,))
            return Batch(items, number, stream, stream, len(text), stream, plain)
        wishes = tuple(_wish(item) for item in items if isinstance(item, ClaimDue))
        releases = _releases(items)
        if releases is not None:
            size, once = sum([len(one.note) for one in releases]), frozenset(_leases(releases))
            return Batch(items, number, _NOTHING, _NOTHING, size, once, releases=releases, wishes=wishes)
        topics = frozenset(topic for item in items for topic in topics_of(item))
        places = count(1)
        fields = [_fields(item, places) for item in items if not isinstance(item, ClaimDue)]
    except (OverflowError, ValueError) as error:
        raise CallerMistake(
            "not_storable",
            f"A value cannot be stored or looked for: {error}.",
            "Leave out NUL and characters that are no valid text (lone surrogates), and keep whole numbers within 64 bits.",
        ) from error
    shared = [topic for topic in sorted(topics) if topic.startswith((QUEUE_TOPIC, SIGNAL_TOPIC))]
    payloads = tuple(item.content for item in items if isinstance(item, PutPayload))
    document = _to_json(fields)
    return Batch(
        items,
        number,
        topics,
        topics.difference(shared),
        len(document) + sum(map(len, payloads)),
        document=document,
        notices=_to_json([channels.notice(topic) for topic in shared]),
        contents=payloads,
        wishes=wishes,
    )


def _plain(items: Sequence[Item]) -> Append | None:
    """The append of a holder, where that is all there is."""
    first = items[0]
    if len(items) > 1 or not isinstance(first, Append) or not first.events:
        return None
    return None if first.after is None or first.generation is None else first


def _releases(items: Sequence[Item]) -> tuple[Release, ...] | None:
    """All items, where each gives another lease back, of which nobody need be told, or, behind those, claims."""
    releases = tuple([item for item in items if isinstance(item, Release)])
    if not all(isinstance(item, ClaimDue) for item in items[len(releases) :]):
        return None
    if any(one.due_at is not None and not one.is_quiet for one in releases):
        return None
    if len(_leases(releases)) < len(releases):
        return None
    _can_release(releases)
    return releases


def _leases(releases: Sequence[Release]) -> set[tuple[str, str]]:
    """The entries that are given back."""
    return {(one.queue, one.item) for one in releases}


def _can_release(releases: Sequence[Release]) -> None:
    """Raise for what `_fields` would raise for. What many releases have in common is looked at once."""
    for text in {text for one in releases for text in (one.queue, one.item, one.note)}:
        _text(text)
    for generation in {one.generation for one in releases}:
        _whole(generation)
    for due_at in {one.due_at for one in releases}:
        if due_at is not None:
            _aware(due_at)


def _text_of(append: Append) -> str:
    """All its texts as one. Raises for what `_fields` would raise for."""
    after, texts = append.after or 0, [append.stream, append.queue]
    numbers = [after, after + len(append.events), append.generation or 0]
    for event in append.events:
        texts += (event.kind, event.body)
        numbers.append(event.version)
        _aware(event.at)
    _whole(min(numbers))
    _whole(max(numbers))
    return _text("".join(texts))


def document_of(batches: Sequence[Batch]) -> str:
    """Several batches as one JSON list; `skip` counts the payloads of those before."""
    parts, skip = [], 0
    for batch in batches:
        head = f'{{"id":{batch.number},"skip":{skip},"notices":{batch.notices}'
        parts.append(f'{head},"items":{batch.document}}}')
        skip += len(batch.contents)
    return f"[{','.join(parts)}]"


def _fields(item: Write, places: Iterator[int]) -> Fields:  # noqa: C901 - one case an item
    match item:
        case Append():
            return {
                "is": "Append",
                "stream": _text(item.stream),
                "after": None if item.after is None else _whole(item.after),
                "generation": None if item.generation is None else _whole(item.generation),
                "queue": _text(item.queue),
                "events": [_event(event) for event in item.events],
            }
        case UpdateRun():
            return _update(item)
        case InsertRun():
            return _run(item)
        case InsertThread(row):
            return _thread(row)
        case PutPayload():
            names = {"stream": _text(item.stream), "digest": _text(item.digest)}
            return {"is": "PutPayload", **names, "content": next(places)}
        case PutSnapshot():
            return {
                "is": "PutSnapshot",
                "stream": _text(item.stream),
                "position": _whole(item.position),
                "fold_version": _whole(item.fold_version),
                "body": _text(item.body),
            }
        case CopyPayloads():
            return {"is": "CopyPayloads", "source": _text(item.source), "target": _text(item.target)}
        case Enqueue():
            return _enqueue(item)
        case Release():
            return _release(item)
        case DeleteRun():
            return {"is": "DeleteRun", "run_id": _text(item.run_id), "at": _whole(item.at)}
        case DeleteThread():
            return {"is": "DeleteThread", "thread_id": _text(item.thread_id)}
        case SweepPayloads():
            streams, digests = map(_text, item.streams), map(_text, item.digests)
            return {"is": "SweepPayloads", "streams": list(streams), "digests": list(digests)}
        case InsertTask(row):
            return {"is": "InsertTask", **_task(row)}
        case UpdateTask():
            return _task_update(item)
        case DeleteTask():
            where: Fields = {"task_id": _text(item.task_id), "after": _whole(item.after)}
            return {"is": "DeleteTask", **where, "queues": list(map(_text, item.queues))}
        case _:
            assert_never(item)


def _event(event: EventRow) -> Fields:
    return {
        "kind": _text(event.kind),
        "version": _whole(event.version),
        "at": _time(event.at),
        "body": _text(event.body),
    }


def _thread(row: ThreadRow) -> Fields:
    return {
        "is": "InsertThread",
        "thread_id": _text(row.thread_id),
        "user_id": _text(row.user_id),
        "title": _text(row.title),
        "created_at": _time(row.created_at),
    }


def _release(item: Release) -> Fields:
    return {
        "is": "Release",
        "queue": _text(item.queue),
        "item": _text(item.item),
        "generation": _whole(item.generation),
        "due_at": None if item.due_at is None else _time(item.due_at),
        "note": _text(item.note),
    }


def _wish(item: ClaimDue) -> ClaimDue:
    """The same, if the server can be asked for it."""
    for name in (item.queue, item.holder):
        _text(name)
    for number in (item.limit, item.reader, item.shares.per_user or 0, item.shares.per_label or 0):
        _whole(number)
    return item


def _enqueue(item: Enqueue) -> Fields:
    return {
        "is": "Enqueue",
        "queue": _text(item.queue),
        "item": _text(item.item),
        "due_at": None if item.due_at is None else _time(item.due_at),
        "user_id": _text(item.user_id),
        "label": _text(item.label),
        "generation": _whole(item.generation),
    }


def _update(item: UpdateRun) -> Fields:
    return {
        "is": "UpdateRun",
        "run_id": _text(item.run_id),
        "state": _text(item.state),
        "is_active": item.is_active,
        "outcome": None if item.outcome is None else _text(item.outcome),
        "updated_at": _time(item.updated_at),
        "summary": _text(item.summary),
        "min_reader": _whole(item.min_reader),
        "generation": None if item.generation is None else _whole(item.generation),
    }


def _run(item: InsertRun) -> Fields:
    row = item.row
    return {
        "is": "InsertRun",
        "run_id": _text(row.run_id),
        "thread_id": _text(row.thread_id),
        "user_id": _text(row.user_id),
        "task": _text(row.task),
        "state": _text(row.state),
        "is_active": row.is_active,
        "created_at": _time(row.created_at),
        "updated_at": _time(row.updated_at),
        "summary": _text(row.summary),
        "key": None if row.key is None else _text(row.key),
        "outcome": None if row.outcome is None else _text(row.outcome),
        "min_reader": _whole(row.min_reader),
    }


def _task(row: TaskRow) -> Fields:
    return {
        "task_id": _text(row.task_id),
        "user_id": _text(row.user_id),
        "thread_id": _text(row.thread_id),
        "run_id": _text(row.run_id),
        "name": _text(row.name),
        "server": _text(row.server),
        "remote_id": None if row.remote_id is None else _text(row.remote_id),
        "status": _text(row.status),
        "tracking": _text(row.tracking),
        "notification": _text(row.notification),
        "is_open": row.is_open,
        "event_version": _whole(row.event_version),
        "notified_version": _whole(row.notified_version),
        "created_at": _time(row.created_at),
        "updated_at": _time(row.updated_at),
        "body_version": _whole(row.body_version),
        "body": _text(row.body),
    }


def _task_update(item: UpdateTask) -> Fields:
    return {
        "is": "UpdateTask",
        **_task(item.row),
        "after": _whole(item.after),
        "result": None if item.result is None else _text(item.result),
        "queue": _text(item.queue),
        "generation": None if item.generation is None else _whole(item.generation),
    }


def _text(value: str) -> str:
    if "\x00" in value:
        raise ValueError("text with a NUL")
    if not value.isascii():
        value.encode()
    return value


def _whole(value: int) -> int:
    if not -_INTEGER_BOUND <= value < _INTEGER_BOUND:
        raise OverflowError("a number beyond 64 bits")
    return value


def _time(at: datetime) -> str:
    return _aware(at).isoformat()


def _aware(at: datetime) -> datetime:
    if at.tzinfo is None:
        raise TypeError("a time without a zone")
    return at
