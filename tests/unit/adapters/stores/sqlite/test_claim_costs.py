"""What a claim costs is counted in steps of SQLite's machine, which do not depend on the machine it runs on."""

import sqlite3
from datetime import timedelta
from typing import Any

import pytest

from outlast.adapters.stores.sqlite import SqliteStore
from outlast.ports.queue import Enqueue, Shares


class Counted(sqlite3.Connection):
    """Counts the steps of all connections."""

    steps = 0

    def __init__(self, *arguments: Any, **options: Any) -> None:
        super().__init__(*arguments, **options)
        self.set_progress_handler(self._step, 1)

    @staticmethod
    def _step() -> int:
        Counted.steps += 1
        return 0


async def steps_of_a_claim(waiting: int, shares: Shares) -> int:
    """Of a claim of four entries, among ten users who have two due each and others who only wait."""
    store = SqliteStore(None, connection_class=Counted)
    await store.open()
    now = await store.now()
    await store.commit([Enqueue("runs", f"d{n}", now, f"d{n % 10}", "due") for n in range(20)])
    later = now + timedelta(days=1)
    await store.commit([Enqueue("runs", f"w{n}", later, f"w{n}", "waits") for n in range(waiting)])
    await store.claim("runs", "w", 60, limit=1, shares=shares)
    before = Counted.steps
    assert len(await store.claim("runs", "w", 60, limit=4, shares=shares)) == 4
    after = Counted.steps
    await store.close()
    return after - before


@pytest.mark.parametrize("shares", [Shares(), Shares(per_user=3)])
async def test_a_claim_costs_what_is_due_and_not_what_waits(shares: Shares) -> None:
    few, many = await steps_of_a_claim(10, shares), await steps_of_a_claim(2000, shares)
    assert many < 1.2 * few, (few, many)


async def test_entries_of_one_user_alone_are_chosen_at_once() -> None:
    async def steps(limit: int) -> int:
        store = SqliteStore(None, connection_class=Counted)
        await store.open()
        now = await store.now()
        await store.commit([Enqueue("runs", f"d{n}", now, "ann", "due") for n in range(100)])
        await store.claim("runs", "w", 60, shares=Shares())
        before = Counted.steps
        assert len(await store.claim("runs", "w", 60, limit=limit, shares=Shares())) == limit
        after = Counted.steps
        await store.close()
        return after - before

    assert await steps(32) < 20 * await steps(1)


async def test_a_claim_for_one_user_alone_looks_at_nobodys_leases() -> None:
    async def steps(leases: int) -> int:
        store = SqliteStore(None, connection_class=Counted)
        await store.open()
        now = await store.now()
        await store.commit([Enqueue("runs", f"d{n}", now, "ann", "due") for n in range(600)])
        await store.claim("runs", "w", 60, limit=leases, shares=Shares())
        before = Counted.steps
        await store.claim("runs", "w", 60, shares=Shares())
        after = Counted.steps
        await store.close()
        return after - before

    few, many = await steps(10), await steps(510)
    assert many < few + 10, (few, many)
