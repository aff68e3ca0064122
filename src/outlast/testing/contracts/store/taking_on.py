"""Taking on: a commit that gives back what is done takes what is due next, in one."""

from __future__ import annotations

import asyncio
from collections import Counter
from datetime import timedelta

import pytest

from outlast.ports.batch import Committed, Guard, Item, Refused
from outlast.ports.queue import Claim, ClaimDue, Enqueue, Release, Shares
from outlast.ports.run_rows import InsertRun, UpdateRun
from outlast.ports.store import Store
from outlast.ports.thread_rows import InsertThread
from outlast.testing.contracts.store.samples import AT, LEASE_SECONDS, append, put, run, start, take, thread

_NEXT = ClaimDue("jobs", "w", LEASE_SECONDS)


async def _enqueue(store: Store, *items: str, user_id: str = "ann") -> None:
    """Entries that came due a second after one another."""
    now = await store.now()
    for number, item in enumerate(items):
        await put(store, Enqueue("jobs", item, now - timedelta(seconds=60 - number), user_id, "study"))


async def _taken(store: Store, *items: Item) -> list[Claim]:
    """The leases that a commit which cannot be refused has taken."""
    answer = await store.commit(items)
    assert isinstance(answer, Committed)
    return list(answer.claims)


def _back(claim: Claim) -> Release:
    return Release(claim.queue, claim.item, claim.generation, None)


@pytest.mark.asyncio
class TakingOnContract:
    """What is promised of `ClaimDue`."""

    async def test_a_commit_takes_what_is_due_next(self, store: Store, other: Store) -> None:
        """A lease like any other, of the earliest due; another handle sees it, and it fences."""
        await _enqueue(store, "a", "b", "c")
        first = await take(store, "a", "jobs")
        [claim] = await _taken(store, _back(first), _NEXT)
        lease = timedelta(seconds=LEASE_SECONDS)
        assert claim == Claim("jobs", "b", 1, claim.store_now + lease, claim.store_now, 1)
        entry = await other.read_entry("jobs", "b")
        assert entry is not None
        assert (entry.holder, entry.until, entry.generation) == ("w", claim.until, 1)
        assert [one.item for one in await other.claim("jobs", "x", 9, limit=9)] == ["c"]
        await put(other, append("b", 0), _back(claim))
        assert await store.commit([_back(claim), _NEXT]) == Refused(Guard.GENERATION, 0)

    async def test_a_refused_batch_takes_nothing(self, store: Store) -> None:
        """Wherever the guard stands that failed."""
        await _enqueue(store, "a", "b")
        stale = Release("jobs", "a", 7, None)
        batches: list[list[Item]] = [[stale, _NEXT], [_NEXT, stale], [_NEXT, append("r", 3)]]
        for batch in batches:
            answer = await store.commit(batch)
            assert isinstance(answer, Refused)
            assert batch[answer.index] is not _NEXT
        assert await store.list_leases("jobs") == []

    async def test_where_nothing_is_due_nothing_is_taken(self, store: Store) -> None:
        """What else the batch holds is written all the same."""
        await put(store, Enqueue("jobs", "later", await store.now() + timedelta(hours=1), "ann"))
        assert await store.commit([append("r", 0), _NEXT]) == Committed()
        assert await store.commit([_NEXT]) == Committed()
        assert await store.read_head("r") == 1

    async def test_what_the_batch_itself_makes_due_is_taken(self, store: Store) -> None:
        """After all of it is written, wherever the claim stands; under a new generation where it was given back."""
        now = await store.now()
        [claim] = await _taken(store, _NEXT, Enqueue("jobs", "a", now - timedelta(seconds=1), "ann"))
        assert (claim.item, claim.generation) == ("a", 1)
        again = Release("jobs", "a", 1, now - timedelta(seconds=1))
        [claim] = await _taken(store, _NEXT, again)
        assert (claim.item, claim.generation, claim.attempts) == ("a", 2, 1)

    async def test_a_run_ends_and_the_next_is_taken(self, store: Store) -> None:
        """With everything a worker writes at the end of a run."""
        await start(store, "r")
        await start(store, "q")
        held = await take(store, "r")
        [claim] = await _taken(
            store,
            append("r", 0, 2, held.generation),
            UpdateRun("r", "COMPLETED", False, "completed", AT, "{}", 1, held.generation),
            Enqueue("polls", "p", AT, "ann"),
            _back(held),
            ClaimDue("runs", "w", LEASE_SECONDS),
        )
        assert claim.item == "q"
        assert await store.read_head("r") == 2

    async def test_as_many_are_taken_as_are_asked_for(self, store: Store) -> None:
        """The earliest due first; of several queues in the order of the batch."""
        await _enqueue(store, *"abcdef")
        await put(store, Enqueue("polls", "p", AT, "ann"))
        wishes = [ClaimDue("jobs", "w", 60, 3), ClaimDue("polls", "v", 30, 3), ClaimDue("jobs", "w", 60, 2)]
        claims = await _taken(store, *wishes)
        assert [(one.queue, one.item) for one in claims] == [
            *(("jobs", item) for item in "abc"),
            ("polls", "p"),
            *(("jobs", item) for item in "de"),
        ]
        ends = {(one.queue, (one.until - one.store_now).total_seconds()) for one in claims}
        assert ends == {("jobs", 60), ("polls", 30)}
        assert await _taken(store, ClaimDue("jobs", "w", 60, 0)) == []

    async def test_shares_hold_and_what_is_given_back_makes_room(self, store: Store) -> None:
        """Who has all he may gets the next by giving one back, and users with fewer leases come first."""
        await _enqueue(store, "a1", "a2", "a3")
        shares = Shares(per_user=1)
        next_one = ClaimDue("jobs", "w", LEASE_SECONDS, 2, shares=shares)
        [first] = await _taken(store, next_one)
        assert await _taken(store, append("r", 0), next_one) == []
        [second] = await _taken(store, _back(first), next_one)
        assert (first.item, second.item) == ("a1", "a2")
        await _enqueue(store, "b1", user_id="bob")
        [third] = await _taken(store, ClaimDue("jobs", "w", LEASE_SECONDS))
        assert third.item == "b1"

    async def test_a_reader_too_old_is_served_past_what_it_cannot_read(self, store: Store) -> None:
        """As where it claims."""
        now = await store.now()
        for item, min_reader in [("new", 3), ("old", 1)]:
            row = run(item, item, min_reader=min_reader)
            await put(store, InsertThread(thread(item)), InsertRun(row), Enqueue("runs", item, now, "ann"))
        assert [one.item for one in await _taken(store, ClaimDue("runs", "w", 9, 9, 2))] == ["old"]
        assert [one.item for one in await _taken(store, ClaimDue("runs", "w", 9, 9, 3))] == ["new"]

    async def test_workers_that_take_on_at_once_take_each_entry_once(
        self, store: Store, other: Store
    ) -> None:
        """Whatever they take it beside: releases, appends, or both; a refused batch among them takes nothing."""
        await _enqueue(store, *(f"j{number:03}" for number in range(60)))

        async def work(number: int) -> list[str]:
            done, handle = [], (store, other)[number % 2]
            held = await _taken(handle, _NEXT)
            while held:
                done += [claim.item for claim in held]
                stale = await handle.commit([append("none", 5), _NEXT])
                assert stale == Refused(Guard.POSITION, 0)
                kept: list[Item] = [append(claim.item, 0, 1) for claim in held if number % 3]
                held = await _taken(handle, *kept, *map(_back, held), _NEXT)
            return done

        shifts = await asyncio.gather(*map(work, range(8)))
        done = Counter(item for shift in shifts for item in shift)
        assert set(done.values()) == {1}
        assert len(done) == 60
        assert await store.list_leases("jobs") == []

    async def test_workers_that_take_on_at_once_pass_no_bound(self, store: Store, other: Store) -> None:
        """Though each takes in a commit of its own."""
        await _enqueue(store, *(f"a{number}" for number in range(9)))
        await _enqueue(store, *(f"b{number}" for number in range(9)), user_id="bob")
        next_one = ClaimDue("jobs", "w", LEASE_SECONDS, 2, shares=Shares(per_user=3, per_label=5))
        found = await asyncio.gather(
            *[_taken((store, other)[number % 2], append(f"s{number}", 0), next_one) for number in range(10)]
        )
        users = Counter(claim.item[0] for claims in found for claim in claims)
        assert sum(users.values()) == 5
        assert max(users.values()) <= 3
