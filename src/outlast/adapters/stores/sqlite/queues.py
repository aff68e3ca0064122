"""Queue entries: what must happen later, and who holds the lease on it."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta

from outlast.adapters.stores.sqlite.queries import query
from outlast.adapters.stores.sqlite.session import Session
from outlast.adapters.stores.sqlite.times import (
    from_micros,
    from_micros_or_none,
    to_micros,
    to_micros_or_none,
)
from outlast.ports.store import Claim, Enqueue, Guard, QueueEntry, Release

_ENQUEUE = query("enqueue_no_later")
_RELEASE = query("release_if_generation")
_DUE = query("due_entries")
_CLAIM_DUE = query("claim_due")
_CLAIM_ITEM = query("claim_item_if_free")
_RENEW = query("renew_if_generation")
_EXPIRE = query("expire_lease")
_READ_ENTRY = query("read_entry")
_NEXT_DUE = query("next_due")


@dataclass(frozen=True, slots=True)
class Wish:
    """A claim as it is asked for; see `Store.claim`."""

    queue: str
    holder: str
    lease_seconds: float
    limit: int
    item: str | None
    evict: int | None
    reader: int


def enqueue(session: Session, item: Enqueue) -> None:
    """Make the entry due, never later than it was."""
    session.run(_ENQUEUE, (item.queue, item.item, to_micros(item.due_at), item.user_id, item.label))


def release(session: Session, item: Release) -> Guard | None:
    """Give the lease back if it is still this generation's."""
    values = (item.queue, item.item, item.generation, to_micros_or_none(item.due_at), item.note)
    return None if session.run(_RELEASE, values).rowcount else Guard.GENERATION


def claim(session: Session, wish: Wish, now: datetime) -> list[Claim]:
    """Take the leases wished for, as of `now`."""
    until = now + timedelta(seconds=wish.lease_seconds)
    taken = (
        _take_due(session, wish, to_micros(now), to_micros(until))
        if wish.item is None
        else _take_item(session, wish, to_micros(now), to_micros(until))
    )
    return [Claim(wish.queue, item, generation, until, now, attempts) for item, generation, attempts in taken]


def _take_due(session: Session, wish: Wish, now: int, until: int) -> list[tuple[str, int, int]]:
    due = [entry for (entry,) in session.run(_DUE, (wish.queue, now, wish.reader, wish.limit)).fetchall()]
    if not due:
        return []
    claimed = session.run(_CLAIM_DUE, (wish.holder, until, json.dumps(due))).fetchall()
    by_entry = {entry: (item, generation, attempts) for entry, item, generation, attempts in claimed}
    return [by_entry[entry] for entry in due]


def _take_item(session: Session, wish: Wish, now: int, until: int) -> list[tuple[str, int, int]]:
    values = (wish.holder, until, wish.queue, wish.item, now, wish.reader, wish.evict)
    return session.run(_CLAIM_ITEM, values).fetchall()


def renew(session: Session, claims: Sequence[Claim], until: datetime) -> set[str]:
    """Extend the leases that still have their generation; the items that do."""
    return {
        claim.item
        for claim in claims
        if session.run(_RENEW, (claim.queue, claim.item, claim.generation, to_micros(until))).rowcount
    }


def expire(session: Session, queue: str, item: str, now: datetime) -> None:
    """Let a live lease run out at `now`."""
    session.run(_EXPIRE, (queue, item, to_micros(now)))


def read_entry(connection: sqlite3.Connection, queue: str, item: str) -> QueueEntry | None:
    """An entry as it stands."""
    found = connection.execute(_READ_ENTRY, (queue, item)).fetchone()
    if found is None:
        return None
    _, _, due, generation, holder, until, note = found
    return QueueEntry(
        queue, item, from_micros_or_none(due), generation, holder, from_micros_or_none(until), note
    )


def next_due(connection: sqlite3.Connection, queue: str, now: datetime) -> datetime | None:
    """When the next entry that no live lease holds is due."""
    found = connection.execute(_NEXT_DUE, (queue, to_micros(now))).fetchone()
    return None if found is None else from_micros(found[0])
