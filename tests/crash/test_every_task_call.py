"""A worker dies before and after every call of every port while it looks after a background task; all comes out as without it.

One task asks something, is answered, and ends; another is cancelled; their conversations are told of all of it. Calls are counted
in a life that nothing disturbs, so that one that is added later is swept without being named.
"""

import sys
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from outlast.domain.background import BackgroundTask, TaskStatus
from outlast.domain.notification import Notification
from outlast.journal.thread import read_thread_words
from outlast.ports.background_driver import (
    Answer,
    BackgroundDriver,
    Forgotten,
    Handle,
    Question,
    RemoteStatus,
    Snapshot,
    Trouble,
)
from outlast.ports.run_rows import RunFilter
from outlast.tasks.desk import happen
from outlast.tasks.happenings import Answered, CancelAsked, Decided, Happening, Queue
from outlast.tasks.rules import Moment
from outlast.testing.faults import Crash, CrashPlan, CrashPoint, Faulty
from tests.law import law
from tests.unit.service.background.farm import RULES, Hands, farming
from tests.unit.tasks.remote import DONE, Remote

ASKING = Snapshot(status=RemoteStatus.INPUT_REQUIRED, questions={"q": Question("form", "Which colour?")})
MOST_LIVES = 30


STOPPED = Snapshot(status=RemoteStatus.CANCELLED)

Life = Callable[[Hands, CrashPlan], Awaitable[int]]


class Asker(Remote):
    """Asks until it is answered, and is done then; ends when it is cancelled. Every call of it goes through `plan`."""

    plan = CrashPlan()

    async def driver_for(self, driver: str, server: str) -> BackgroundDriver | Trouble:
        return Faulty(self, self.plan, "driver")

    async def poll(self, handle: Handle, deadline_seconds: float) -> Snapshot | Forgotten | Trouble:
        is_stopped = self.cancels[handle.remote_id] > 0
        self.default = STOPPED if is_stopped else DONE if self.answers[handle.remote_id] else ASKING
        return await super().poll(handle, deadline_seconds)


@dataclass(frozen=True)
class Ended:
    """What is left of a life."""

    task: BackgroundTask
    result: str | None
    said: list[tuple[str, str]]
    keys: list[str]
    sent: list[Mapping[str, Answer]]
    cancels: int
    crashes: int


async def lived(folder: Path, plan: CrashPlan, life: Life) -> Ended:
    """A task from its call to the word that it has ended, with one process dying where `plan` says."""
    async with farming(folder) as hands:
        remote = Asker()
        hands.farm.remote = remote
        await hands.stage.play("render it", thread_id="t-1")
        crashes = await life(hands, plan)
        task = await hands.task()
        rows = await hands.store.list_runs(RunFilter(thread_id="t-1"))
        return Ended(
            task,
            await hands.store.read_task_result(task.task_id),
            [(words.speaker, words.text) for words in await read_thread_words(hands.store, "t-1")],
            sorted(row.key or "" for row in rows),
            remote.answers[task.remote_id or ""],
            remote.cancels[task.remote_id or ""],
            crashes,
        )


async def answered(hands: Hands, plan: CrashPlan) -> int:
    """It asks, is answered and ends."""
    crashes = await live(hands, plan, until=Notification.DELIVERED, version=1)
    await wish(hands, Answered("q", Answer("accept", {"colour": "red"}), "ann"))
    return crashes + await live(
        hands, CrashPlan() if crashes else plan, until=Notification.DELIVERED, version=2
    )


async def cancelled(hands: Hands, plan: CrashPlan) -> int:
    """Somebody wants it cancelled, and again after the process that was to see to it has died."""
    await wish(hands, CancelAsked("ann"))
    return await live(
        hands, plan, until=Notification.DELIVERED, version=1, after_death=CancelAsked("ann, impatient")
    )


async def wish(hands: Hands, happening: Happening) -> None:
    """A person does something to the task that is still open."""
    now, task = await hands.store.now(), await hands.task()
    decided = await happen(hands.store, task.task_id, happening, lambda _: RULES, Moment(now))
    assert isinstance(decided, Decided)


async def live(
    hands: Hands,
    plan: CrashPlan,
    *,
    until: Notification,
    version: int,
    after_death: Happening | None = None,
) -> int:
    """Processes come and die until the task has been told of; how many died."""
    crashes = 0
    for _ in range(MOST_LIVES):
        try:
            await one_process(hands, plan)
        except Crash:
            crashes, plan = crashes + 1, CrashPlan()
            if after_death is not None and (await hands.task()).is_open:
                await wish(hands, after_death)
            await leases_run_out(hands)
        task = await hands.task()
        if (task.notification, task.notified_version) == (until, version):
            return crashes
    raise AssertionError(f"version {version} was never told of")


async def one_process(hands: Hands, plan: CrashPlan) -> None:
    """Everything that is due is done once, by a process whose every call may be its last."""
    whole, hands.stage.store = hands.stage.store, Faulty(hands.stage.store, plan, "store")
    assert isinstance(hands.farm.remote, Asker)
    hands.farm.remote.plan = plan
    try:
        task = await hands.task()
        await hands.hurry(Queue.POLL if task.is_open else Queue.NOTIFY)
        for queue in (Queue.CANCEL, Queue.POLL, Queue.NOTIFY):
            await hands.do(queue)
        await hands.work_due()
    finally:
        hands.stage.store = whole


async def leases_run_out(hands: Hands) -> None:
    """The leases of the dead."""
    for queue in ("runs", *(queue.value for queue in Queue)):
        for entry in await hands.store.list_leases(queue):
            await hands.stage.store.expire_lease(queue, entry.item)  # type: ignore[attr-defined]


@law("TASK-2.a", "TASK-2.b", "TASK-4.a", "TASK-6.d")
@pytest.mark.timeout(1200)
@pytest.mark.parametrize(
    ("life", "end"), [(answered, TaskStatus.COMPLETED), (cancelled, TaskStatus.CANCELLED)]
)
async def test_a_background_task_survives_the_death_of_its_worker_at_every_call_of_every_port(
    tmp_path: Path, capsys: Any, life: Life, end: TaskStatus
) -> None:
    counting = CrashPlan()
    whole = await lived(tmp_path, counting, life)
    assert whole.task.status is end
    assert whole.crashes == 0
    failed: dict[CrashPoint, AssertionError] = {}
    for point in counting.points:
        plan = CrashPlan(point)
        try:
            check(await lived(tmp_path, plan, life), whole, plan)
        except AssertionError as error:
            failed[point] = error
    with capsys.disabled():
        sys.stdout.write(f"\n{len(counting.points)} crash points of a task that is {end} were swept\n")
    assert not failed, "\n".join(f"{point.side} {point.label}: {error}" for point, error in failed.items())


def check(found: Ended, whole: Ended, plan: CrashPlan) -> None:
    """The same end, the same words, the same runs, and no answer or wish that nobody had."""
    assert plan.was_reached, "the point was not reached"
    assert found.crashes == 1
    assert (found.task.status, found.task.event_version) == (whole.task.status, whole.task.event_version)
    assert found.result == whole.result
    assert found.said == whole.said
    assert len(found.keys) == len(whole.keys)
    assert set(map(str, found.sent)) == set(map(str, whole.sent))
    assert whole.cancels <= found.cancels <= whole.cancels + 1
    assert found.task.cancel_requested_by == whole.task.cancel_requested_by
