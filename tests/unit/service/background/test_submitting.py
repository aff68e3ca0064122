"""How a call becomes a task: its row and its answer in one commit, under a local name, and never twice."""

import asyncio
from collections.abc import Sequence
from datetime import datetime
from pathlib import Path
from typing import Any
from unittest.mock import patch

import pytest

from outlast.adapters.stores.sqlite import SqliteStore
from outlast.adapters.tools.ask_human import AskHuman
from outlast.domain.background import TaskStatus
from outlast.domain.commands import Command
from outlast.domain.errors import Broken
from outlast.domain.events import ToolAnswered, ToolRequested
from outlast.domain.run import RunState
from outlast.domain.states import State
from outlast.journal.upcast import READER
from outlast.ports.background_driver import Trouble
from outlast.ports.batch import Committed, Item, Refused
from outlast.ports.stream import Append
from outlast.ports.tool import Background
from outlast.runs.calls import in_flight
from outlast.runs.moves import enter
from outlast.runs.workflows import chat
from outlast.service import signals
from outlast.service.background import office
from outlast.tasks.happenings import Queue
from outlast.testing.faults import Crash, CrashPlan, CrashPoint, Faulty
from tests.law import law
from tests.unit.runs.parts import ask_for, call, results, say
from tests.unit.runs.stage import soon
from tests.unit.service.background.farm import SECRET, Hands, farming


def twice(request: Any) -> Any:
    both = ask_for(call("render", scene="a"), call("render", scene="b"))
    return say("Both go on.") if results(request) else both


async def test_tasks_of_one_thread_have_names_of_their_own(tmp_path: Path) -> None:
    async with farming(tmp_path, twice) as hands:
        run_id = await hands.stage.play("go", thread_id="t-1")
        await hands.stage.play("go", thread_id="t-1")
        await hands.stage.play("go", thread_id="t-2")
        names = [(task.thread_id, task.name) for task in await hands.tasks()]
        assert sorted(names) == [
            ("t-1", "render"),
            ("t-1", "render-2"),
            ("t-1", "render-3"),
            ("t-1", "render-4"),
            ("t-2", "render"),
            ("t-2", "render-2"),
        ]
        told = [outcome.task for outcome in await hands.stage.outcomes(run_id)]
        assert sorted(one.name for one in told if one is not None) == ["render", "render-2"]


async def test_a_thread_with_more_tasks_than_are_listed_has_names_for_more(tmp_path: Path) -> None:
    async with farming(tmp_path, twice) as hands:
        with patch.object(office, "_MOST_NAMES", 3):
            for _ in range(4):
                run_id = await hands.stage.play("go", thread_id="t-1")
                assert (await hands.stage.state(run_id)).state is State.COMPLETED
        names = [task.name for task in await hands.tasks()]
        assert len(set(names)) == 8
        assert all(name.startswith("render") for name in names)


async def test_where_each_call_is_a_task_its_row_is_there_before_the_request_leaves(tmp_path: Path) -> None:
    seen: list[TaskStatus] = []
    async with farming(tmp_path, always=True) as hands:
        inner = hands.stage.tools["render"].call  # type: ignore[attr-defined]

        async def looking(*arguments: Any) -> Any:
            seen.extend([task.status for task in await hands.tasks()])
            return await inner(*arguments)

        hands.stage.tools["render"].call = looking  # type: ignore[attr-defined]
        await hands.stage.play("render it")
        assert seen == [TaskStatus.SUBMITTING]
        assert [task.status for task in await hands.tasks()] == [TaskStatus.WORKING]


@pytest.mark.parametrize("always", [True, False])
async def test_a_handle_that_is_followed_already_is_refused_and_the_task_that_has_it_goes_on(
    tmp_path: Path, *, always: bool
) -> None:
    async with farming(tmp_path, always=always) as hands:
        hands.farm.next_ids = ["same", "same"]
        await hands.stage.play("render it", thread_id="t-1")
        second = await hands.stage.play("render it", thread_id="t-2")
        outcome = (await hands.stage.outcomes(second))[0]
        assert outcome.error is not None
        assert outcome.error.code == "already_tracked"
        assert (await hands.stage.state(second)).state is State.COMPLETED
        assert [task.thread_id for task in await hands.tasks()] == ["t-1"]
        assert hands.farm.remote.cancels == {}


async def test_a_call_that_is_refused_leaves_no_task_behind(tmp_path: Path) -> None:
    async with farming(tmp_path, always=True) as hands:

        async def refusing(*arguments: Any) -> Any:
            raise ValueError("no such scene")

        hands.stage.tools["render"].call = refusing  # type: ignore[attr-defined]
        await hands.stage.play("render it")
        assert await hands.tasks() == []


@pytest.mark.parametrize("always", [True, False])
async def test_a_call_whose_worker_died_is_a_task_of_unknown_outcome_and_is_not_made_again(
    tmp_path: Path, *, always: bool
) -> None:
    async with farming(tmp_path, always=always) as hands:
        asked = asyncio.Event()
        render = hands.stage.tools["render"]
        render.background = Background("far", "farm", "me", always=always, name="scene")

        async def hanging(*arguments: Any) -> Any:
            asked.set()
            await asyncio.Event().wait()

        inner = hands.stage.tools["render"].call  # type: ignore[attr-defined]
        hands.stage.tools["render"].call = hanging  # type: ignore[attr-defined]
        run_id = await hands.stage.start("render it")
        working = asyncio.create_task(hands.stage.work(run_id))
        await soon(asked)
        working.cancel()
        await asyncio.wait([working])
        hands.stage.tools["render"].call = inner  # type: ignore[attr-defined]
        await hands.store.expire_lease("runs", run_id)  # type: ignore[attr-defined]
        await hands.stage.work(run_id)
        named = [(task.status, task.name) for task in await hands.tasks()]
        assert named == [(TaskStatus.UNKNOWN_OUTCOME, "scene")], "as the other side calls it"
        assert len(await hands.stage.events(run_id, ToolRequested)) == 1
        outcome = (await hands.stage.outcomes(run_id))[0]
        assert outcome.error is not None
        assert outcome.error.code == "outcome_unknown"
        assert (await hands.stage.state(run_id)).state is State.COMPLETED
        assert await hands.do(Queue.NOTIFY) == 1, "its thread is told"


async def test_a_cancelled_run_takes_the_tasks_it_began_with_it(tmp_path: Path) -> None:
    def asking(request: Any) -> Any:
        made = len(results(request))
        return (ask_for(call("render", scene="a")), ask_for(call("ask_human", question="And?")))[made]

    async with farming(tmp_path, asking, AskHuman) as hands:
        run_id = await hands.stage.play("render it")
        await signals.cancel(hands.store, run_id, "ann")
        await hands.stage.work(run_id)
        assert (await hands.task()).status is TaskStatus.CANCELLING
        await hands.hurry(Queue.CANCEL)  # the clock of the run may be ahead of the store's
        await hands.do(Queue.CANCEL)
        assert hands.farm.remote.cancels == {hands.farm.handles[0].remote_id: 1}


@law("TASK-1.a", "TASK-2.b")
@pytest.mark.parametrize("always", [True, False])
async def test_a_submit_survives_a_worker_that_dies_before_and_after_every_commit(
    tmp_path: Path, *, always: bool
) -> None:
    counting = CrashPlan()
    async with farming(tmp_path / "whole", always=always) as hands:
        await lived(hands, counting)
        assert [task.status for task in await hands.tasks()] == [TaskStatus.WORKING]
    for point in counting.points:
        async with farming(tmp_path / "cut", always=always) as hands:
            await lived(hands, CrashPlan(point))
            await check(hands, point)


async def lived(hands: Hands, plan: CrashPlan) -> None:
    """A run that submits, by workers of which the first dies where the plan says."""
    run_id = await hands.stage.start("render it", thread_id="t-1")
    store = hands.stage.store
    for _ in range(4):
        hands.stage.store = Faulty(store, plan, "store")  # type: ignore[assignment]
        try:
            await hands.stage.work(run_id)
        except Crash:
            plan = CrashPlan()
            await store.expire_lease("runs", run_id)  # type: ignore[attr-defined]
        finally:
            hands.stage.store = store
        if (await hands.stage.state(run_id)).has_ended:
            return


async def check(hands: Hands, point: CrashPoint) -> None:
    """There is one task; nothing goes on that nobody follows; nothing was asked for twice without being told apart."""
    tasks = await hands.tasks()
    assert len(tasks) == 1, point
    answered = [
        event
        for run in {task.run_id for task in tasks}
        for event in await hands.stage.events(run, ToolAnswered)
    ]
    assert len(answered) == 1, point
    followed = {task.remote_id for task in tasks}
    adrift = [handle.remote_id for handle in hands.farm.handles if handle.remote_id not in followed]
    assert len(hands.farm.handles) <= 1, point
    if adrift:
        assert tasks[0].status is TaskStatus.UNKNOWN_OUTCOME, point


async def test_a_task_whose_handle_could_not_be_kept_is_cancelled_on_the_server(tmp_path: Path) -> None:
    async with farming(tmp_path) as hands:
        inner = hands.stage.tools["render"].call  # type: ignore[attr-defined]
        run_id = await hands.stage.start("render it")

        async def losing(*arguments: Any) -> Any:
            await hands.store.expire_lease("runs", run_id)  # type: ignore[attr-defined]
            await hands.store.claim("runs", "other", 600, item=run_id, reader=READER)
            return await inner(*arguments)

        hands.stage.tools["render"].call = losing  # type: ignore[attr-defined]
        with pytest.raises(Exception, match="Another worker"):
            await hands.stage.work(run_id)
        await hands.cancelled_at_its_source()
        assert SECRET in hands.farm.handles[0].remote_id
        hands.farm.remote.missing = Trouble("gone", "gone", "", passing=False)


class Unlucky(SqliteStore):
    """`over` is set with the commit that ends a run, which is answered once `given`; that which gives it back has no answer."""

    def __init__(self) -> None:
        super().__init__(None)
        self.over, self.given = asyncio.Event(), asyncio.Event()

    async def commit(self, batch: Sequence[Item]) -> Committed | Refused:
        written = await super().commit(batch)
        kinds = {event.kind for item in batch if isinstance(item, Append) for event in item.events}
        if "RunReleased" in kinds:
            raise Broken("commit_unknown", "The store cannot serve.")
        if any(
            "COMPLETED" in event.body for item in batch if isinstance(item, Append) for event in item.events
        ):
            self.over.set()
            await soon(self.given)
        return written


async def test_a_handle_that_came_once_the_run_was_over_is_given_up_though_nobody_knows_who_has_the_run(
    tmp_path: Path,
) -> None:
    store, said = Unlucky(), asyncio.Event()

    def hasty(state: RunState, now: datetime) -> Sequence[Command]:
        if in_flight(state) and said.is_set():
            return [enter(state, State.COMPLETED, "enough", "full")]
        return chat.decide(state, now)

    async with farming(tmp_path, decide=hasty, store=store) as hands:
        inner, begun = hands.stage.tools["render"].call, asyncio.Event()  # type: ignore[attr-defined]

        async def slow(*arguments: Any) -> Any:
            begun.set()
            await soon(store.over)
            asyncio.get_running_loop().call_later(0.05, store.given.set)
            return await inner(*arguments)

        hands.stage.tools["render"].call = slow  # type: ignore[attr-defined]
        run_id = await hands.stage.start("render it")
        working = asyncio.create_task(hands.stage.work(run_id))
        await soon(begun)
        said.set()
        await signals.say(store, run_id, "ann", "Enough.")
        assert await working == "ended"
        await hands.cancelled_at_its_source()
