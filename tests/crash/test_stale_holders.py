"""Workers that lose a run, that die with one, or that end while another is told to: the one who holds the run decides."""

import asyncio
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

from outlast.adapters.stores.sqlite import SqliteStore
from outlast.domain.errors import Broken
from outlast.domain.events import (
    ModelRequested,
    Recorded,
    RunClaimed,
    RunReleased,
    StateEntered,
    ToolAnswered,
    ToolRequested,
)
from outlast.domain.states import ENDED, State
from outlast.journal.upcast import READER
from outlast.ports.batch import Committed, Item, Refused
from outlast.ports.provider import ModelAnswer, ModelRequest
from outlast.ports.stream import Append
from outlast.ports.tool import ToolResult, tool
from outlast.runs.shift import Shift
from outlast.service import signals
from tests.law import law
from tests.patience import PATIENCE_SECONDS
from tests.unit.runs.parts import ask_for, call, say
from tests.unit.runs.stage import Stage, soon, staged


class Hands:
    """A tool that waits when it is first called, and one that may run once."""

    def __init__(self) -> None:
        self.is_waiting = asyncio.Event()
        self.may_go_on = asyncio.Event()
        self.paid: list[str] = []

    def tools(self) -> list[Any]:
        @tool(effect="read", cache_seconds=0)
        async def wait() -> ToolResult:
            """Wait, the first time."""
            if not self.is_waiting.is_set():
                self.is_waiting.set()
                await self.may_go_on.wait()
            return ToolResult(True, "waited")

        @tool(effect="once")
        async def pay(what: str) -> ToolResult:
            """Pay."""
            self.paid.append(what)
            return ToolResult(True, "paid")

        return [wait, pay]


def waits_then_pays(request: ModelRequest) -> ModelAnswer:
    turn = sum(message.speaker == "assistant" for message in request.messages)
    return (ask_for(call("wait")), ask_for(call("pay", what="bill")), say("done"))[turn]


async def lose(stage: Stage, run_id: str) -> None:
    """Let the lease of a run run out, as when its process is stopped for too long."""
    assert isinstance(stage.store, SqliteStore)
    await stage.store.expire_lease("runs", run_id)


@law("RUN-10.a", "RUN-10.b")
async def test_g07_01_a_worker_that_wakes_after_its_lease_changes_nothing_and_runs_no_tool(
    tmp_path: Path,
) -> None:
    hands = Hands()
    async with staged(tmp_path, waits_then_pays, *hands.tools()) as stage:
        run_id = await stage.start()
        asleep = asyncio.create_task(stage.worker("the same name").work_on(run_id))
        await soon(hands.is_waiting)
        await lose(stage, run_id)
        assert await stage.worker("the same name").work_on(run_id) == "ended"
        before = await stage.history(run_id)
        hands.may_go_on.set()
        with pytest.raises(Broken) as caught:
            await asyncio.wait_for(asleep, PATIENCE_SECONDS)
        assert caught.value.code == "lease_lost"
        assert await stage.history(run_id) == before
        assert hands.paid == ["bill"]
        entry = await stage.store.read_entry("runs", run_id)
        assert entry is not None
        assert (entry.generation, entry.until) == (2, None)


@law("RUN-10.b")
async def test_g07_01_a_late_result_is_not_taken_for_that_of_the_worker_who_is_at_it_now(
    tmp_path: Path,
) -> None:
    late, present = Hands(), Hands()
    async with staged(tmp_path, waits_then_pays, *late.tools()) as stage:
        run_id = await stage.start()
        asleep = asyncio.create_task(stage.worker().work_on(run_id))
        await soon(late.is_waiting)
        await lose(stage, run_id)
        stage.cast(present.tools())
        at_work = asyncio.create_task(stage.worker().work_on(run_id))
        await soon(present.is_waiting)
        before = await stage.history(run_id)
        late.may_go_on.set()
        with pytest.raises(Broken) as caught:
            await asyncio.wait_for(asleep, PATIENCE_SECONDS)
        assert caught.value.code == "lease_lost"
        assert await stage.history(run_id) == before
        present.may_go_on.set()
        assert await asyncio.wait_for(at_work, PATIENCE_SECONDS) == "ended"
        assert (late.paid, present.paid) == ([], ["bill"])


@law("RUN-3.a", "RUN-10.a")
async def test_g07_03_runs_of_the_dead_go_on_and_runs_of_the_living_are_left_alone(tmp_path: Path) -> None:
    hands = Hands()
    async with staged(tmp_path, waits_then_pays, *hands.tools()) as stage:
        living = await stage.start()
        at_work = asyncio.create_task(stage.worker("alive").work_on(living))
        await soon(hands.is_waiting)
        orphan = await stage.start()
        assert await stage.store.claim("runs", "dead", 30.0, item=orphan, reader=READER)
        await lose(stage, orphan)
        shift = Shift(stage.worker("new"))
        serving = asyncio.create_task(shift.serve())
        watch = stage.store.watch([orphan])
        while (await stage.state(orphan)).state is not State.COMPLETED:
            assert await watch.wait(PATIENCE_SECONDS)
        shift.stop()
        await asyncio.wait_for(serving, PATIENCE_SECONDS)
        assert generations(await stage.history(living)) == [1]
        hands.may_go_on.set()
        assert await asyncio.wait_for(at_work, PATIENCE_SECONDS) == "ended"
        assert generations(await stage.history(living)) == [1]
        assert hands.paid == ["bill", "bill"]


@law("RUN-3.c")
async def test_g07_12_results_belong_to_calls_whoever_ends_first_before_and_after_a_kill(
    tmp_path: Path,
) -> None:
    began: list[str] = []
    gate = asyncio.Event()

    def named(name: str, is_fast: bool) -> Any:
        async def work() -> ToolResult:
            """Work."""
            began.append(name)
            if not is_fast and began.count(name) == 1:
                await gate.wait()
            return ToolResult(True, f"result of {name}")

        return tool(name=name, effect="read", cache_seconds=0)(work)

    def answering(request: ModelRequest) -> ModelAnswer:
        turn = sum(message.speaker == "assistant" for message in request.messages)
        return ask_for(call("a"), call("b"), call("c")) if turn == 0 else say("done")

    async with staged(tmp_path, answering, named("a", False), named("b", True), named("c", False)) as stage:
        run_id = await stage.start()
        watch = stage.store.watch([run_id])
        killed = asyncio.create_task(stage.worker().work_on(run_id))
        while not await stage.outcomes(run_id):
            assert await watch.wait(PATIENCE_SECONDS)
        killed.cancel()
        await asyncio.gather(killed, return_exceptions=True)
        await lose(stage, run_id)
        assert await stage.work(run_id) == "ended"
        assert sorted(began) == ["a", "a", "b", "c", "c"]
        shown = [message.text for message in stage.requests[-1].messages if message.speaker == "tool"]
        assert [text.split("\n")[1] for text in shown] == [f"result of {name}" for name in "abc"]


class Meddled(SqliteStore):
    """A store in which somebody cancels a run right before its last commit is written."""

    run_id = ""

    async def commit(self, batch: Sequence[Item]) -> Committed | Refused:
        if self.run_id and any(
            isinstance(one, Append) and any("COMPLETED" in event.body for event in one.events)
            for one in batch
        ):
            run_id, self.run_id = self.run_id, ""
            await signals.cancel(self, run_id, "ann")
        return await super().commit(batch)


@law("RUN-5.g")
async def test_g07_13_a_cancel_during_the_last_write_leaves_one_end_only(tmp_path: Path) -> None:
    store = Meddled(None)
    async with staged(tmp_path, lambda request: say("done"), store=store) as stage:
        store.run_id = await stage.start()
        run_id = store.run_id
        await stage.work(run_id)
        assert store.run_id == "", "the cancel was never asked for"
        ends = [event.target for event in await stage.events(run_id, StateEntered) if event.target in ENDED]
        assert ends == [State.CANCELLED]
        row = await store.read_run(run_id)
        assert row is not None
        assert (row.state, row.is_active) == ("CANCELLED", False)


@law("RUN-3.b")
async def test_g07_13_a_shutdown_hands_the_run_to_another_worker(tmp_path: Path) -> None:
    hands = Hands()
    async with staged(tmp_path, waits_then_pays, *hands.tools()) as stage:
        run_id = await stage.start()
        leaving = stage.worker("leaving")
        at_work = asyncio.create_task(leaving.work_on(run_id))
        await soon(hands.is_waiting)
        leaving.drain()
        hands.may_go_on.set()
        assert await asyncio.wait_for(at_work, PATIENCE_SECONDS) == "shutdown"
        answered = await stage.events(run_id, ToolAnswered)
        assert len(answered) == 1, "what was in flight is kept"
        assert (await stage.events(run_id, ModelRequested, ToolRequested))[-1].generation == 1
        assert await stage.work(run_id) == "ended"
        assert [event.reason for event in await stage.events(run_id, RunReleased)] == ["shutdown", "ended"]
        assert hands.paid == ["bill"]


def generations(history: list[Recorded]) -> list[int]:
    return [one.event.generation for one in history if isinstance(one.event, RunClaimed)]
