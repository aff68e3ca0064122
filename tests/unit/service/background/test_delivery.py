"""Telling a thread: once, in order, whatever the thread is at, and whoever dies meanwhile."""

import asyncio
from datetime import timedelta
from pathlib import Path
from typing import Any
from unittest.mock import patch

import pytest

from outlast.adapters.tools.ask_human import AskHuman
from outlast.domain.background import BackgroundTask
from outlast.domain.errors import ModelCallFailed
from outlast.domain.events import EndAwaited, RunStarted, TaskReported
from outlast.domain.notification import Notification
from outlast.domain.states import State
from outlast.journal.thread import read_thread_words
from outlast.ports.background_driver import Product, Question, RemoteStatus, Snapshot
from outlast.ports.run_rows import RunFilter
from outlast.service import signals
from outlast.service.background import verbs
from outlast.service.background.verbs import redrive_task
from outlast.service.removal import find_expired
from outlast.service.thread_removal import Ender, delete_thread
from outlast.tasks.happenings import Queue
from outlast.testing.faults import Crash, CrashPlan, Faulty
from tests.law import law
from tests.patience import PATIENCE_SECONDS
from tests.unit.runs.parts import ask_for, call, conclude, results, roles, say, subtask_of
from tests.unit.service.background.farm import Hands, farming, rendering
from tests.unit.tasks.remote import DONE

ENDER = Ender(holder="me", is_gone=lambda holder: False)


async def submitted(hands: Hands, thread_id: str = "t-1") -> BackgroundTask:
    """A task whose run has ended."""
    await hands.stage.play("render it", thread_id=thread_id)
    return (await hands.tasks())[-1]


async def ended(hands: Hands, snapshot: Any = DONE) -> None:
    hands.farm.remote.default = snapshot
    await hands.poll()


async def told_runs(hands: Hands, thread_id: str = "t-1") -> list[str]:
    """The runs that were started to tell the thread something, the oldest first."""
    rows = await hands.store.list_runs(RunFilter(thread_id=thread_id))
    found = []
    for row in reversed(rows):
        started = (await hands.stage.events(row.run_id, RunStarted))[0]
        found += [row.run_id] if started.tells_of else []
    return found


async def answers(hands: Hands, thread_id: str = "t-1") -> list[str]:
    words = await read_thread_words(hands.store, thread_id)
    return [one.text for one in words if one.speaker in ("assistant", "note")]


def asking(request: Any) -> Any:
    """Renders, then asks a person, then says what was heard."""
    if not request.tools:
        return say("It is done.")
    steps = (ask_for(call("render", scene="a")), ask_for(call("ask_human", question="And?")), say("Heard."))
    return steps[len(results(request))]


@law("TASK-4.b")
async def test_a_thread_whose_run_is_at_work_is_told_when_that_has_ended(tmp_path: Path) -> None:
    async with farming(tmp_path) as hands:
        await submitted(hands)
        busy = await hands.stage.start("hello", thread_id="t-1")
        await ended(hands)
        assert await hands.do(Queue.NOTIFY) == 1
        assert (await hands.task()).notification is Notification.PENDING
        assert await hands.stage.events(busy, EndAwaited) == [
            EndAwaited("task_notify", (await hands.task()).task_id)
        ]
        assert await told_runs(hands) == []
        await hands.stage.work(busy)
        assert await hands.do(Queue.NOTIFY) == 1, "the end of the run makes it due"
        await hands.work_due()
        assert (await hands.task()).notification is Notification.DELIVERED
        assert (await hands.task()).notification_failures == 0


@law("TASK-8.a")
async def test_the_commit_that_ends_a_task_wakes_who_tells_of_it(tmp_path: Path) -> None:
    async with farming(tmp_path) as hands:
        await submitted(hands)
        watch = hands.store.watch([f"queue:{Queue.NOTIFY.value}"])
        try:
            await ended(hands)
            async with asyncio.timeout(PATIENCE_SECONDS):
                assert await watch.wait(PATIENCE_SECONDS)
        finally:
            watch.stop()
        entry = await hands.store.read_entry(Queue.NOTIFY.value, (await hands.task()).task_id)
        assert entry is not None
        assert entry.due_at == (await hands.task()).ended_at, "no wait is in between"


async def test_a_run_that_only_tells_keeps_nobody_out_of_the_thread(tmp_path: Path) -> None:
    async with farming(tmp_path) as hands:
        await submitted(hands)
        await ended(hands)
        await hands.do(Queue.NOTIFY)
        telling = (await told_runs(hands))[0]
        for strategy in ("reject", "interrupt"):
            begun = await hands.stage.start("hello", thread_id="t-1", strategy=strategy)
            assert (await hands.stage.state(begun)).in_line
        assert (await hands.stage.state(telling)).wants_cancel is None
        await hands.work_due()
        told = await answers(hands)
        assert (told[1], len(told)) == ("It is done.", 4)


async def test_a_run_that_stands_still_is_told_in_its_journal_and_not_woken_by_it(tmp_path: Path) -> None:
    async with farming(tmp_path, asking, AskHuman) as hands:
        run_id = await hands.stage.play("go", thread_id="t-1")
        await ended(hands)
        assert await hands.do(Queue.NOTIFY) == 1
        assert (await hands.task()).notification is Notification.DELIVERED
        reported = await hands.stage.events(run_id, TaskReported)
        assert [(event.name, event.status, event.is_open) for event in reported] == [
            ("render", "completed", False)
        ]
        asked = len(hands.stage.requests)
        await hands.work_due()
        assert (await hands.stage.state(run_id)).state is State.WAITING
        assert len(hands.stage.requests) == asked, "no model was asked"
        await signals.answer(hands.store, run_id, "ann", "Yes.")
        await hands.stage.work(run_id)
        assert '"result": "done"' in hands.stage.requests[-1].messages[-1].text
        assert await told_runs(hands) == []


async def test_a_run_that_comes_to_a_halt_is_told_what_waited_for_that(tmp_path: Path) -> None:
    async with farming(tmp_path, asking, AskHuman) as hands:
        first = await submitted(hands)
        await signals.answer(hands.store, first.run_id, "ann", "Yes.")
        await hands.stage.work(first.run_id)
        busy = await hands.stage.start("go", thread_id="t-1")
        await ended(hands)
        await hands.do(Queue.NOTIFY)
        assert (await hands.task()).notification is Notification.PENDING
        await hands.stage.work(busy)
        assert (await hands.stage.state(busy)).state is State.WAITING
        await hands.do(Queue.NOTIFY)
        assert "render" in [event.name for event in await hands.stage.events(busy, TaskReported)]


@law("TASK-9.b")
async def test_what_is_due_together_is_told_by_one_run(tmp_path: Path) -> None:
    def twice(request: Any) -> Any:
        both = ask_for(call("render", scene="a"), call("render", scene="b"))
        return both if request.tools and not results(request) else say("Both are done.")

    async with farming(tmp_path, twice) as hands:
        await submitted(hands)
        await ended(hands)
        await hands.do(Queue.NOTIFY)
        await hands.work_due()
        assert [task.notification for task in await hands.tasks()] == [Notification.DELIVERED] * 2
        assert len(await told_runs(hands)) == 1
        assert "render, render-2" in hands.stage.requests[-1].messages[-1].text.replace(
            "render-2, render", "render, render-2"
        )


async def test_a_newer_event_is_told_after_the_one_that_is_being_told(tmp_path: Path) -> None:
    async with farming(tmp_path) as hands:
        await submitted(hands)
        question = {"q": Question("form", "Sure?")}
        await ended(hands, Snapshot(status=RemoteStatus.INPUT_REQUIRED, questions=question))
        await hands.do(Queue.NOTIFY)
        await ended(hands)
        assert await hands.do(Queue.NOTIFY) == 0
        await hands.work_due()
        assert (await hands.task()).notification is Notification.PENDING
        assert await hands.do(Queue.NOTIFY) == 1
        await hands.work_due()
        task = await hands.task()
        assert (task.notification, task.notified_version) == (Notification.DELIVERED, 2)
        assert len(await told_runs(hands)) == 2


async def test_a_run_is_not_over_while_its_task_goes_on_or_is_to_be_told(tmp_path: Path) -> None:
    async with farming(tmp_path) as hands:
        task = await submitted(hands)
        later = await hands.store.now() + timedelta(days=1)

        async def expired() -> list[str]:
            return [row.run_id async for row in find_expired(hands.store, later, include_failed=True)]

        assert await expired() == []
        await ended(hands)
        assert await expired() == []
        await hands.do(Queue.NOTIFY)
        await hands.work_due()
        assert task.run_id in await expired()


@law("TASK-4.c")
async def test_a_thread_that_is_gone_is_told_nothing_and_not_made_again(tmp_path: Path) -> None:
    async with farming(tmp_path) as hands:
        task = await submitted(hands)
        await delete_thread(hands.store, None, "t-1", "local", ENDER)
        assert (await hands.task()).cancel_requested_at is not None
        await hands.do(Queue.CANCEL)
        assert hands.farm.remote.cancels[task.remote_id or ""] == 1
        await ended(hands)
        assert await hands.do(Queue.NOTIFY) == 0
        assert (await hands.task()).notification is Notification.NONE
        assert await hands.store.read_thread("t-1") is None
        assert await hands.store.list_runs(RunFilter(thread_id="t-1")) == []


async def test_however_many_tasks_a_deleted_thread_has_all_of_them_are_ended(tmp_path: Path) -> None:
    async with farming(tmp_path) as hands:
        for _ in range(5):
            await submitted(hands)
        with patch.object(verbs, "_MOST", 2):
            await delete_thread(hands.store, None, "t-1", "local", ENDER)
        assert all(task.cancel_requested_at is not None for task in await hands.tasks())


@law("TASK-4.d", "TASK-4.e", "TASK-4.f", "TASK-7.e")
async def test_five_failures_make_a_dead_letter_which_a_person_revives(tmp_path: Path) -> None:
    def broken(request: Any) -> Any:
        if not request.tools:
            raise ModelCallFailed("auth", "no key")
        return rendering()(request)

    alarms = Alarms()
    async with farming(tmp_path, broken) as hands:
        hands.alarms.append(alarms)
        await submitted(hands)
        await ended(hands)
        for failures in range(1, 6):
            await hands.hurry(Queue.NOTIFY)
            assert await hands.do(Queue.NOTIFY) == 1
            await hands.work_due()
            assert (await hands.task()).notification_failures == failures
        task = await hands.task()
        assert task.notification is Notification.DEAD_LETTER
        runs = await told_runs(hands)
        assert len(set(runs)) == 5
        await hands.hurry(Queue.NOTIFY)
        await hands.do(Queue.NOTIFY)
        assert await told_runs(hands) == runs
        assert await hands.do(Queue.ALERT) == 1
        assert await hands.do(Queue.ALERT) == 0
        assert [one["alert"] for one in alarms.told] == ["dead_letter"]

        hands.stage.answering = rendering("Done after all.")
        assert (await redrive_task(hands.store, "local", "RENDER"))["notification"]["state"] == "pending"
        await hands.do(Queue.NOTIFY)
        await hands.work_due()
        assert (await hands.task()).notification is Notification.DELIVERED
        assert (await answers(hands))[-1] == "Done after all."


class Alarms:
    """Keeps what operators are told; the first word does not get through."""

    def __init__(self) -> None:
        self.told: list[Any] = []

    async def send(self, told: Any, deadline_seconds: float) -> str | None:
        self.told.append(told)
        return None


@pytest.mark.parametrize(("notify", "notes"), [("note", 1), ("off", 0)])
async def test_without_an_agent_a_note_or_nothing_is_left_and_no_model_asked(
    tmp_path: Path, notify: Any, notes: int
) -> None:
    async with farming(tmp_path) as hands:
        hands.stage.notify = notify
        await submitted(hands)
        asked = len(hands.stage.requests)
        await ended(hands)
        await hands.do(Queue.NOTIFY)
        await hands.work_due()
        assert len(hands.stage.requests) == asked
        words = await read_thread_words(hands.store, "t-1")
        assert [words for words in words if words.speaker == "note"] == words[2:]
        assert len(words) == 2 + notes
        await hands.stage.play("Is it done?", thread_id="t-1")
        assert '"completed"' in str(hands.stage.requests[-1].messages)


@law("TASK-4.a", "TASK-8.b")
async def test_a_delivery_survives_a_worker_that_dies_before_and_after_every_call_of_the_store(
    tmp_path: Path,
) -> None:
    counting = CrashPlan()
    async with farming(tmp_path) as hands:
        await submitted(hands)
        await ended(hands)
        await delivered(hands, counting)
    assert len(counting.points) > 10
    for point in counting.points:
        async with farming(tmp_path) as hands:
            await submitted(hands)
            await ended(hands)
            await delivered(hands, CrashPlan(point))
            task = await hands.task()
            assert task.notification is Notification.DELIVERED, point
            assert await answers(hands) == ["It goes on.", "It is done."], point
            done = [
                run
                for run in await told_runs(hands)
                if (await hands.stage.state(run)).state is State.COMPLETED
            ]
            assert len(done) == 1, point


async def delivered(hands: Hands, plan: CrashPlan) -> None:
    """Deliver and tell, by workers of which the first dies where the plan says."""
    store = hands.stage.store
    task = await hands.task()
    for _ in range(4):
        hands.stage.store = Faulty(store, plan, "store")  # type: ignore[assignment]
        try:
            await hands.do(Queue.NOTIFY)
            for run_id in await told_runs(hands):
                await hands.stage.work(run_id)
        except Crash:
            plan = CrashPlan()
        finally:
            hands.stage.store = store
        await store.expire_lease(Queue.NOTIFY.value, task.task_id)  # type: ignore[attr-defined]
        for run_id in await told_runs(hands):
            await store.expire_lease("runs", run_id)  # type: ignore[attr-defined]
        if (await hands.task()).notification is Notification.DELIVERED:
            return


async def test_a_subtask_waits_for_its_task_without_a_model_and_goes_on_with_what_came_of_it(
    tmp_path: Path,
) -> None:
    def executor(request: Any) -> Any:

        if subtask_of(request) != "s1":
            return conclude(f"{subtask_of(request)} is so.")
        if not results(request):
            return ask_for(call("render", scene="a"))
        return conclude("s1 is so, since it came to: " + str("done" in request.messages[-1].text))

    async with farming(tmp_path, roles(execute=executor), workflow="research") as hands:
        run_id = await hands.stage.play("What is there?", thread_id="t-1")
        state = await hands.stage.state(run_id)
        assert state.state is State.WAITING
        asked = len(hands.stage.requests)
        await hands.work_due()
        assert len(hands.stage.requests) == asked
        await ended(hands, Snapshot(status=RemoteStatus.COMPLETED, product=Product("done")))
        await hands.do(Queue.NOTIFY)
        assert (await hands.task()).notification is Notification.DELIVERED
        await hands.work_due()
        state = await hands.stage.state(run_id)
        assert state.state is State.COMPLETED
        assert state.plan[0].conclusions[0].claim.endswith("True")
