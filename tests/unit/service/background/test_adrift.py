"""Work whose handle comes too late: it goes on as a background task, or is cancelled at its source; nothing is left adrift."""

import asyncio
from collections.abc import Sequence
from datetime import datetime
from pathlib import Path
from typing import Any

import pytest

from outlast.adapters.stores.sqlite import SqliteStore
from outlast.domain.background import TaskStatus
from outlast.domain.commands import Command
from outlast.domain.errors import Broken
from outlast.domain.ids import LOCAL_USER
from outlast.domain.run import RunState
from outlast.domain.states import State
from outlast.ports.batch import Committed, Item, Refused
from outlast.ports.stream import Append
from outlast.ports.task_rows import InsertTask
from outlast.runs import flight, perform_tool
from outlast.runs.calls import in_flight
from outlast.runs.moves import settle
from outlast.runs.workflows import chat
from outlast.service import signals
from outlast.service.background.office import TaskOffice
from tests.patience import PATIENCE_SECONDS
from tests.unit.runs.parts import ask_for, call, results, say
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
        await hands.cancelled_at_its_source()


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
        await hands.cancelled_at_its_source()


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
        await hands.cancelled_at_its_source()


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
        await hands.cancelled_at_its_source()


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


class Answering(SqliteStore):
    """`over` is set with the commit that answers a call; where `is_lost`, nobody hears that it was made until a handle has `come`."""

    def __init__(self, *, is_lost: bool) -> None:
        super().__init__(None)
        self.is_lost = is_lost
        self.over, self.come = asyncio.Event(), asyncio.Event()

    async def commit(self, batch: Sequence[Item]) -> Committed | Refused:
        written = await super().commit(batch)
        kinds = {event.kind for item in batch if isinstance(item, Append) for event in item.events}
        if "ToolAnswered" in kinds and not self.over.is_set():
            self.over.set()
            if self.is_lost:
                await soon(self.come)
                await _turns()
                raise Broken("commit_unknown", "No answer came.", "Look.")
        return written


async def _turns() -> None:
    for _ in range(20):
        await asyncio.sleep(0)


@pytest.mark.parametrize("is_lost", [False, True])
async def test_handle_of_a_call_that_was_answered_without_it_is_cancelled_at_its_source(
    tmp_path: Path, *, is_lost: bool
) -> None:
    """The run goes on, and the tool was not told to stop."""
    store, said = Answering(is_lost=is_lost), asyncio.Event()

    def impatient(state: RunState, now: datetime) -> Sequence[Command]:
        if said.is_set() and (waiting := in_flight(state)):
            return [
                settle(one.call.id, "cancelled", "It is not wanted any more.", "policy") for one in waiting
            ]
        return chat.decide(state, now)

    async def answering(request: Any) -> Any:
        if not results(request):
            return ask_for(call("render", scene="a"))
        await soon(store.come)
        await _turns()
        return say("So be it.")

    async with farming(tmp_path, answering, store=store, decide=impatient) as hands:
        inner, begun = hands.stage.tools["render"].call, asyncio.Event()  # type: ignore[attr-defined]

        async def slow(*arguments: Any) -> Any:
            begun.set()
            await soon(store.over)
            store.come.set()
            return await inner(*arguments)

        hands.stage.tools["render"].call = slow  # type: ignore[attr-defined]
        run_id = await hands.stage.start("render it")
        working = asyncio.create_task(hands.stage.work(run_id))
        await soon(begun)
        said.set()
        await signals.say(store, run_id, "ann", "Enough.")
        assert await working == "ended"
        await hands.cancelled_at_its_source()


class Hanging(SqliteStore):
    """The commit that keeps a task never ends: `hangs` is set once it is written, or would be."""

    def __init__(self, *, is_made: bool) -> None:
        super().__init__(None)
        self.is_made = is_made
        self.hangs = asyncio.Event()

    async def commit(self, batch: Sequence[Item]) -> Committed | Refused:
        if self.hangs.is_set() or not any(isinstance(item, InsertTask) for item in batch):
            return await super().commit(batch)
        if self.is_made:
            await super().commit(batch)
        self.hangs.set()
        await asyncio.Event().wait()
        raise AssertionError("it waits for ever")


@pytest.mark.parametrize("is_made", [False, True])
async def test_handle_whose_run_is_dropped_while_it_is_kept_is_given_up_unless_it_is_kept(
    tmp_path: Path, *, is_made: bool
) -> None:
    store = Hanging(is_made=is_made)
    async with farming(tmp_path, store=store) as hands:
        run_id = await hands.stage.start("render it")
        working = asyncio.create_task(hands.stage.work(run_id))
        await soon(store.hangs)
        working.cancel()
        await asyncio.wait({working})
        if not is_made:
            await hands.cancelled_at_its_source()
        else:
            [task] = await hands.tasks()
            assert (task.status, task.cancel_requested_at) == (TaskStatus.WORKING, None)
            assert hands.farm.remote.cancels == {}
