"""Limits: checked before the call that would cross them, and a partial result where one is reached."""

from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from outlast.domain.apply import fold
from outlast.domain.errors import ModelCallFailed
from outlast.domain.events import (
    AnyEvent,
    LimitReached,
    ModelRequested,
    Recorded,
    RunClaimed,
    RunReleased,
    RunStarted,
    Said,
    StateEntered,
)
from outlast.domain.message import Usage
from outlast.domain.run import RunState
from outlast.domain.states import State
from outlast.domain.task import Limits, TaskDefinition
from outlast.domain.tool_call import ToolCall
from outlast.ports.provider import ModelAnswer, ModelRequest
from outlast.runs.limits import limit_crossed
from outlast.service.show import read_report, show_run
from tests.law import law
from tests.unit.runs.parts import ask_for, call, conclude, in_turn, plan, report, roles, say, subtask, turn
from tests.unit.runs.props import page
from tests.unit.runs.stage import staged


@law("RUN-6.a", "RUN-6.c", "RUN-6.k", "RUN-6.l")
async def test_steps_of_planning_and_reviewing_count_and_the_report_says_where_it_stopped(
    tmp_path: Path,
) -> None:
    model = roles(
        execute=in_turn(
            ask_for(call("page", url="http://a")),
            conclude({"claim": "a is so", "sources": ["http://a"], "quote": "http://a is so"}),
        )
    )
    async with staged(
        tmp_path, model, page, workflow="research", max_concurrent_subtasks=1, limits=Limits(max_steps=5)
    ) as stage:
        run = await stage.play("Why?")
        state = await stage.state(run)
        assert (state.state, state.outcome, state.counters.steps) == ("COMPLETED", "partial", 5)
        made = await read_report(stage.store, state)
        assert made is not None
        assert made.outcome == "partial"
        assert [claim.text for section in made.sections for claim in section.claims] == ["a is so"]
        command = f"outlast run --from {run} --set task.max_steps=10"
        assert any(command in limit for limit in made.limits)
        shown = await show_run(stage.store, run)
        assert shown["error"]["next"] == command
        reached = (await stage.events(run, LimitReached))[0]
        assert (reached.limit, reached.bound) == ("max_steps", 5)


async def test_the_limit_is_named_in_the_language_of_the_question(tmp_path: Path) -> None:
    async with staged(tmp_path, roles(), workflow="research", limits=Limits(max_steps=2)) as stage:
        run = await stage.play("这是什么？")
        made = await read_report(stage.store, await stage.state(run))
        assert made is not None
        assert made.language == "zh"
        assert any("限制 max_steps" in limit for limit in made.limits)


@law("RUN-6.d", "RUN-6.b")
async def test_tokens_are_kept_within_their_bound_by_what_is_reserved(tmp_path: Path) -> None:
    def model(request: ModelRequest) -> ModelAnswer:
        return ask_for(call("page", url=f"http://{turn(request)}"), usage=Usage(1000, 500))

    async with staged(tmp_path, model, page, limits=Limits(max_tokens_total=10_000, max_steps=99)) as stage:
        run = await stage.play()
        state = await stage.state(run)
        assert state.outcome == "partial"
        assert state.counters.tokens <= 10_000
        assert (await stage.events(run, LimitReached))[0].limit == "max_tokens_total"
        assert state.failure is not None
        assert state.failure.next_step.endswith("task.max_tokens_total=20000")


@law("RUN-6.e")
async def test_cost_is_over_by_at_most_the_call_in_flight(tmp_path: Path) -> None:
    def model(request: ModelRequest) -> ModelAnswer:
        return ask_for(call("page", url=f"http://{turn(request)}"), usage=Usage(10, 5, 0.4))

    async with staged(tmp_path, model, page, limits=Limits(max_cost_usd=1.0, max_steps=99)) as stage:
        run = await stage.play()
        state = await stage.state(run)
        assert (state.outcome, state.counters.steps) == ("partial", 3)
        assert state.failure is not None
        assert "task.max_cost=2" in state.failure.next_step


@law("RUN-6.j", "RUN-6.b")
async def test_subtasks_draw_from_one_purse_and_stop_together(tmp_path: Path) -> None:
    def work(request: ModelRequest) -> ModelAnswer:
        return ask_for(call("page", url=f"http://{turn(request)}"))

    five = plan(*(subtask(f"s{number}") for number in range(5)))
    model = roles(plan=five, execute=work)
    async with staged(
        tmp_path, model, page, workflow="research", max_concurrent_subtasks=5, limits=Limits(max_steps=12)
    ) as stage:
        run = await stage.play()
        state = await stage.state(run)
        assert (state.outcome, state.counters.steps) == ("partial", 12)
        assert len(stage.requests) == 12


@law("RUN-6.i")
async def test_unparsable_calls_count_as_steps_and_as_calls(tmp_path: Path) -> None:
    broken = ToolCall("", "page", {}, problem="This is not JSON.", raw="{")
    async with staged(
        tmp_path, in_turn(ask_for(broken)), page, limits=Limits(max_steps=6, tool_calls={"page": 2})
    ) as stage:
        run = await stage.play()
        state = await stage.state(run)
        assert (state.outcome, state.counters.steps) == ("partial", 6)
        assert state.counters.tool_calls["page"] >= 2


async def test_a_report_that_was_written_is_kept_when_its_review_crosses_a_limit(tmp_path: Path) -> None:
    model = roles(
        plan=plan(),
        execute=in_turn(
            ask_for(call("page", url="http://a")),
            conclude({"claim": "a", "sources": ["http://a"], "quote": "http://a is so"}),
        ),
        report=report({"text": "In the writer's own words.", "conclusions": ["s1.1"]}),
    )
    async with staged(tmp_path, model, page, workflow="research", limits=Limits(max_steps=11)) as stage:
        run = await stage.play()
        state = await stage.state(run)
        made = await read_report(stage.store, state)
        assert made is not None
        assert (state.outcome, made.outcome) == ("partial", "partial")
        assert [claim.text for section in made.sections for claim in section.claims] == [
            "In the writer's own words."
        ]
        assert any("max_steps" in limit for limit in made.limits)


async def test_a_chat_whose_model_fails_on_the_last_step_ends_with_what_is_there(tmp_path: Path) -> None:
    def model(request: ModelRequest) -> ModelAnswer:
        if request.tools:
            return ask_for(call("page", url=f"http://{turn(request)}"), text="Looking.")
        raise ModelCallFailed("overload", "busy")

    async with staged(tmp_path, model, page, limits=Limits(max_steps=3)) as stage:
        run = await stage.play()
        shown = await show_run(stage.store, run)
        assert (shown["state"], shown["outcome"], shown["answer"]) == ("COMPLETED", "partial", "Looking.")


BEGAN = datetime(2026, 1, 1, tzinfo=UTC)


def timed(*events: tuple[float, AnyEvent]) -> RunState:
    """A chat that begins at second 0, with further events at their seconds."""
    started = RunStarted(
        thread_id="t",
        user_id="u",
        input="x",
        definition=TaskDefinition(name="n"),
        tools=(),
        secret="s",
        today="d",
    )
    recorded = [
        Recorded(position, BEGAN + timedelta(seconds=second), event)
        for position, (second, event) in enumerate([(0.0, started), *events], start=1)
    ]
    return fold("r-1", recorded)


TO_WORK = StateEntered(State.INIT, State.EXECUTING)
TO_WAIT = StateEntered(State.EXECUTING, State.WAITING)
BACK = StateEntered(State.WAITING, State.EXECUTING)


@law("RUN-6.f")
@pytest.mark.parametrize(
    ("events", "seconds"),
    [
        ([(100, RunClaimed(1, "w")), (110, RunReleased("x"))], 10),
        ([(0, RunClaimed(1, "w")), (0, TO_WORK), (5, TO_WAIT), (500, BACK), (503, RunReleased("x"))], 8),
        ([(0, RunClaimed(1, "w")), (5, TO_WORK), (3600, RunClaimed(2, "v")), (3602, RunReleased("x"))], 7),
        ([(0, RunClaimed(1, "w")), (5, TO_WORK), (3600, Said("u", "hi")), (3700, RunClaimed(2, "v"))], 5),
        ([(0, RunClaimed(1, "w")), (5, TO_WORK), (7, Said("u", "hi")), (9, RunReleased("x"))], 9),
        (
            [
                (0, RunClaimed(1, "w")),
                (5, RunReleased("x")),
                (900, Said("u", "hi")),
                (901, RunClaimed(2, "v")),
            ],
            5,
        ),
    ],
)
def test_only_working_time_under_a_lease_counts(events: list[tuple[float, AnyEvent]], seconds: float) -> None:
    assert timed(*events).counters.working_seconds == seconds


@law("RUN-6.f")
def test_the_wall_time_is_checked_before_a_call_with_the_stretch_since_the_last_event() -> None:
    state = timed((0, RunClaimed(1, "w")), (0, TO_WORK))
    bounded = replace(state, limits=Limits(max_wall_seconds=60))
    assert limit_crossed(bounded, BEGAN + timedelta(seconds=59)) is None
    crossed = limit_crossed(bounded, BEGAN + timedelta(seconds=60))
    assert crossed is not None
    assert crossed.limit == "max_wall_seconds"


async def test_a_run_out_of_wall_time_ends_partial_and_says_how_to_go_on(tmp_path: Path) -> None:
    async with staged(tmp_path, in_turn(say("x")), limits=Limits(max_wall_seconds=0.0)) as stage:
        run = await stage.play()
        state = await stage.state(run)
        assert (state.state, state.outcome) == ("COMPLETED", "partial")
        assert not await stage.events(run, ModelRequested)
        assert state.failure is not None
        assert "task.max_wall_time=" in state.failure.next_step
