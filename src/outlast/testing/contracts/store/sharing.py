"""Sharing: nobody's thousand entries keep another's one waiting, and no bound on live leases is passed."""

from __future__ import annotations

import asyncio
from collections import Counter
from datetime import timedelta
from itertools import chain

import pytest

from outlast.ports.queue import Claim, Enqueue, Release, Shares
from outlast.ports.run_rows import InsertRun
from outlast.ports.store import Store
from outlast.ports.thread_rows import InsertThread
from outlast.testing.contracts.store.handles import TestableStore
from outlast.testing.contracts.store.samples import LEASE_SECONDS, put, run, take, thread

_SECOND = timedelta(seconds=1)


async def _enqueue(store: Store, *items: str, seconds: float = -60) -> None:
    """Entries named `USER.LABEL.NUMBER`, the first due `seconds` from now, each a second after the one before."""
    now = await store.now()
    for number, item in enumerate(items):
        user_id, label, _ = item.split(".")
        await put(store, Enqueue("runs", item, now + (seconds + number) * _SECOND, user_id, label))


async def _claim(store: Store, shares: Shares, limit: int = 10, *, reader: int = 1) -> list[Claim]:
    return await store.claim("runs", "w", LEASE_SECONDS, limit=limit, shares=shares, reader=reader)


async def _items(store: Store, shares: Shares, limit: int = 10) -> list[str]:
    return [claim.item for claim in await _claim(store, shares, limit)]


@pytest.mark.asyncio
class SharingContract:
    """What is promised of claims with shares, and of the list of leases."""

    async def test_a_claim_by_shares_is_a_lease_like_any_other(self, store: Store) -> None:
        """A new generation, the store's time, an end; what is not due is left alone."""
        await _enqueue(store, "ann.study.1")
        await _enqueue(store, "ann.study.2", seconds=60)
        [claim] = await _claim(store, Shares())
        lease = timedelta(seconds=LEASE_SECONDS)
        assert claim == Claim("runs", "ann.study.1", 1, claim.store_now + lease, claim.store_now, 1)
        assert await _items(store, Shares()) == []

    async def test_one_user_alone_gets_the_earliest_due_first(self, store: Store) -> None:
        """Whatever the labels are."""
        await _enqueue(store, "ann.b.1", "ann.a.2", "ann.c.3", "ann.a.4")
        assert await _items(store, Shares(), limit=3) == ["ann.b.1", "ann.a.2", "ann.c.3"]
        assert await _items(store, Shares()) == ["ann.a.4"]

    async def test_many_entries_of_one_user_do_not_keep_another_waiting(self, store: Store) -> None:
        """Of users with as many leases the earliest due; within one claim as over several."""
        await _enqueue(store, *(f"ann.study.{n}" for n in range(6)))
        await _enqueue(store, "bob.study.1", "bob.study.2", seconds=-20)
        await _enqueue(store, "cay.other.1", seconds=-10)
        assert await _items(store, Shares(), limit=4) == [
            "ann.study.0",
            "bob.study.1",
            "cay.other.1",
            "ann.study.1",
        ]
        assert await _items(store, Shares(), limit=1) == ["bob.study.2"]
        assert await _items(store, Shares(), limit=2) == ["ann.study.2", "ann.study.3"]

    async def test_a_user_holds_no_more_than_the_bound(self, store: TestableStore, other: Store) -> None:
        """Until a lease is given back or runs out; other users are not held up."""
        await _enqueue(store, *(f"ann.study.{n}" for n in range(5)), "bob.study.1")
        shares = Shares(per_user=2)
        [first, *_] = await _claim(store, shares)
        assert first.item == "ann.study.0"
        assert await _items(other, shares) == []
        await put(store, Release("runs", "ann.study.0", first.generation, None))
        assert await _items(other, shares) == ["ann.study.2"]
        await store.expire_lease("runs", "ann.study.1")
        [again] = await _claim(other, shares)
        assert again.item in ("ann.study.1", "ann.study.3")
        assert await _items(store, shares) == []

    async def test_a_label_holds_no_more_than_the_bound(self, store: Store) -> None:
        """Over all users; an entry of another label is taken past those that must wait."""
        await _enqueue(store, "ann.study.1", "ann.study.2", "bob.study.1", "ann.chat.1")
        assert await _items(store, Shares(per_label=1)) == ["ann.study.1", "ann.chat.1"]
        assert await _items(store, Shares(per_label=2)) == ["bob.study.1"]

    async def test_both_bounds_hold_together(self, store: Store) -> None:
        """The tighter one decides."""
        await _enqueue(store, *(f"{user}.{label}.{n}" for n in range(3) for user in "ab" for label in "xyz"))
        taken = await _items(store, Shares(per_user=3, per_label=2), limit=20)
        users = Counter(item.split(".")[0] for item in taken)
        labels = Counter(item.split(".")[1] for item in taken)
        assert users == {"a": 3, "b": 3}
        assert labels == {"x": 2, "y": 2, "z": 2}

    async def test_a_named_entry_is_taken_past_the_bound_and_counts(self, store: Store) -> None:
        """Somebody asked for this very one."""
        await _enqueue(store, "ann.study.1", "ann.study.2", "ann.study.3")
        await take(store, "ann.study.2")
        assert await _items(store, Shares(per_user=1)) == []
        wanted = await store.claim("runs", "w", 9, item="ann.study.3", shares=Shares(per_user=1))
        assert [claim.item for claim in wanted] == ["ann.study.3"]

    async def test_ten_claimers_at_once_pass_no_bound(self, store: Store, other: Store) -> None:
        """Neither that of a user nor that of a label, and nothing is taken twice."""
        await _enqueue(store, *(f"{user}.{label}.{n}" for n in range(8) for user in "abc" for label in "xy"))
        shares = Shares(per_user=4, per_label=5)
        claims = await asyncio.gather(*[_claim(handle, shares, 3) for handle in [store, other] * 5])
        taken = [claim.item for claim in chain.from_iterable(claims)]
        assert len(set(taken)) == len(taken) == 10
        assert max(Counter(item.split(".")[0] for item in taken).values()) <= 4
        assert max(Counter(item.split(".")[1] for item in taken).values()) == 5

    async def test_a_reader_too_old_is_served_past_what_it_cannot_read(self, store: Store) -> None:
        """The next entry of the same user and label."""
        now = await store.now()
        for item, min_reader in [("new", 3), ("old", 1)]:
            row = run(item, item, min_reader=min_reader)
            await put(store, InsertThread(thread(item)), InsertRun(row))
            await put(store, Enqueue("runs", item, now, "ann", "study"))
        assert [claim.item for claim in await _claim(store, Shares(), reader=2)] == ["old"]
        assert [claim.item for claim in await _claim(store, Shares(), reader=3)] == ["new"]

    async def test_shares_are_those_of_one_queue(self, store: Store) -> None:
        """Leases elsewhere do not count."""
        now = await store.now()
        await put(store, Enqueue("polls", "p", now, "ann", "study"))
        await take(store, "p", queue="polls")
        await _enqueue(store, "ann.study.1")
        assert await _items(store, Shares(per_user=1, per_label=1)) == ["ann.study.1"]

    async def test_users_and_labels_may_have_any_name(self, store: Store) -> None:
        """What separates names elsewhere does not join those of two users here."""
        now = await store.now()
        for number, (user_id, label) in enumerate([("a", "b:c"), ("a:b", "c"), ("a", "b:c"), ("", "1:")]):
            await put(store, Enqueue("runs", f"r{number}", now + (number - 9) * _SECOND, user_id, label))
        assert await _items(store, Shares(per_user=1, per_label=1)) == ["r0", "r1", "r3"]

    async def test_leases_are_listed_while_they_live(self, store: TestableStore, other: Store) -> None:
        """The one that ends soonest first, no more than asked for, and of that queue alone."""
        await _enqueue(store, "ann.study.1", "ann.study.2", "ann.study.3", "ann.study.4")
        assert await store.list_leases("runs") == []
        for number, seconds in [(1, 300), (2, 100), (3, 200)]:
            await store.claim("runs", f"worker {number}", seconds, item=f"ann.study.{number}")
        held = await other.list_leases("runs")
        assert [entry.item for entry in held] == ["ann.study.2", "ann.study.3", "ann.study.1"]
        assert held == [await store.read_entry("runs", entry.item) for entry in held]
        assert [entry.holder for entry in held] == ["worker 2", "worker 3", "worker 1"]
        await store.expire_lease("runs", "ann.study.2")
        await put(store, Release("runs", "ann.study.3", 1, await store.now()))
        assert [entry.item for entry in await other.list_leases("runs")] == ["ann.study.1"]
        assert await store.list_leases("workers") == []
        assert await store.list_leases("runs", limit=0) == []
