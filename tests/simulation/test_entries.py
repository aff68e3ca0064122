"""The simulated queue does what a real store does, on schedules that hypothesis draws."""

import asyncio
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Any

import hypothesis.strategies as st
from hypothesis import given, settings

from bench.simulation.entries import Dormant, Entries
from outlast.adapters.stores.sqlite import SqliteStore
from outlast.ports.batch import Committed, Item
from outlast.ports.queue import Claim, Enqueue, Release, Shares
from outlast.ports.stream import Append

START = datetime(2026, 1, 1, tzinfo=UTC)
ITEMS = {
    "t0": ("ann", "pay"),
    "t1": ("bob", "pay"),
    "a": ("ann", "pay"),
    "b": ("ann", "look"),
    "c": ("bob", "look"),
}
DORMANT = {"t0": 9_500, "t1": 21_500}

GENERATIONS = st.integers(0, 3)
BOUNDS = st.one_of(st.none(), st.integers(1, 2))
ACTS = st.one_of(
    st.tuples(st.just("enqueue"), st.sampled_from(sorted(ITEMS)), st.integers(-5, 20)),
    st.tuples(st.just("claim"), st.integers(1, 3), st.integers(1, 8), BOUNDS, BOUNDS),
    st.tuples(
        st.just("release"),
        st.sampled_from(sorted(ITEMS)),
        GENERATIONS,
        st.one_of(st.none(), st.integers(-5, 20)),
    ),
    st.tuples(st.just("renew"), st.sampled_from(sorted(ITEMS)), GENERATIONS, st.integers(1, 8)),
    st.tuples(st.just("append"), st.sampled_from(sorted(ITEMS)), GENERATIONS),
    st.tuples(st.just("wait"), st.integers(1, 10)),
)


def moment(milliseconds: float) -> datetime:
    return START + timedelta(milliseconds=milliseconds)


@dataclass
class Both:
    """A real store and the simulated queue, under one clock of milliseconds. Times differ, for no order is owed among equals."""

    store: SqliteStore
    entries: Entries
    now: int = 0
    acts: int = 0

    def later(self, seconds: int) -> int:
        return self.now + 1000 * seconds + 300 + self.acts

    async def enqueue(self, item: str, seconds: int) -> None:
        user, label = ITEMS[item]
        due_at = self.later(seconds)
        await self.commit(Enqueue("runs", item, moment(due_at), user, label))
        self.entries.enqueue(item, due_at, user, label, self.now)

    async def claim(self, limit: int, seconds: int, per_user: int | None, per_label: int | None) -> None:
        shares = Shares(per_user, per_label)
        lease = self.later(seconds) - self.now
        real = await self.store.claim("runs", "w", lease / 1000, limit=limit, shares=shares)
        ours = self.entries.claim(self.now + lease, limit, self.now, shares)
        assert [(it.item, it.generation, it.attempts) for it in ours] == [
            (it.item, it.generation, it.attempts) for it in real
        ]

    async def release(self, item: str, generation: int, seconds: int | None) -> None:
        due_at = None if seconds is None else self.later(seconds)
        real = await self.commit(
            Release("runs", item, generation, None if due_at is None else moment(due_at))
        )
        assert self.entries.release(item, generation, due_at, self.now) == real

    async def renew(self, item: str, generation: int, seconds: int) -> None:
        claim = Claim("runs", item, generation, START, START)
        lease = self.later(seconds) - self.now
        real = await self.store.renew([claim], lease / 1000)
        assert self.entries.renew(item, generation, self.now + lease, self.now) == (item in real)

    async def append(self, item: str, generation: int) -> None:
        real = await self.commit(Append(item, None, (), generation))
        assert self.entries.is_held(item, generation) == real

    async def wait(self, seconds: int) -> None:
        self.now += 1000 * seconds

    async def commit(self, item: Item) -> bool:
        return isinstance(await self.store.commit([item]), Committed)

    async def compare(self) -> None:
        """What is due next, and who holds what, is the same."""
        due_at = self.entries.next_due(self.now)
        assert (None if due_at is None else moment(due_at)) == await self.store.next_due("runs")
        assert self.entries.leased() == len(await self.store.list_leases("runs"))


async def play(acts: list[tuple[Any, ...]]) -> None:
    """Do the same to both, and compare them after each act."""
    both: Both
    store = SqliteStore(None, clock=lambda: moment(both.now))
    both = Both(store, Entries(Dormant(DORMANT.values(), lambda item: ITEMS[item][0]), "pay"))
    await store.open()
    for item, due_at in DORMANT.items():
        await both.commit(Enqueue("runs", item, moment(due_at), *ITEMS[item]))
    try:
        for act, *words in acts:
            both.acts += 1
            both.now += 1
            await getattr(both, act)(*words)
            await both.compare()
    finally:
        await store.close()


@settings(max_examples=60, deadline=None)
@given(st.lists(ACTS, min_size=5, max_size=40))
def test_the_simulated_queue_does_what_the_store_of_sqlite_does(acts: list[tuple[Any, ...]]) -> None:
    asyncio.run(play(acts))
