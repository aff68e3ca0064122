"""Many idle workers hear of one due run, and few of them ask the store for it."""

import asyncio
from collections.abc import Sequence
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any

from outlast.adapters.stores.sqlite import SqliteStore
from outlast.domain.errors import Broken
from outlast.domain.events import RunClaimed
from outlast.journal.upcast import READER
from outlast.ports.queue import Claim, Enqueue
from outlast.runs.crowd import (
    APART_SECONDS,
    MOST_SECONDS,
    SAFETY_POLL_SECONDS,
    hold_back_seconds,
    is_found_in_time,
)
from outlast.runs.giving_back import give_back
from outlast.runs.shift import Shift
from tests.law import law
from tests.patience import PATIENCE_SECONDS
from tests.unit.runs.parts import in_turn, say
from tests.unit.runs.stage import Stage, staged


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
        async with asyncio.timeout(PATIENCE_SECONDS):
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
        async with asyncio.timeout(PATIENCE_SECONDS):
            while "COMPLETED" not in await stage.states(run):
                await watch.wait(0.05)
        assert store.claims >= 1
        shift.stop()
        await serving


@law("RUN-10.a")
async def test_the_run_of_a_worker_that_is_gone_is_taken_when_its_lease_ends(tmp_path: Path) -> None:
    """Not when an idle worker happens to look the next time."""
    async with staged(tmp_path, in_turn(say("done"))) as stage:
        run = await stage.start()
        [gone] = await stage.store.claim("runs", "gone", 1.0, reader=READER)
        watch = stage.store.watch([run])
        shift = Shift(stage.worker())
        serving = asyncio.create_task(shift.serve())
        while not (claimed := await taken_up(stage, run)):
            await watch.wait(PATIENCE_SECONDS)
        shift.hurry()
        await serving
        watch.stop()
    assert claimed[0] >= gone.until
    assert claimed[0] - gone.until < timedelta(seconds=0.7 * SAFETY_POLL_SECONDS)


async def taken_up(stage: Stage, run: str) -> list[datetime]:
    return [one.at for one in await stage.history(run) if isinstance(one.event, RunClaimed)]


async def test_a_run_that_is_offered_again_later_wakes_nobody(tmp_path: Path) -> None:
    """It is found in time by whoever looks now and then."""
    async with staged(tmp_path, in_turn(say("done"))) as stage:
        run = await stage.start()
        [claim] = await stage.store.claim("runs", "w", 60, reader=READER)
        watch = stage.store.watch(["queue:runs"])
        await give_back(stage.store, claim, Broken("store_full", "No room.", "Make some."))
        assert not await watch.wait(0.1)
        entry = await stage.store.read_entry("runs", run)
        assert entry is not None
        assert entry.due_at is not None
        assert is_found_in_time(entry.due_at - await stage.store.now())
        watch.stop()


def test_what_is_due_before_everybody_has_looked_is_told() -> None:
    assert not is_found_in_time(timedelta(seconds=SAFETY_POLL_SECONDS))
    assert is_found_in_time(timedelta(minutes=1))
