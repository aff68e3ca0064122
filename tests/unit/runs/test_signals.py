"""What people ask of a run that is at work, from another handle on its store."""

import asyncio
import time
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import pytest

from outlast.adapters.stores.sqlite import SqliteStore
from outlast.adapters.tools.ask_human import AskHuman
from outlast.domain.errors import Conflict
from outlast.domain.events import (
    CancelRequested,
    LimitsChanged,
    ModelRequested,
    PauseRequested,
    Said,
    ToolRequested,
    ToolUnsettled,
)
from outlast.domain.task import Limits
from outlast.ports.provider import ModelAnswer, ModelRequest
from outlast.ports.store import Store
from outlast.ports.tool import tool
from outlast.runs import loop, shift
from outlast.runs.shift import Shift
from outlast.service import signals
from tests.law import law
from tests.patience import PATIENCE_SECONDS, PROMPT_SECONDS
from tests.unit.runs.parts import ask_for, call, conclude, in_turn, results, roles, say, turn
from tests.unit.runs.props import page
from tests.unit.runs.stage import Stage, soon, staged

HOUR_SECONDS = 3600.0


@pytest.fixture(autouse=True)
def nobody_looks_now_and_then(monkeypatch: pytest.MonkeyPatch) -> None:
    """What is asked of a run is heard because the commit wakes somebody."""
    monkeypatch.setattr(shift, "SAFETY_POLL_SECONDS", HOUR_SECONDS)
    monkeypatch.setattr(loop, "SAFETY_POLL_SECONDS", HOUR_SECONDS)


class Gate:
    """Something a tool or a model waits at until it is opened."""

    def __init__(self) -> None:
        self.reached = asyncio.Event()
        self.opened = asyncio.Event()
        self.was_killed = False

    async def pass_through(self) -> None:
        self.reached.set()
        try:
            await soon(self.opened)
        except asyncio.CancelledError:
            self.was_killed = True
            raise

    def tool(self, name: str, effect: str) -> object:
        async def execute() -> str:
            await self.pass_through()
            return "through"

        return tool(name=name, description=name, effect=effect)(execute)


@asynccontextmanager
async def at_work(
    tmp_path: Path, model: Any, *tools: object, **task: Any
) -> AsyncIterator[tuple[Stage, str, asyncio.Task[str | None], Store]]:
    """A run that is being worked on, and a store handle of somebody else."""
    path = tmp_path / "outlast.db"
    other = SqliteStore(path)
    async with staged(tmp_path, model, *tools, store=SqliteStore(path), **task) as stage:
        await other.open()
        run = await stage.start()
        working = asyncio.create_task(stage.work(run))
        try:
            yield stage, run, working, other
        finally:
            working.cancel()
            await asyncio.gather(working, return_exceptions=True)
            await other.close()


async def until(stage: Stage, run: str, holds: Callable[[], Awaitable[bool]]) -> float:
    """Wait until something holds of a run; returns after how many seconds it did."""
    began = time.monotonic()
    watch = stage.store.watch([run])
    try:
        async with asyncio.timeout(PATIENCE_SECONDS):
            while not await holds():
                await watch.wait(0.02)
    finally:
        watch.stop()
    return time.monotonic() - began


@law("RUN-5.a", "RUN-5.b", "RUN-5.c", "RUN-5.d")
async def test_pause_lets_calls_in_flight_end_and_begins_none(tmp_path: Path) -> None:
    gate = Gate()
    model = in_turn(ask_for(call("wait")), say("done"))
    async with at_work(tmp_path, model, gate.tool("wait", "once")) as (stage, run, working, other):
        await soon(gate.reached)
        await signals.pause(other, run, "ann")
        gate.opened.set()
        assert await working == "paused"
        state = await stage.state(run)
        assert state.state == "PAUSED"
        assert [outcome.shown for outcome in await stage.outcomes(run)] == ["through"]
        assert len(stage.requests) == 1
        recorded = next(one for one in await stage.history(run) if isinstance(one.event, PauseRequested))
        assert recorded.event.by == "ann"
        assert recorded.at.tzinfo is not None
        await signals.resume(other, run, "ann")
        await stage.work(run)
        assert (await stage.state(run)).outcome == "full"
        assert (await stage.states(run))[-3:] == ["PAUSED", "EXECUTING", "COMPLETED"]


@law("RUN-5.b", "RUN-5.e", "RUN-5.f", "RUN-5.g")
async def test_g07_13_cancel_kills_calls_and_leaves_the_once_call_unknown(tmp_path: Path) -> None:
    once, read = Gate(), Gate()
    model = in_turn(ask_for(call("once"), call("read")))
    tools = once.tool("once", "once"), read.tool("read", "read")
    async with at_work(tmp_path, model, *tools) as (stage, run, working, other):
        await soon(once.reached)
        await soon(read.reached)
        began = time.monotonic()
        await signals.cancel(other, run, "ann")
        assert await working == "ended"
        assert time.monotonic() - began < PROMPT_SECONDS
        assert once.was_killed
        assert read.was_killed
        state = await stage.state(run)
        assert (state.state, state.outcome) == ("CANCELLED", None)
        unsettled = await stage.events(run, ToolUnsettled)
        assert [event.call for event in unsettled] == [(await stage.events(run, ToolRequested))[0].call]
        codes = [outcome.error.code for outcome in await stage.outcomes(run) if outcome.error]
        assert codes == ["cancelled"]
        assert (await stage.events(run, CancelRequested))[0].by == "ann"
        with pytest.raises(Conflict, match="has ended"):
            await signals.cancel(other, run, "ann")


@law("RUN-5.b")
async def test_g07_13_cancel_ends_a_run_whose_model_is_speaking(tmp_path: Path) -> None:
    gate = Gate()

    async def model(request: ModelRequest) -> ModelAnswer:
        await gate.pass_through()
        return say("done")

    async with at_work(tmp_path, model) as (stage, run, working, other):
        await soon(gate.reached)
        await signals.cancel(other, run, "ann")
        assert await working == "ended"
        assert gate.was_killed
        assert (await stage.state(run)).state == "CANCELLED"


@law("RUN-5.b")
async def test_a_call_that_will_not_end_does_not_hold_a_cancel_up(tmp_path: Path) -> None:
    reached, may_end = asyncio.Event(), asyncio.Event()

    @tool(effect="once")
    async def stubborn() -> str:
        """Not be stopped."""
        reached.set()
        while not may_end.is_set():
            try:
                await soon(may_end)
            except asyncio.CancelledError:
                continue
        return "ended"

    async with at_work(tmp_path, in_turn(ask_for(call("stubborn"))), stubborn) as (
        stage,
        run,
        working,
        other,
    ):
        await soon(reached)
        began = time.monotonic()
        await signals.cancel(other, run, "ann")
        assert await working == "ended"
        assert time.monotonic() - began < PROMPT_SECONDS
        assert (await stage.state(run)).state == "CANCELLED"
        may_end.set()


@law("RUN-5.f")
async def test_cancel_reaches_every_subtask(tmp_path: Path) -> None:
    gates = {name: Gate() for name in ("s1", "s2", "s3")}

    async def work(request: ModelRequest) -> ModelAnswer:
        name = request.messages[1].text.partition("SUBTASK: ")[2].partition("\n")[0]
        await gates[name].pass_through()
        return conclude("It is so.")

    async with at_work(tmp_path, roles(execute=work), workflow="research") as (stage, run, working, other):
        for gate in gates.values():
            await soon(gate.reached)
        await signals.cancel(other, run, "ann")
        assert await working == "ended"
        assert all(gate.was_killed for gate in gates.values())
        assert (await stage.state(run)).state == "CANCELLED"


@law("RUN-5.a", "RUN-5.b")
async def test_what_a_person_says_reaches_the_model_before_it_speaks_next(tmp_path: Path) -> None:
    gate = Gate()
    model = in_turn(ask_for(call("wait")), say("done"))
    async with at_work(tmp_path, model, gate.tool("wait", "read")) as (stage, run, working, other):
        await soon(gate.reached)
        await signals.say(other, run, "ann", "Be brief.")
        gate.opened.set()
        await working
        assert stage.requests[1].messages[-1].text == "Be brief."
        assert (await stage.events(run, Said))[0].by == "ann"


async def test_what_is_said_while_the_model_gives_its_last_answer_is_not_lost(tmp_path: Path) -> None:
    gate = Gate()

    async def model(request: ModelRequest) -> ModelAnswer:
        if turn(request) == 0:
            await gate.pass_through()
        return say(f"answer {turn(request)}")

    async with at_work(tmp_path, model) as (stage, run, working, other):
        await soon(gate.reached)
        await signals.say(other, run, "ann", "And in French?")
        gate.opened.set()
        await working
        assert stage.requests[1].messages[-1].text == "And in French?"
        assert (await stage.state(run)).outcome == "full"


@law("RUN-5.a", "RUN-5.b")
async def test_an_answer_becomes_the_result_of_the_call_that_asked(tmp_path: Path) -> None:
    gate = Gate()
    model = in_turn(ask_for(call("ask_human", question="Which?"), call("wait")), say("done"))
    async with at_work(tmp_path, model, AskHuman, gate.tool("wait", "read")) as (stage, run, working, other):
        await soon(gate.reached)

        async def is_asked() -> bool:
            return bool((await stage.state(run)).open_questions())

        await until(stage, run, is_asked)
        await signals.answer(other, run, "ann", "The red one.")

        async def is_answered() -> bool:
            return bool(await stage.outcomes(run))

        assert await until(stage, run, is_answered) < PROMPT_SECONDS
        gate.opened.set()
        await working
        assert results(stage.requests[1])[0].text == "The red one."
        assert (await stage.state(run)).outcome == "full"
        with pytest.raises(Conflict, match="asks nothing"):
            await signals.answer(other, run, "ann", "Again.")


@law("RUN-5.a", "RUN-5.b", "RUN-5.c")
async def test_limits_of_a_live_run_can_be_raised_and_lowered(tmp_path: Path) -> None:
    gate = Gate()

    async def model(request: ModelRequest) -> ModelAnswer:
        if turn(request) == 1:
            await gate.pass_through()
        return ask_for(call("page", url=f"http://{turn(request)}")) if request.tools else say("So far.")

    async with at_work(tmp_path, model, page, limits=Limits(max_steps=3)) as (stage, run, working, other):
        await soon(gate.reached)
        await signals.set_limits(other, run, "ann", {"max_steps": 5})
        gate.opened.set()
        await working
        state = await stage.state(run)
        assert (state.counters.steps, state.outcome) == (5, "partial")
        assert len(await stage.events(run, ModelRequested)) == 5
        assert (await stage.events(run, LimitsChanged))[0].by == "ann"


async def test_each_signal_is_effective_within_a_second_on_a_run_that_waits_for_nothing(
    tmp_path: Path,
) -> None:
    async with at_work(
        tmp_path, in_turn(ask_for(call("ask_human", question="Which?")), say("done")), AskHuman
    ) as (
        stage,
        run,
        working,
        other,
    ):
        assert await working == "waiting"
        server = Shift(stage.worker("server"))
        serving = asyncio.create_task(server.serve())
        await signals.answer(other, run, "ann", "Red.")

        async def has_ended() -> bool:
            return (await stage.state(run)).has_ended

        assert await until(stage, run, has_ended) < PROMPT_SECONDS
        server.stop()
        await serving
