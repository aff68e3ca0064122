"""Queues: nothing is claimed twice, nothing is claimed early, nothing is lost."""

from __future__ import annotations

import asyncio
from datetime import timedelta
from itertools import chain

import pytest

from outlast.ports.queue import Claim, Enqueue, QueueEntry, Release
from outlast.ports.store import Store
from outlast.testing.contracts.store.handles import TestableStore
from outlast.testing.contracts.store.samples import LEASE_SECONDS, put, start, take

_MINUTE = timedelta(minutes=1)


async def _enqueue(store: Store, item: str = "r", *, minutes: float = 0, queue: str = "runs") -> None:
    due_at = await store.now() + minutes * _MINUTE
    await put(store, Enqueue(queue, item, due_at, "ann", "a label"))


async def _items(store: Store, limit: int = 10) -> list[str]:
    return [claim.item for claim in await store.claim("runs", "w", LEASE_SECONDS, limit=limit)]


async def _entry(store: Store, item: str = "r") -> QueueEntry:
    entry = await store.read_entry("runs", item)
    assert entry is not None
    return entry


@pytest.mark.asyncio
class QueueContract:
    """What is promised of entries and of taking them."""

    async def test_an_entry_stands_as_it_was_made(self, store: Store) -> None:
        """Generation 0, no lease; an unknown one is None."""
        due_at = await store.now() + _MINUTE
        await put(store, Enqueue("runs", "r", due_at, "ann", "label"))
        assert await store.read_entry("runs", "r") == QueueEntry("runs", "r", due_at, 0, None, None)
        assert await store.read_entry("runs", "q") is None
        assert await store.read_entry("polls", "r") is None

    async def test_a_claim_is_a_lease(self, store: Store) -> None:
        """A new generation, the store's time, an end, a holder; the due time is used up."""
        await _enqueue(store, minutes=-1)
        before = await store.now()
        [claim] = await store.claim("runs", "worker 7", 30)
        after = await store.now()
        assert claim == Claim("runs", "r", 1, claim.store_now + timedelta(seconds=30), claim.store_now, 1)
        assert before <= claim.store_now <= after
        assert await _entry(store) == QueueEntry("runs", "r", None, 1, "worker 7", claim.until)

    async def test_what_is_not_due_is_not_claimed(self, store: Store) -> None:
        """Due in a minute, never due, and of another queue."""
        await _enqueue(store, "later", minutes=1)
        await _enqueue(store, "elsewhere", minutes=-1, queue="polls")
        await _enqueue(store, "resting", minutes=-1)
        await put(store, Release("runs", "resting", (await take(store, "resting")).generation, None))
        assert await _items(store) == []

    async def test_the_earliest_due_is_claimed_first(self, store: Store) -> None:
        """And no more than asked for."""
        for item, minutes in [("a", -2), ("b", -5), ("c", -1), ("d", -4), ("e", 3)]:
            await _enqueue(store, item, minutes=minutes)
        assert await _items(store, limit=1) == ["b"]
        assert await _items(store, limit=2) == ["d", "a"]
        assert await _items(store, limit=9) == ["c"]

    async def test_each_entry_is_claimed_once(self, store: Store, other: Store) -> None:
        """By ten workers on two handles that take what they can."""
        names = [f"r{n:02}" for n in range(60)]
        for name in names:
            await _enqueue(store, name, minutes=-1)

        async def work(handle: Store) -> list[str]:
            taken: list[str] = []
            while items := await _items(handle, limit=3):
                taken += items
            return taken

        shares = await asyncio.gather(*[work(handle) for handle in [store, other] * 5])
        assert sorted(chain.from_iterable(shares)) == names

    async def test_a_lease_that_ran_out_is_claimed_by_one(
        self, store: TestableStore, other: TestableStore
    ) -> None:
        """Under a new generation; claims in a row are counted."""
        await _enqueue(store, minutes=-1)
        await take(store)
        for generation in (2, 3, 4):
            assert await _items(other) == []
            await store.expire_lease("runs", "r")
            claims = await asyncio.gather(
                *[handle.claim("runs", "w", LEASE_SECONDS) for handle in [store, other] * 3]
            )
            [claim] = chain.from_iterable(claims)
            assert (claim.generation, claim.attempts) == (generation, generation)

    async def test_a_release_ends_the_row_of_attempts(self, store: TestableStore) -> None:
        """Generations go on, attempts begin again."""
        await _enqueue(store, minutes=-1)
        await take(store)
        await store.expire_lease("runs", "r")
        second = await take(store)
        now = await store.now()
        await put(store, Release("runs", "r", second.generation, now, "come back later"))
        assert await _entry(store) == QueueEntry("runs", "r", now, 2, None, None, "come back later")
        third = await take(store)
        assert (second.attempts, third.generation, third.attempts) == (2, 3, 1)

    async def test_an_enqueue_brings_forward_and_never_puts_off(self, store: Store) -> None:
        """The earliest wish holds."""
        await _enqueue(store, minutes=5)
        first = (await _entry(store)).due_at
        await _enqueue(store, minutes=9)
        assert (await _entry(store)).due_at == first
        await _enqueue(store, minutes=-1)
        assert await _items(store) == ["r"]

    async def test_an_enqueue_during_a_lease_is_seen_at_its_release(self, store: Store, other: Store) -> None:
        """It leaves the lease alone, and the earlier of both due times holds."""
        await _enqueue(store, minutes=-1)
        for minutes_enqueued, minutes_released in [(-1, None), (-1, 5), (5, -1)]:
            claim = await take(store)
            await _enqueue(other, minutes=minutes_enqueued)
            assert await _items(other) == []
            entry = await _entry(store)
            assert (entry.generation, entry.until) == (claim.generation, claim.until)
            due_at = None
            if minutes_released is not None:
                due_at = await store.now() + minutes_released * _MINUTE
            await put(store, Release("runs", "r", claim.generation, due_at))
            assert await _items(other) == ["r"]
            await put(store, Release("runs", "r", claim.generation + 1, None))

    async def test_an_enqueue_between_claim_and_release_is_never_lost(
        self, store: Store, other: Store
    ) -> None:
        """Signals race a worker that claims and releases; the last one is always acted on."""
        await _enqueue(store, minutes=-1)
        signals, seen = 0, -1

        async def signal() -> None:
            nonlocal signals
            for _ in range(30):
                signals += 1
                await _enqueue(other)

        sending = asyncio.create_task(signal())
        while not sending.done() or seen != signals:
            was_done = sending.done()
            claims = await store.claim("runs", "w", LEASE_SECONDS)
            assert claims or not was_done, "an enqueue was lost"
            for claim in claims:
                seen = signals
                await put(store, Release("runs", "r", claim.generation, None))

    async def test_one_entry_is_claimed_by_name_due_or_not(self, store: Store) -> None:
        """Unless a live lease holds it, or there is none."""
        await _enqueue(store, minutes=60)
        assert (await take(store)).generation == 1
        assert await store.claim("runs", "w", LEASE_SECONDS, item="r") == []
        assert await store.claim("runs", "w", LEASE_SECONDS, item="q") == []

    async def test_a_holder_that_is_gone_is_evicted(self, store: TestableStore) -> None:
        """Only that generation, which an old proof does not name."""
        await _enqueue(store)
        await take(store)
        assert (await take(store, evict=1)).generation == 2
        assert await store.claim("runs", "w", LEASE_SECONDS, item="r", evict=1) == []
        assert await store.claim("runs", "w", LEASE_SECONDS, item="r", evict=3) == []
        await store.expire_lease("runs", "r")
        assert (await take(store, evict=1)).generation == 3

    async def test_a_reader_too_old_does_not_claim(self, store: Store) -> None:
        """Neither by due time nor by name nor by eviction; others are not held up."""
        await start(store, "new", min_reader=3)
        await start(store, "old", min_reader=2)
        claims = await store.claim("runs", "w", LEASE_SECONDS, limit=9, reader=2)
        assert [claim.item for claim in claims] == ["old"]
        assert await store.claim("runs", "w", LEASE_SECONDS, item="new", reader=2) == []
        [claim] = await store.claim("runs", "w", LEASE_SECONDS, reader=3)
        evict = claim.generation
        assert await store.claim("runs", "w", LEASE_SECONDS, item="new", evict=evict, reader=2) == []

    async def test_next_due_tells_when_something_can_next_be_claimed(self, store: TestableStore) -> None:
        """None without entries; of what is held, when the lease ends, unless it is renewed or given back."""
        assert await store.next_due("runs") is None
        await _enqueue(store, "soon", minutes=1)
        await _enqueue(store, "late", minutes=60)
        soon, late = (await _entry(store, "soon")).due_at, (await _entry(store, "late")).due_at
        assert await store.next_due("runs") == soon
        [claim] = await store.claim("runs", "w", LEASE_SECONDS, item="soon")
        assert await store.next_due("runs") == claim.until
        await store.renew([claim], 2 * LEASE_SECONDS)
        assert await store.next_due("runs") == (await _entry(store, "soon")).until
        await store.expire_lease("runs", "soon")
        ended_at = await store.next_due("runs")
        assert ended_at is not None
        assert ended_at <= await store.now()
        again = await take(store, "soon")
        await put(store, Release("runs", "soon", again.generation, None))
        assert await store.next_due("runs") == late

    async def test_the_same_item_in_two_queues_is_two_entries(self, store: Store) -> None:
        """A lease on one says nothing of the other."""
        await _enqueue(store, minutes=-1)
        await _enqueue(store, minutes=-1, queue="polls")
        assert await _items(store) == ["r"]
        [claim] = await store.claim("polls", "w", LEASE_SECONDS)
        assert (claim.queue, claim.item, claim.generation) == ("polls", "r", 1)
