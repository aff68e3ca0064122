"""The hook after a call sees what comes from the background before the conversation does."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from outlast.domain.errors import CallerMistake
from outlast.domain.events import RunStarted
from outlast.domain.hooks import HookContext, Veto
from outlast.domain.notification import Notification
from outlast.journal.thread import read_thread_words
from outlast.ports.background_driver import Product, RemoteStatus, Snapshot
from outlast.ports.run_rows import RunFilter
from outlast.ports.task_rows import TaskFilter
from outlast.runs.means import Caller
from outlast.service.background.judging import Judge
from outlast.tasks.codec import task_in
from outlast.tasks.happenings import Queue
from outlast.wiring.indoors import ServiceIndoors
from tests.unit.runs.parts import ask_for, call, conclude, results, roles, subtask_of
from tests.unit.service.background.farm import Hands, farming

SECRET = "the password is tide"
CAME = Snapshot(status=RemoteStatus.COMPLETED, product=Product(SECRET))
FAILED = Snapshot(status=RemoteStatus.FAILED, error_code="oven", error=SECRET)


class Guard:
    """Refuses results with a password, and keeps what it was asked."""

    def __init__(self) -> None:
        self.asked: list[HookContext] = []

    async def check(self, context: HookContext) -> Veto | None:
        self.asked.append(context)
        return Veto("it holds a password") if "password" in str(context.info["result"]) else None

    @property
    def of_tasks(self) -> list[dict[str, Any]]:
        return [context.info for context in self.asked if "background_task" in context.info]


def hooked(tmp_path: Path, guard: Guard, **more: Any) -> Any:
    hooks = {"hooks": {"m:check": guard.check}, "hooks_of_task": {"after_tool": "m:check"}}
    return farming(tmp_path, **hooks, **more)


async def ended(hands: Hands, how: Snapshot) -> None:
    hands.farm.remote.default = how
    await hands.poll()
    await hands.do(Queue.NOTIFY)


async def all_that_was_told(hands: Hands) -> str:
    """Every word of the thread and of its runs, as a model may have read it."""
    store = hands.store
    said = [words.text for words in await read_thread_words(store, "t-1")]
    for row in await store.list_runs(RunFilter(thread_id="t-1")):
        said += [str(event) for event in await hands.stage.events(row.run_id)]
    return "\n".join([*said, *(str(request) for request in hands.stage.requests)])


@pytest.mark.parametrize("notify", ["agent", "note"])
@pytest.mark.parametrize("how", [CAME, FAILED])
async def test_a_result_the_hook_refuses_never_enters_the_conversation(
    tmp_path: Path, notify: Any, how: Snapshot
) -> None:
    guard = Guard()
    async with hooked(tmp_path, guard) as hands:
        hands.stage.notify = notify
        await hands.stage.play("render it", thread_id="t-1")
        await ended(hands, how)
        await hands.work_due()
        task = await hands.task()
        assert (task.notification, task.veto) == (Notification.DELIVERED, "it holds a password")
        told = await all_that_was_told(hands)
        assert SECRET not in told
        assert "a check refused it: it holds a password" in told
        (info,) = guard.of_tasks
        assert (info["tool"], info["arguments"], info["background_task"]) == (
            "render",
            {"scene": "a"},
            "render",
        )
        caller = Caller(user_id=task.user_id, thread_id="t-1", run_id=task.run_id, key="k", is_user_turn=True)
        shown = await ServiceIndoors().background(hands.store, caller).show("render", 0, 1000)
        assert SECRET not in str(shown)


async def test_a_result_the_hook_lets_pass_is_told_whole(tmp_path: Path) -> None:
    guard = Guard()
    async with hooked(tmp_path, guard) as hands:
        await hands.stage.play("render it", thread_id="t-1")
        await ended(hands, Snapshot(status=RemoteStatus.COMPLETED, product=Product("a picture")))
        await hands.work_due()
        (told,) = [
            event.material
            for row in await hands.store.list_runs(RunFilter(thread_id="t-1", limit=1))
            for event in await hands.stage.events(row.run_id, RunStarted)
        ]
        assert "a picture" in told
        assert len(guard.of_tasks) == 1


async def test_a_result_is_withheld_from_tools_until_its_hook_has_seen_it(tmp_path: Path) -> None:
    guard = Guard()
    async with hooked(tmp_path, guard) as hands:
        run_id = await hands.stage.play("render it", thread_id="t-1")
        hands.farm.remote.default = Snapshot(status=RemoteStatus.COMPLETED, product=Product("a picture"))
        await hands.poll()
        background = ServiceIndoors().background(
            hands.store, Caller(user_id=(await hands.task()).user_id, thread_id="t-1", run_id=run_id, key="k")
        )
        assert "a picture" not in str(await background.show("render", 0, 1000))
        await hands.do(Queue.NOTIFY)
        assert "a picture" in str(await background.show("render", 0, 1000))


async def test_a_subtask_that_waits_is_told_what_the_hook_left_of_it(tmp_path: Path) -> None:
    def executor(request: Any) -> Any:
        if subtask_of(request) != "s1":
            return conclude(f"{subtask_of(request)} is so.")
        return conclude("s1 is so.") if results(request) else ask_for(call("render", scene="a"))

    guard = Guard()
    async with hooked(tmp_path, guard, answering=roles(execute=executor), workflow="research") as hands:
        run_id = await hands.stage.play("What is there?", thread_id="t-1")
        await ended(hands, CAME)
        await hands.work_due()
        assert (await hands.stage.state(run_id)).has_ended
        assert SECRET not in await all_that_was_told(hands)
        assert len(guard.of_tasks) == 1


async def test_events_that_are_told_together_are_judged_each_and_told_by_one_run(tmp_path: Path) -> None:
    guard = Guard()
    async with hooked(tmp_path, guard) as hands:
        for _ in range(3):
            await hands.stage.play("render it", thread_id="t-1")
        await ended(hands, CAME)
        tasks = await hands.tasks()
        assert len({task.notification_run_id for task in tasks}) == 1
        assert [task.veto for task in tasks] == ["it holds a password"] * 3
        assert len(guard.of_tasks) == 3


async def test_a_hook_that_is_not_here_keeps_the_result_back_and_becomes_a_dead_letter(
    tmp_path: Path,
) -> None:
    guard = Guard()
    async with hooked(tmp_path, guard) as hands:
        await hands.stage.play("render it", thread_id="t-1")

        def missing(definition: object) -> Any:
            raise CallerMistake("hook_not_found", "The hook m:check is not there.", "Put it back.")

        hands.hooks_of = missing
        await ended(hands, CAME)
        task = await hands.task()
        assert task.notification is Notification.RETRY
        assert "hook_not_found" in (task.notification_error or "")
        assert SECRET not in await all_that_was_told(hands)


async def test_the_verdict_survives_the_worker_that_asked_for_it(tmp_path: Path) -> None:
    guard = Guard()
    async with hooked(tmp_path, guard) as hands:
        await hands.stage.play("render it", thread_id="t-1")
        await ended(hands, CAME)
        row = (await hands.store.list_tasks(TaskFilter()))[0]
        kept = task_in(row)
        assert kept.is_judged
        judge = Judge(hands.store, lambda _: {"m:check": guard.check})
        assert await judge.judged(kept) is kept
        assert len(guard.of_tasks) == 1
