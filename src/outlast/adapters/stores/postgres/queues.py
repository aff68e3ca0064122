"""Queue entries: what must happen later, and who holds the lease on it. All by the server's clock."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime, timedelta

from outlast.adapters.stores.postgres.link import Link
from outlast.adapters.stores.postgres.queries import query
from outlast.domain.dataclass import dataclass
from outlast.ports.queue import Claim, QueueEntry, Shares

_CLAIM_BY_SHARES = query("claim_by_shares")
_CLAIM_DUE = query("claim_due")
_CLAIM_ITEM = query("claim_item_if_free")
_RENEW = query("renew_if_generation")
_EXPIRE = query("expire_lease")
_READ_ENTRY = query("read_entry")
_LIST_LEASES = query("list_leases")
_NEXT_DUE = query("next_due")
_LIST_ENTRIES = query("list_entries")
_NOW = query("now")


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


async def now(link: Link) -> datetime:
    """The server's time."""
    told: datetime = await link.value(_NOW)
    return told


async def claim(link: Link, wish: Wish) -> list[Claim]:
    """Take the leases wished for, in the order in which they were chosen."""
    lease = (wish.queue, wish.holder, timedelta(seconds=wish.lease_seconds))
    if wish.item is not None:
        found = await link.rows(_CLAIM_ITEM, *lease, wish.item, wish.evict, wish.reader)
    elif wish.shares is not None:
        bounds = wish.shares.per_user, wish.shares.per_label
        found = await link.rows(_CLAIM_BY_SHARES, *lease, wish.limit, wish.reader, *bounds)
    else:
        found = await link.rows(_CLAIM_DUE, *lease, wish.limit, wish.reader)
        found = sorted(found, key=lambda row: row["ready_at"])
    return [Claim(wish.queue, *row[:-1]) for row in map(tuple, found)]


async def renew(link: Link, claims: Sequence[Claim], lease_seconds: float) -> set[str]:
    """Extend the leases that still have their generation; the items that do."""
    if not claims:
        return set()
    found = await link.rows(
        _RENEW,
        [claim.queue for claim in claims],
        [claim.item for claim in claims],
        [claim.generation for claim in claims],
        timedelta(seconds=lease_seconds),
    )
    return {row[0] for row in found}


async def expire(link: Link, queue: str, item: str) -> None:
    """Let a live lease run out now."""
    await link.rows(_EXPIRE, queue, item)


async def read_entry(link: Link, queue: str, item: str) -> QueueEntry | None:
    """An entry as it stands."""
    found = await link.row(_READ_ENTRY, queue, item)
    return None if found is None else QueueEntry(*found)


async def list_leases(link: Link, queue: str, limit: int) -> list[QueueEntry]:
    """The entries under a live lease, the one that ends soonest first."""
    return [QueueEntry(*found) for found in await link.rows(_LIST_LEASES, queue, limit)]


async def list_entries(link: Link, queue: str) -> list[str]:
    """The items of a queue, in order."""
    return [item for (item,) in await link.rows(_LIST_ENTRIES, queue)]


async def next_due(link: Link, queue: str) -> datetime | None:
    """When the next entry is due, or the lease that holds it ends."""
    due_at: datetime | None = await link.value(_NEXT_DUE, queue)
    return due_at
