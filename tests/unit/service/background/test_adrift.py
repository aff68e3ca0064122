"""Work whose handle comes too late: it goes on as a background task, or is cancelled at its source; nothing is left adrift."""

import asyncio
from pathlib import Path
from typing import Any

import pytest

from outlast.domain.background import TaskStatus
from outlast.domain.ids import LOCAL_USER
from outlast.domain.states import State
from outlast.runs import flight, perform_tool
from outlast.service import signals
from outlast.service.background.office import TaskOffice
from outlast.tasks.happenings import Queue
from tests.patience import PATIENCE_SECONDS
from tests.unit.runs.stage import soon
from tests.unit.service.background.farm import Hands, farming


def stubborn(hands: Hands, gate: asyncio.Event | None = None) -> asyncio.Event:
    """Have the tool begin its work only once it is told to stop, and then at `gate`; returns what tells that it hangs."""
    render: Any = hands.stage.tools["render"]
    begin, hangs = render.call, asyncio.Event()

    async def call(*arguments: Any) -> Any:
        try:
            hangs.set()
            await asyncio.Event().wait()
        except asyncio.CancelledError:
            if gate is not None:
                await gate.wait()
        return await begin(*arguments)

    render.call = call
    return hangs


async def cancelled_at_its_source(hands: Hands) -> None:
    """The one task that has a handle is to be cancelled, and is, at the other side."""
    async with asyncio.timeout(PATIENCE_SECONDS):
        while not (kept := [task for task in await hands.tasks() if task.remote_id]):  # noqa: ASYNC110 - nobody waits for it
            await asyncio.sleep(0)
    [task] = kept
    assert task.cancel_requested_at is not None
    await hands.hurry(Queue.CANCEL)
    await hands.do(Queue.CANCEL)
    assert list(hands.farm.remote.cancels) == [hands.farm.handles[0].remote_id]


@pytest.fixture
def hasty(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(perform_tool, "GRACE_SECONDS", 0.01)


@pytest.mark.parametrize("always", [True, False])
async def test_handle_that_comes_after_the_time_of_its_call_is_that_of_a_task(
    tmp_path: Path, hasty: None, *, always: bool
) -> None:
    async with farming(tmp_path, always=always) as hands:
        hands.stage.tools["render"].timeout_seconds = 0.05
        stubborn(hands)
        run_id = await hands.stage.play("render it")
        assert (await hands.stage.state(run_id)).state is State.COMPLETED
        [outcome] = await hands.stage.outcomes(run_id)
        [task] = await hands.tasks()
        assert outcome.task is not None
        assert (outcome.task.id, task.status) == (task.task_id, TaskStatus.WORKING)
        assert hands.farm.remote.cancels == {}


async def test_handle_that_comes_when_its_call_was_given_up_is_cancelled_at_its_source(
    tmp_path: Path, hasty: None, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(flight, "STOP_SECONDS", 0.05)
    async with farming(tmp_path) as hands:
        hands.stage.tools["render"].timeout_seconds = 0.05
        gate = asyncio.Event()
        stubborn(hands, gate)
        run_id = await hands.stage.play("render it")
        [outcome] = await hands.stage.outcomes(run_id)
        assert outcome.task is None
        assert await hands.tasks() == []
        gate.set()
        await cancelled_at_its_source(hands)


async def test_handle_that_comes_while_its_call_is_killed_is_cancelled_at_its_source(tmp_path: Path) -> None:
    async with farming(tmp_path) as hands:
        hangs = stubborn(hands)
        run_id = await hands.stage.start("render it")
        working = asyncio.create_task(hands.stage.work(run_id))
        await soon(hangs)
        await signals.cancel(hands.store, run_id, LOCAL_USER, "enough")
        async with asyncio.timeout(PATIENCE_SECONDS):
            await working
        assert (await hands.stage.state(run_id)).state is State.CANCELLED
        await cancelled_at_its_source(hands)


async def test_handle_that_cannot_be_kept_is_cancelled_at_once(tmp_path: Path) -> None:
    async with farming(tmp_path) as hands:
        hangs = stubborn(hands)
        run_id = await hands.stage.start("render it")
        working = asyncio.create_task(hands.stage.work(run_id))
        await soon(hangs)
        hands.farm.driver = "lone \ud800"
        await signals.cancel(hands.store, run_id, LOCAL_USER, "enough")
        async with asyncio.timeout(PATIENCE_SECONDS):
            await working
            while not hands.farm.remote.cancels:  # noqa: ASYNC110 - nobody waits for what does it
                await asyncio.sleep(0)
        assert [task.status for task in await hands.tasks()] == [TaskStatus.UNKNOWN_OUTCOME]


async def test_handle_whose_call_is_killed_while_its_task_is_named_is_cancelled_at_its_source(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    names = asyncio.Event()

    async def hanging(*arguments: Any) -> Any:
        names.set()
        await asyncio.Event().wait()

    async with farming(tmp_path) as hands:
        name_for = TaskOffice.name_for
        monkeypatch.setattr(TaskOffice, "name_for", hanging)
        run_id = await hands.stage.start("render it")
        working = asyncio.create_task(hands.stage.work(run_id))
        await soon(names)
        monkeypatch.setattr(TaskOffice, "name_for", name_for)
        await signals.cancel(hands.store, run_id, LOCAL_USER, "enough")
        async with asyncio.timeout(PATIENCE_SECONDS):
            await working
        await cancelled_at_its_source(hands)


@pytest.mark.parametrize("ending", ["its worker is cut short", "its loop ends"])
async def test_handle_whose_call_is_killed_before_its_task_could_be_named_is_cancelled_at_its_source(
    tmp_path: Path, ending: str
) -> None:
    """In the one turn of the loop between the end of the tool and the leg that names its task."""
    async with farming(tmp_path) as hands:
        worker, render = hands.stage.worker(), hands.stage.tools["render"]
        inner: Any = render.call  # type: ignore[attr-defined]

        async def call(*arguments: Any) -> Any:
            handle = await inner(*arguments)
            if ending == "its loop ends":
                working.cancel()
            worker.drain()
            worker.cut_short()
            return handle

        render.call = call  # type: ignore[attr-defined]
        run_id = await hands.stage.start("render it")
        working = asyncio.create_task(worker.work_on(run_id))
        async with asyncio.timeout(PATIENCE_SECONDS):
            await asyncio.wait({working})
        await cancelled_at_its_source(hands)


async def test_handle_of_a_tool_that_cancelled_its_own_task_is_that_of_a_task(tmp_path: Path) -> None:
    async with farming(tmp_path) as hands:
        inner: Any = hands.stage.tools["render"].call  # type: ignore[attr-defined]

        async def call(*arguments: Any) -> Any:
            own = asyncio.current_task()
            assert own is not None
            own.cancel()
            return await inner(*arguments)

        hands.stage.tools["render"].call = call  # type: ignore[attr-defined]
        run_id = await hands.stage.play("render it")
        [outcome] = await hands.stage.outcomes(run_id)
        [task] = await hands.tasks()
        assert outcome.task is not None
        assert (outcome.task.id, task.status) == (task.task_id, TaskStatus.WORKING)


async def test_handle_whose_call_is_killed_while_it_is_given_up_is_given_up_all_the_same(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    gives_up = asyncio.Event()

    async def hanging(*arguments: Any) -> Any:
        gives_up.set()
        await asyncio.Event().wait()

    async with farming(tmp_path) as hands:
        abandon = TaskOffice.abandon
        monkeypatch.setattr(TaskOffice, "abandon", hanging)
        hands.farm.driver = "lone \ud800"
        run_id = await hands.stage.start("render it")
        working = asyncio.create_task(hands.stage.work(run_id))
        await soon(gives_up)
        monkeypatch.setattr(TaskOffice, "abandon", abandon)
        await signals.cancel(hands.store, run_id, LOCAL_USER, "enough")
        async with asyncio.timeout(PATIENCE_SECONDS):
            await working
            while not hands.farm.remote.cancels:  # noqa: ASYNC110 - nobody waits for what does it
                await asyncio.sleep(0)
