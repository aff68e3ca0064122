"""Queue entries: what must happen later, and who holds the lease on it."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Callable, Mapping, Sequence
from datetime import datetime, timedelta
from typing import Any

from outlast.adapters.stores.sqlite.queries import query
from outlast.adapters.stores.sqlite.session import Session, TooMuch
from outlast.adapters.stores.times import (
    from_micros,
    from_micros_or_none,
    to_micros,
    to_micros_or_none,
)
from outlast.domain.dataclass import dataclass
from outlast.ports.batch import Guard
from outlast.ports.queue import Claim, ClaimDue, Enqueue, QueueEntry, Release, Shares

_ENQUEUE = query("enqueue_no_later")
_RELEASE = query("release_if_generation")
_DUE = query("due_entries")
_MARK_RIPE = query("mark_ripe")
_COUNT_UNRIPE = query("count_unripe")
_LONE_PAIR = query("lone_pair_ripe")
_NEXT_PAIR = query("next_pair_by_shares")
_DUE_OF_PAIR = query("due_of_pair")
_CLAIM_DUE = query("claim_due")
_CLAIM_ITEM = query("claim_item_if_free")
_RENEW = query("renew_if_generation")
_EXPIRE = query("expire_lease")
_READ_ENTRY = query("read_entry")
_LIST_LEASES = query("list_leases")
_NEXT_DUE = query("next_due")
_LIST_ENTRIES = query("list_entries")

_FEW_UNRIPE = 100
"""So many entries whose time has come are marked in a moment."""


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
    shares: Shares | None


def enqueue(session: Session, item: Enqueue) -> None:
    """Make the entry due, never later than it was."""
    session.run(
        _ENQUEUE,
        queue=item.queue,
        item=item.item,
        due_at=to_micros_or_none(item.due_at),
        generation=item.generation,
        user_id=item.user_id,
        label=item.label,
        now=to_micros(session.clock()),
    )


def release(session: Session, item: Release) -> Guard | None:
    """Give the lease back if it is still this generation's."""
    released = session.run(
        _RELEASE,
        queue=item.queue,
        item=item.item,
        generation=item.generation,
        due_at=to_micros_or_none(item.due_at),
        note=item.note,
        now=to_micros(session.clock()),
    )
    return None if released.rowcount else Guard.GENERATION


def claim_due(session: Session, item: ClaimDue) -> list[Claim]:
    """Take the leases that a batch asks for, when all else of it is written."""
    due = (item.queue, item.holder, item.lease_seconds, item.limit)
    return claim(session, Wish(*due, item=None, evict=None, reader=item.reader, shares=item.shares))


def claim(session: Session, wish: Wish) -> list[Claim]:
    """Take the leases wished for."""
    now = session.clock()
    until = now + timedelta(seconds=wish.lease_seconds)
    taken = _taker(wish)(session, wish, to_micros(now), to_micros(until))
    return [Claim(wish.queue, item, generation, until, now, attempts) for item, generation, attempts in taken]


def _taker(wish: Wish) -> Callable[[Session, Wish, int, int], list[tuple[str, int, int]]]:
    if wish.item is not None:
        return _take_item
    return _take_due if wish.shares is None else _take_by_shares


def _take_due(session: Session, wish: Wish, now: int, until: int) -> list[tuple[str, int, int]]:
    found = session.run(_DUE, queue=wish.queue, now=now, reader=wish.reader, limit=wish.limit).fetchall()
    return _take(session, wish, [entry for (entry,) in found], until)


def _take_by_shares(session: Session, wish: Wish, now: int, until: int) -> list[tuple[str, int, int]]:
    assert wish.shares is not None
    asked = {"queue": wish.queue, "now": now, "reader": wish.reader}
    bounds = {"per_user": wish.shares.per_user, "per_label": wish.shares.per_label}
    if not session.is_patient:
        most = _FEW_UNRIPE + 1
        if session.value(_COUNT_UNRIPE, queue=wish.queue, now=now, most=most) == most:
            raise TooMuch
    session.run(_MARK_RIPE, queue=wish.queue, now=now)
    if wish.shares == Shares():
        lone = session.run(_LONE_PAIR, queue=wish.queue).fetchone()
        if lone is not None:  # there is nothing to choose
            return _take_of_pair(session, wish, lone, wish.limit, until, asked)
    taken: list[tuple[str, int, int]] = []
    while len(taken) < wish.limit:
        pair = session.run(_NEXT_PAIR, **asked, **bounds, limit=wish.limit - len(taken)).fetchone()
        if pair is None:
            break
        *names, share = pair
        taken += _take_of_pair(session, wish, names, share, until, asked)
    return taken


def _take_of_pair(
    session: Session, wish: Wish, pair: Sequence[str], share: int, until: int, asked: Mapping[str, object]
) -> list[tuple[str, int, int]]:
    user_id, label = pair
    due = session.run(_DUE_OF_PAIR, **asked, user_id=user_id, label=label, limit=share).fetchall()
    return _take(session, wish, [entry for (entry,) in due], until)


def _take(session: Session, wish: Wish, due: list[int], until: int) -> list[tuple[str, int, int]]:
    if not due:
        return []
    claimed = session.run(_CLAIM_DUE, holder=wish.holder, until=until, entries=json.dumps(due)).fetchall()
    by_entry = {entry: (item, generation, attempts) for entry, item, generation, attempts in claimed}
    return [by_entry[entry] for entry in due]


def _take_item(session: Session, wish: Wish, now: int, until: int) -> list[tuple[str, int, int]]:
    return session.run(
        _CLAIM_ITEM,
        holder=wish.holder,
        until=until,
        queue=wish.queue,
        item=wish.item,
        now=now,
        reader=wish.reader,
        evict=wish.evict,
    ).fetchall()


def renew(session: Session, claims: Sequence[Claim], until: datetime) -> set[str]:
    """Extend the leases that still have their generation; the items that do."""
    end = to_micros(until)

    def is_renewed(claim: Claim) -> bool:
        lease = {"queue": claim.queue, "item": claim.item, "generation": claim.generation}
        return session.run(_RENEW, until=end, **lease).rowcount > 0

    return {claim.item for claim in claims if is_renewed(claim)}


def expire(session: Session, queue: str, item: str, now: datetime) -> None:
    """Let a live lease run out at `now`."""
    session.run(_EXPIRE, queue=queue, item=item, now=to_micros(now))


def read_entry(connection: sqlite3.Connection, queue: str, item: str) -> QueueEntry | None:
    """An entry as it stands."""
    found = connection.execute(_READ_ENTRY, {"queue": queue, "item": item}).fetchone()
    return None if found is None else _entry(found)


def list_leases(connection: sqlite3.Connection, queue: str, now: datetime, limit: int) -> list[QueueEntry]:
    """The entries under a live lease, the one that ends soonest first."""
    asked = {"queue": queue, "now": to_micros(now), "limit": limit}
    return [_entry(found) for found in connection.execute(_LIST_LEASES, asked)]


def _entry(found: tuple[Any, ...]) -> QueueEntry:
    queue, item, due, generation, holder, until, note = found
    return QueueEntry(
        queue, item, from_micros_or_none(due), generation, holder, from_micros_or_none(until), note
    )


def list_entries(connection: sqlite3.Connection, queue: str) -> list[str]:
    """The items of a queue, in order."""
    return [item for (item,) in connection.execute(_LIST_ENTRIES, {"queue": queue})]


def next_due(connection: sqlite3.Connection, queue: str) -> datetime | None:
    """When the next entry is due, or the lease that holds it ends."""
    found = connection.execute(_NEXT_DUE, {"queue": queue}).fetchone()
    return None if found is None else from_micros(found[0])
