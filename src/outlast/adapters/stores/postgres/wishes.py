"""What batches wish to claim, as the server is given it, and what it took, dealt out to them."""

from __future__ import annotations

from collections.abc import Container, Iterator, Sequence
from datetime import timedelta
from typing import Any, Final

from outlast.adapters.stores.postgres.encoding import Batch
from outlast.ports.queue import Claim, ClaimDue

_COLUMNS: Final = 8


def columns_of(batches: Sequence[Batch]) -> list[list[object]]:
    """The wishes of all batches, a list a column, as claim_for_batches takes them."""
    rows = [(place, wish.limit, *_likeness(wish)) for place, wish in _wishes(batches)]
    return [list(column) for column in zip(*rows, strict=True)] or [[] for _ in range(_COLUMNS)]


def claims_for(
    batches: Sequence[Batch], refused: Container[int], claimed: Sequence[Sequence[Any]]
) -> list[tuple[Claim, ...]]:
    """The leases of each batch. What was claimed for equal wishes goes to them in their order.

    Each row tells of a wish: which one, what it took, the generations and attempts of that, until when and from when it is held.
    """
    wishes = list(_wishes(batches))
    taken: dict[int, list[Claim]] = {}
    for first, items, generations, attempts, until, now in claimed:
        queue = wishes[first - 1][1].queue
        taken[first] = [
            Claim(queue, item, generation, until, now, tries)
            for item, generation, tries in zip(items, generations, attempts, strict=True)
        ]
    firsts: dict[tuple[object, ...], int] = {}
    dealt: list[tuple[Claim, ...]] = [()] * len(batches)
    for number, (place, wish) in enumerate(wishes, 1):
        if place not in refused:
            left = taken.get(firsts.setdefault(_likeness(wish), number), [])
            dealt[place] += tuple(left[: wish.limit])
            del left[: wish.limit]
    return dealt


def _wishes(batches: Sequence[Batch]) -> Iterator[tuple[int, ClaimDue]]:
    """All wishes, each with the place of its batch."""
    return ((place, wish) for place, batch in enumerate(batches) for wish in batch.wishes)


def _likeness(wish: ClaimDue) -> tuple[object, ...]:
    """What is the same in wishes that the server takes for one."""
    lease = timedelta(seconds=wish.lease_seconds)
    return wish.queue, wish.holder, lease, wish.reader, wish.shares.per_user, wish.shares.per_label
