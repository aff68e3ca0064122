"""Opening and closing: what was committed stays, and a closed store says so."""

from __future__ import annotations

import asyncio
from datetime import timedelta

import pytest

from outlast.domain.errors import Broken
from outlast.ports.batch import Committed
from outlast.ports.queue import Enqueue
from outlast.ports.store import Store
from outlast.ports.stream import PutPayload, PutSnapshot
from outlast.testing.contracts.store.handles import MakeStore, StoreFixtures
from outlast.testing.contracts.store.samples import append, events, put, start, take


@pytest.mark.asyncio
class LifetimeContract(StoreFixtures):
    """What is promised of handles."""

    async def test_the_clock_tells_utc_and_goes_forward(self, store: Store) -> None:
        """Aware, and never back."""
        first, second = await store.now(), await store.now()
        assert first.utcoffset() == timedelta(0)
        assert first <= second

    async def test_everything_outlives_the_handle(self, make_store: MakeStore) -> None:
        """Journal, rows, leases, snapshots and payloads."""
        if not self.is_shared:
            pytest.skip("this storage ends with its handle")
        first = make_store()
        await first.open()
        await start(first)
        claim = await take(first)
        await put(first, append("r", 0, 3), PutSnapshot("r", 3, 1, "three"), PutPayload("r", "a" * 64, b"a"))
        row, entry = await first.read_run("r"), await first.read_entry("runs", "r")
        await first.close()
        second = make_store()
        await second.open()
        assert await second.read_events("r") == list(events(3))
        assert await second.read_run("r") == row is not None
        assert await second.read_entry("runs", "r") == entry is not None
        assert await second.read_snapshot("r") is not None
        assert await second.read_payloads(["a" * 64]) == {"a" * 64: b"a"}
        assert await second.renew([claim], 60) == {"r"}
        await second.close()

    async def test_closing_finishes_what_is_pending(self, make_store: MakeStore) -> None:
        """Commits that were asked for before are answered; closing again is harmless."""
        store = make_store()
        await store.open()
        commits = [asyncio.create_task(store.commit([append(f"s{n}", 0)])) for n in range(30)]
        await asyncio.sleep(0)
        await store.close()
        assert await asyncio.gather(*commits) == [Committed()] * 30
        await store.close()

    async def test_a_closed_store_says_so(self, make_store: MakeStore) -> None:
        """Broken with `store_unavailable`, before opening and after closing."""
        store = make_store()
        with pytest.raises(Broken) as unopened:
            await store.commit([append("r", 0)])
        await store.open()
        await store.close()
        with pytest.raises(Broken) as closed:
            await store.read_head("r")
        assert unopened.value.code == closed.value.code == "store_unavailable"

    async def test_any_event_loop_may_call(self, store: Store) -> None:
        """A heartbeat has a thread and loop of its own."""

        async def visit(number: int) -> int:
            now = await store.now()
            await put(store, append(f"s{number}", 0), Enqueue("runs", f"s{number}", now, "ann"))
            await take(store, f"s{number}")
            watch = store.watch([f"s{number}"])
            await put(store, append(f"s{number}", 1))
            assert await watch.wait(10)
            watch.stop()
            return await store.read_head(f"s{number}")

        def elsewhere(number: int) -> int:
            return asyncio.run(visit(number))

        heads = await asyncio.gather(visit(0), *[asyncio.to_thread(elsewhere, n) for n in range(1, 5)])
        assert heads == [2] * 5
