"""Many idle workers hear of one due run, and few of them ask the store for it."""

import asyncio
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from outlast.adapters.stores.sqlite import SqliteStore
from outlast.ports.queue import Claim, Enqueue
from outlast.runs.crowd import APART_SECONDS, MOST_SECONDS, hold_back_seconds
from outlast.runs.shift import Shift
from tests.unit.runs.parts import in_turn, say
from tests.unit.runs.stage import BOUND_SECONDS, staged


def test_a_worker_alone_does_not_hold_back() -> None:
    assert hold_back_seconds(1, 5.0, 0.99) == 0.0


def test_the_first_of_a_crowd_comes_about_as_soon_as_one_of_few() -> None:
    for workers in (2, 10, 400):
        first = hold_back_seconds(workers, 0.0, 1 / workers)
        assert APART_SECONDS / 2 <= first <= APART_SECONDS


def test_a_slow_store_is_asked_less_often_up_to_a_bound() -> None:
    assert hold_back_seconds(11, 0.05, 1.0) == 0.5
    assert hold_back_seconds(100_000, 5.0, 1.0) == MOST_SECONDS


class Counting(SqliteStore):
    """Counts the claims of runs, and tells of every look at what is due."""

    claims = 0

    def __init__(self) -> None:
        super().__init__(None)
        self.looked = asyncio.Semaphore(0)

    async def claim(self, queue: str, *args: Any, **named: Any) -> list[Claim]:
        self.claims += queue == "runs"
        return await super().claim(queue, *args, **named)

    async def next_due(self, queue: str) -> Any:
        found = await super().next_due(queue)
        self.looked.release()
        return found

    async def looks(self, number: int) -> None:
        async with asyncio.timeout(BOUND_SECONDS):
            for _ in range(number):
                await self.looked.acquire()


async def test_what_is_due_later_is_looked_at_and_not_claimed(tmp_path: Path) -> None:
    store = Counting()
    async with staged(tmp_path, in_turn(say("done")), store=store) as stage:
        shift = Shift(stage.worker())
        serving = asyncio.create_task(shift.serve())
        await store.looks(1)
        later: Sequence[Enqueue] = [Enqueue("runs", "later", (await store.now()).replace(year=2999), "ann")]
        await store.commit(later)
        await store.looks(1)
        assert store.claims == 0
        run = await stage.start()
        watch = store.watch([run])
        async with asyncio.timeout(BOUND_SECONDS):
            while "COMPLETED" not in await stage.states(run):
                await watch.wait(0.05)
        assert store.claims >= 1
        shift.stop()
        await serving
