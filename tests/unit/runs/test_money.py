"""Money: what the endpoint states, else the pinned price; reserved before a call, counted after it, failures included."""

import asyncio
from pathlib import Path

import pytest

from outlast.domain.errors import ModelCallFailed
from outlast.domain.events import LimitReached, ModelAnswered, ModelFailed, ModelRequested
from outlast.domain.message import Usage
from outlast.domain.task import Limits, Price, RoleSettings
from outlast.ports.provider import ModelAnswer, ModelRequest
from outlast.runs.tally import Tally
from outlast.service import signals
from outlast.service.trace import trace_run
from outlast.tools import ToolContext, tool
from tests.law import law
from tests.unit.runs.parts import ask_for, call, in_turn, say, turn
from tests.unit.runs.props import page
from tests.unit.runs.stage import soon, staged

PRICE = Price(input_usd=2.0, output_usd=10.0)
PRICED = {"executor": RoleSettings(model="m", max_tokens=1000, price=PRICE)}


@law("MODEL-1.e")
async def test_an_answer_without_a_stated_cost_costs_what_the_price_says(tmp_path: Path) -> None:
    model = in_turn(say("Yes.", usage=Usage(1_000_000, 100_000)))
    async with staged(tmp_path, model, roles=PRICED) as stage:
        run = await stage.play()
        assert (await stage.state(run)).counters.cost_usd == pytest.approx(3.0)
        assert (await stage.events(run, ModelAnswered))[0].cost_usd == pytest.approx(3.0)
        answered = next(line for line in await trace_run(stage.store, run) if line["kind"] == "ModelAnswered")
        assert answered["cost_usd"] == pytest.approx(3.0)


@pytest.mark.parametrize("stated", [0.0, 0.25])
async def test_what_the_endpoint_states_wins_over_the_price(tmp_path: Path, stated: float) -> None:
    model = in_turn(say("Yes.", usage=Usage(1_000_000, 100_000, stated)))
    async with staged(tmp_path, model, roles=PRICED) as stage:
        run = await stage.play()
        assert (await stage.state(run)).counters.cost_usd == stated


async def test_without_a_price_nothing_is_made_up(tmp_path: Path) -> None:
    async with staged(tmp_path, in_turn(say("Yes.", usage=Usage(10, 5)))) as stage:
        run = await stage.play()
        assert (await stage.events(run, ModelAnswered))[0].cost_usd is None


@law("RUN-6.e", "RUN-6.b")
async def test_money_is_reserved_before_the_call_that_would_cross_the_limit(tmp_path: Path) -> None:
    """A reserve of 1,000 answered tokens at 10 dollars a million is a cent; what is left is less."""

    def model(request: ModelRequest) -> ModelAnswer:
        return ask_for(call("page", url=f"http://{turn(request)}"), usage=Usage(1_000, 500))

    limits = Limits(max_cost_usd=0.02, max_steps=99)
    async with staged(tmp_path, model, page, roles=PRICED, limits=limits) as stage:
        run = await stage.play()
        state = await stage.state(run)
        asked = await stage.events(run, ModelRequested)
        assert all(request.reserved_usd >= 0.01 for request in asked)
        assert (await stage.events(run, LimitReached))[0].limit == "max_cost_usd"
        assert state.outcome == "partial"
        assert state.counters.cost_usd <= 0.02


@law("RUN-6.i")
async def test_a_failed_call_costs_what_it_used_up(tmp_path: Path) -> None:
    trouble = ModelCallFailed("cut_stream", "cut", spent_tokens=300_000, spent_output_tokens=100_000)
    troubles = iter([trouble])

    def model(request: ModelRequest) -> ModelAnswer:
        for failure in troubles:
            raise failure
        return say("At last.", usage=Usage(0, 0))

    async with staged(tmp_path, model, roles=PRICED) as stage:
        run = await stage.play()
        assert (await stage.events(run, ModelFailed))[0].spent_usd == pytest.approx(1.4)
        assert (await stage.state(run)).counters.cost_usd == pytest.approx(1.4)


@tool(effect="read", cache_seconds=0)
async def spender(n: int, context: ToolContext) -> str:
    """Ask the model again and again."""
    assert context.model is not None
    for _ in range(50):
        await context.model.ask("summarise", "Be brief.", "x")
    return "done"


@law("RUN-6.b", "RUN-6.e")
async def test_tools_that_ask_models_side_by_side_share_one_purse(tmp_path: Path) -> None:
    """Three tools at once, each of which alone would spend 50 cents; there is a dime."""

    async def model(request: ModelRequest) -> ModelAnswer:
        await asyncio.sleep(0)
        if request.purpose == "summarise":
            return say("s", usage=Usage(0, 1_000))
        calls = [call("spender", n=n) for n in range(3)]
        return ask_for(*calls, usage=Usage(0, 0)) if not turn(request) else say("Enough.", usage=Usage(0, 0))

    limits = Limits(max_cost_usd=0.1, max_steps=99)
    async with staged(tmp_path, model, spender, roles=PRICED, limits=limits) as stage:
        state = await stage.state(await stage.play())
        outcomes = await stage.outcomes(state.run_id)
        assert ["leaves no room" in outcome.shown for outcome in outcomes] == [True] * 3
        assert 0.07 <= state.counters.cost_usd <= 0.1 + 3 * 0.01


@law("RUN-6.i")
async def test_a_call_that_was_lost_with_its_worker_costs_its_reserve_even_where_nobody_asks_again(
    tmp_path: Path,
) -> None:
    limits = Limits(max_cost_usd=1.0, max_steps=1)
    held = asyncio.Event()

    async def stuck(request: ModelRequest) -> ModelAnswer:
        held.set()
        await asyncio.Event().wait()
        raise AssertionError

    async with staged(tmp_path, stuck, roles=PRICED, limits=limits) as stage:
        run = await stage.start()
        working = asyncio.create_task(stage.work(run))
        await soon(held)
        await signals.cancel(stage.store, run, "ann")
        await working
        state, (asked,) = await stage.state(run), await stage.events(run, ModelRequested)
        assert state.state == "CANCELLED"
        assert (state.counters.cost_usd, state.counters.tokens) == (asked.reserved_usd, asked.reserved_tokens)
        tally = Tally()
        for recorded in await stage.history(run):
            tally.fold(recorded)
        assert (tally.total().cost_usd, tally.total().tokens) == (asked.reserved_usd, asked.reserved_tokens)


async def test_the_bound_itself_may_be_spent_and_no_cent_more(tmp_path: Path) -> None:
    """Two calls whose reserve is a cent each, under a limit of two, one of just less, one of just more."""

    async def calls_made(usd: float, folder: str) -> int:
        def model(request: ModelRequest) -> ModelAnswer:
            return ask_for(call("page", url=f"http://{turn(request)}"), usage=Usage(0, 1_000))

        roles = {
            "executor": RoleSettings(model="m", max_tokens=1000, price=Price(input_usd=0.0, output_usd=10.0))
        }
        limits = Limits(max_cost_usd=usd, max_steps=99)
        (tmp_path / folder).mkdir()
        async with staged(tmp_path / folder, model, page, roles=roles, limits=limits) as stage:
            return len(await stage.events(await stage.play(), ModelAnswered))

    assert [await calls_made(usd, str(usd)) for usd in (0.0199, 0.02, 0.0201)] == [1, 2, 2]
