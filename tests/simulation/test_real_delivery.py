"""Background tasks with the real delivery: real runs on a real store tell of them, while processes die at random calls.

The simulation beside this one models the runs, and plays thousands of schedules. Here some dozens are played with nothing modelled
but the server and the model. A failure names its seed.
"""

from __future__ import annotations

import json
from collections import Counter
from pathlib import Path
from random import Random
from typing import Any, Final

import pytest

from outlast.domain.background import BackgroundTask, TaskStatus
from outlast.domain.events import RunStarted
from outlast.domain.notification import Notification
from outlast.domain.states import State
from outlast.ports.background_driver import (
    Answer,
    Forgotten,
    Question,
    RemoteStatus,
    Snapshot,
    Trouble,
)
from outlast.ports.run_rows import RunFilter
from outlast.tasks.desk import happen
from outlast.tasks.happenings import Answered, CancelAsked, Queue
from outlast.tasks.rules import Moment
from outlast.testing.faults import Crash, CrashPlan, CrashPoint, Faulty
from tests.law import law
from tests.unit.service.background.farm import RULES, Hands, farming
from tests.unit.tasks.remote import DONE, WORKING

SEEDS: Final = 60
STEPS: Final = 60
MOST_ROUNDS: Final = 40
THREADS: Final = ("t-0", "t-1")
VERBS: Final = ("commit", "read_tasks", "claim", "list_tasks", "read_events", "read_thread", "list_runs")
FAILED: Final = Snapshot(status=RemoteStatus.FAILED, error_code="oven", error="It is cold.")
QUEUES: Final = (Queue.CANCEL, Queue.POLL, Queue.NOTIFY, Queue.ALERT)


class Days:
    """What befalls the tasks of one seed."""

    def __init__(self, hands: Hands, dice: Random) -> None:
        self.hands = hands
        self.dice = dice
        self.deaths = 0

    async def rough(self) -> None:
        """The server changes its mind, people act, workers die."""
        for _ in range(1 + self.dice.randrange(3)):
            await self.hands.stage.play("render it", thread_id=self.dice.choice(THREADS))
        for _ in range(STEPS):
            await self.dice.choice(
                (self.server_turns, self.server_turns, self.somebody_acts, *[self.process] * 6)
            )()

    async def server_turns(self) -> None:
        asking = Snapshot(
            status=RemoteStatus.INPUT_REQUIRED,
            questions={f"q{self.dice.randrange(3)}": Question("form", "Which colour?")},
        )
        trouble = Trouble("odd", "It is odd.", "Look.", passing=self.dice.random() < 0.5)
        ends = (DONE, FAILED) if self.dice.random() < 0.2 else ()
        replies = (WORKING, asking, asking, trouble, Forgotten(), *ends)
        handle = self.dice.choice(self.hands.farm.handles)
        self.hands.farm.remote.replies[handle.remote_id] = self.dice.choice(replies)

    async def somebody_acts(self) -> None:
        task = self.dice.choice(await self.hands.tasks())
        moment = Moment(await self.hands.store.now())
        happening: Any = CancelAsked("ann")
        if self.dice.random() < 0.3:
            return
        if task.open_questions:
            happening = Answered(next(iter(task.open_questions)), Answer("accept", {}), "ann")
        elif self.dice.random() < 0.7:
            with_run = self.hands.stage.start("hello", thread_id=task.thread_id, strategy="enqueue")
            await with_run
            return
        await happen(self.hands.store, task.task_id, happening, lambda _: RULES, moment)

    async def process(self) -> None:
        """A worker does what is due in one queue, and dies at some call if it comes so far; its leases run out then or later."""
        point = CrashPoint(
            f"store.{self.dice.choice(VERBS)}#{1 + self.dice.randrange(6)}",
            self.dice.choice(("before", "after")),
        )
        plan = CrashPlan(point if self.dice.random() < 0.4 else None)
        stage, whole = self.hands.stage, self.hands.stage.store
        queue = self.dice.choice((*QUEUES, Queue.POLL, Queue.NOTIFY, None))
        if queue is not None and self.dice.random() < 0.8:
            await self.hands.hurry(queue)
        stage.store = Faulty(whole, plan, "store")
        try:
            await (self.hands.work_due() if queue is None else self.hands.do(queue))
        except Crash:
            self.deaths += 1
        finally:
            stage.store = whole
        if self.dice.random() < 0.7:
            await self.leases_run_out()

    async def leases_run_out(self) -> None:
        for queue in ("runs", *(queue.value for queue in QUEUES)):
            for entry in await self.hands.store.list_leases(queue):
                await self.hands.stage.store.expire_lease(queue, entry.item)  # type: ignore[attr-defined]

    async def calm(self) -> None:
        """Nothing goes wrong any more, until nothing is left to be done."""
        remote = self.hands.farm.remote
        remote.replies.clear()
        remote.default = DONE
        for _ in range(MOST_ROUNDS):
            await self.leases_run_out()
            await self.hands.work_due()
            for queue in QUEUES:
                await self.hands.hurry(queue)
                await self.hands.do(queue)
            await self.hands.work_due()
            if all(is_settled(task) for task in await self.hands.tasks()):
                return
        raise AssertionError("it never comes to rest")


def is_settled(task: BackgroundTask) -> bool:
    return not task.is_open and task.notified_version == task.event_version


async def tellings(hands: Hands) -> list[dict[str, Any]]:
    """What was told, by runs that came to their end, in the order of their beginning."""
    told: list[dict[str, Any]] = []
    for row in reversed(await hands.store.list_runs(RunFilter(limit=500))):
        state = await hands.stage.state(row.run_id)
        if state.tells_of and state.state is State.COMPLETED:
            (started,) = await hands.stage.events(row.run_id, RunStarted)
            told += json.loads(started.material)
    return told


@law("TASK-4.a", "TASK-4.b", "TASK-4.f")
@pytest.mark.timeout(600)
async def test_real_runs_tell_every_event_once_and_in_order_whatever_dies(tmp_path: Path) -> None:
    deaths, told = 0, 0
    for seed in range(SEEDS):
        try:
            async with farming(tmp_path) as hands:
                days = Days(hands, Random(seed))
                await days.rough()
                await days.calm()
                await check(hands)
                deaths, told = deaths + days.deaths, told + len(await tellings(hands))
        except BaseException as error:
            error.add_note(f"seed {seed}")
            raise
    assert deaths > SEEDS
    assert told > SEEDS


async def check(hands: Hands) -> None:
    """Every task came to an end that was told last; no version was told twice."""
    told = await tellings(hands)
    counts = Counter(one["id"] for one in told)
    last = {one["id"]: one["status"] for one in told}
    for task in await hands.tasks():
        assert task.notification is Notification.DELIVERED, task
        assert counts[task.task_id] <= task.event_version, "a version was told twice"
        assert last[task.task_id] == task.status.value, "the newest was not told last"
        ends = [one["status"] for one in told if one["id"] == task.task_id and is_end(one["status"])]
        assert len(ends) == (task.status is not TaskStatus.UNKNOWN_OUTCOME), "an end is told once"
    assert all(
        state.has_ended for state in [await hands.stage.state(row.run_id) for row in await all_runs(hands)]
    )


async def all_runs(hands: Hands) -> list[Any]:
    return await hands.store.list_runs(RunFilter(limit=500))


def is_end(status: str) -> bool:
    return TaskStatus(status) in (
        TaskStatus.COMPLETED,
        TaskStatus.FAILED,
        TaskStatus.CANCELLED,
        TaskStatus.LOST,
    )
