"""Fencing: who lost his lease writes nothing, however late he notices."""

from __future__ import annotations

import asyncio
from datetime import timedelta

import pytest

from outlast.ports.batch import Committed, Guard, Item, Refused
from outlast.ports.queue import Claim, Enqueue, Release
from outlast.ports.run_rows import UpdateRun
from outlast.ports.store import Store
from outlast.ports.stream import Append
from outlast.testing.contracts.store.handles import TestableStore
from outlast.testing.contracts.store.samples import (
    AT,
    LEASE_SECONDS,
    append,
    events,
    put,
    start,
    take,
)


def _writes_of(claim: Claim, after: int = 0) -> list[Item]:
    """Everything a worker writes under its lease."""
    return [
        append("r", after, generation=claim.generation),
        UpdateRun("r", "EXECUTING", True, None, AT, "{}", 1, claim.generation),
        Release("runs", "r", claim.generation, None),
    ]


async def _assert_refused(store: Store, writes: list[Item]) -> None:
    for write in writes:
        assert await store.commit([write]) == Refused(Guard.GENERATION, 0)


@pytest.mark.asyncio
class FencingContract:
    """What is promised of generations."""

    async def test_a_stale_worker_writes_nothing(self, store: TestableStore, other: TestableStore) -> None:
        """After a takeover its append, update, release and renewal are refused; the new worker's are not."""
        await start(store)
        stale = await take(store)
        await store.expire_lease("runs", "r")
        fresh = await take(other)
        await _assert_refused(store, _writes_of(stale))
        assert await store.renew([stale], LEASE_SECONDS) == set()
        row, entry = await store.read_run("r"), await store.read_entry("runs", "r")
        assert row is not None
        assert row.state == "INIT"
        assert entry is not None
        assert (entry.generation, entry.until) == (2, fresh.until)
        assert await store.read_events("r") == []
        await put(other, *_writes_of(fresh))

    async def test_an_evicted_worker_writes_nothing(self, store: Store) -> None:
        """As if its lease had run out."""
        await start(store)
        stale = await take(store)
        await take(store, evict=stale.generation)
        await _assert_refused(store, _writes_of(stale))

    async def test_leases_given_back_at_once_go_together_or_not_at_all(self, store: Store) -> None:
        """Of many workers that are done with many entries at the same moment, each keeps all or none of its own."""
        now = await store.now()
        await put(store, *[Enqueue("jobs", f"j{n}", now, "ann") for n in range(12)])
        claims = await store.claim("jobs", "w", LEASE_SECONDS, limit=12)
        assert len(claims) == 12
        last, late = claims[-1].item, now + timedelta(days=1)
        back = [Release("jobs", claim.item, claim.generation, None, "done") for claim in claims]
        back[4] = Release("jobs", claims[4].item, 9, None)
        back[8] = Release("jobs", claims[8].item, claims[8].generation, late, "later", is_quiet=True)
        batches = [back[:3], back[3:6], back[6:11], [back[11], back[11]]]
        answers = await asyncio.gather(*[store.commit(batch) for batch in batches])
        stale, twice = Refused(Guard.GENERATION, 1), Refused(Guard.GENERATION, 1)
        assert answers == [Committed(), stale, Committed(), twice]
        held = {entry.item for entry in await store.list_leases("jobs")}
        assert held == {claim.item for claim in [*claims[3:6], claims[11]]}
        entries = [await store.read_entry("jobs", claim.item) for claim in (claims[0], claims[8])]
        assert [(entry.due_at, entry.note) for entry in entries if entry is not None] == [
            (None, "done"),
            (late, "later"),
        ]
        await put(store, Release("jobs", last, claims[11].generation, None))

    async def test_a_lease_that_ran_out_holds_until_someone_takes_it(self, store: TestableStore) -> None:
        """Fencing goes by generations, never by trust in clocks."""
        await start(store)
        claim = await take(store)
        await store.expire_lease("runs", "r")
        await put(store, append("r", 0, generation=claim.generation))
        assert await store.renew([claim], LEASE_SECONDS) == {"r"}
        assert await store.claim("runs", "w", LEASE_SECONDS) == []
        await put(store, *_writes_of(claim, 1))

    async def test_a_lease_given_back_is_no_lease(self, store: Store) -> None:
        """Its own generation is refused from then on, though nobody has taken it."""
        await start(store)
        claim = await take(store)
        await put(store, Release("runs", "r", claim.generation, None))
        await _assert_refused(store, _writes_of(claim))
        assert await store.renew([claim], LEASE_SECONDS) == set()

    async def test_a_generation_that_never_was_is_refused(self, store: Store) -> None:
        """Of an entry never claimed, of no entry at all, and of the future."""
        now = await store.now()
        await start(store)
        for generation in (0, 1, -1):
            await _assert_refused(store, [append("r", 0, generation=generation)])
        await _assert_refused(store, [append("q", 0, generation=1), Release("runs", "q", 1, now)])
        await take(store)
        await _assert_refused(store, [append("r", 0, generation=2), append("r", 0, generation=0)])

    async def test_a_lease_of_another_queue_is_another_lease(self, store: Store) -> None:
        """An append names the queue whose lease it stands on."""
        await put(store, Enqueue("polls", "r", await store.now(), "ann"))
        await take(store, queue="polls")
        await _assert_refused(store, [append("r", 0, generation=1)])
        assert await store.commit([Append("r", 0, events(1), 1, "polls")]) == Committed()

    async def test_a_signal_needs_no_lease(self, store: Store, other: Store) -> None:
        """Without a generation only the position counts, whoever holds the lease."""
        await start(store)
        claim = await take(store)
        await put(other, append("r", 0))
        assert await store.commit([append("r", 0, generation=claim.generation)]) == Refused(Guard.POSITION, 0)
        await put(store, append("r", 1, generation=claim.generation))

    async def test_leases_are_renewed_together(self, store: TestableStore) -> None:
        """Those lost are left out of the answer and left alone."""
        claims = []
        for run_id in ("a", "b", "c"):
            await start(store, run_id)
            claims.append(await take(store, run_id))
        await store.expire_lease("runs", "b")
        taken = await take(store, "b")
        before = await store.now()
        assert await store.renew(claims, 3600) == {"a", "c"}
        assert await store.renew([], 3600) == set()
        entries = [await store.read_entry("runs", item) for item in ("a", "b", "c")]
        a, b, c = [entry.until for entry in entries if entry is not None]
        assert a is not None
        assert a == c
        assert a >= before + timedelta(seconds=3600)
        assert b == taken.until
