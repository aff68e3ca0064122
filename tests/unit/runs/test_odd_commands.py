"""A workflow of a user's own that asks for what no journal can hold: its run fails with words, and can still be read."""

import asyncio
from collections.abc import Callable, Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from outlast.domain.commands import AskMemory, CallModel, CallTool, Command, ComposeReport, Record, RunHook
from outlast.domain.events import (
    KINDS,
    Answered,
    AnyEvent,
    Approved,
    CancelRequested,
    ContextCrowded,
    ModelAnswered,
    ModelFailed,
    PauseRequested,
    RunClaimed,
    Said,
    TicketExpired,
    Told,
    TurnTaken,
    ValueSet,
)
from outlast.domain.run import RunState
from outlast.domain.states import State
from outlast.runs.commanded import RECORDED_BY_WORKFLOWS, Refused, held_to_commands
from outlast.runs.moves import ask_person, enter, fail, open_branch, set_value, tell
from tests.unit.runs.parts import in_turn, say
from tests.unit.runs.stage import staged

# what is wrong here is wrong to the type checker too
odd: Any = 5
unhashable: Any = ["b"]
nonsense: Any = "nonsense"


def talk(**changes: Any) -> Command:
    return open_branch("c", "chat", **{"system": "s", "opening": "o"} | changes)


@pytest.mark.parametrize(
    "ask",
    [
        lambda state: tell("b", odd),
        lambda state: tell("b", "x", kind=odd),
        lambda state: tell("b", "x", material=odd),
        lambda state: tell("b", "lone \ud800"),
        lambda state: tell(unhashable, "x"),
        lambda state: set_value(odd, 1),
        lambda state: set_value(unhashable, 1),
        lambda state: Record(ValueSet(odd, 1)),
        lambda state: ask_person(state, odd, "Which?"),
        lambda state: ask_person(state, "q", odd),
        lambda state: ask_person(state, "q", "Which?", [odd]),
        lambda state: talk(system=odd),
        lambda state: talk(tools=[odd]),
        lambda state: talk(schema={"a": object()}),
        lambda state: talk(schema=["a"]),
        lambda state: enter(state, State.WAITING, odd),
        lambda state: enter(state, State.COMPLETED, "x", odd),
        lambda state: enter(state, nonsense.replace("nonsense", "COMPLETED"), "x", "full"),
        lambda state: fail(state, odd, odd, odd),
        lambda state: CallModel("b", odd),
        lambda state: CallModel(unhashable, "chat"),
        lambda state: CallModel("b", "chat", form=unhashable),
        lambda state: CallTool(unhashable),
        lambda state: CallTool("c1-0", 1, {"a": odd.__class__}),
        lambda state: RunHook(odd, "point", "subject"),
        lambda state: RunHook("nobody's", "point", "subject"),
        lambda state: RunHook("guard", "point", "subject", {"a": odd.__class__}),
        lambda state: AskMemory(unhashable),
        lambda state: ComposeReport(odd),
        lambda state: Record(ModelAnswered(call="m1", text="x")),
        lambda state: Record(ContextCrowded("nowhere", 1, 1)),
        lambda state: Record(RunClaimed(99, "me")),
    ],
)
async def test_what_no_journal_can_hold_fails_the_run_and_nothing_is_lost(
    tmp_path: Path, ask: Callable[[RunState], Command]
) -> None:
    def decide(state: RunState, now: datetime) -> Sequence[Command]:
        if state.state is State.INIT:
            return [enter(state, State.EXECUTING)]
        if "b" not in state.branches:
            return [open_branch("b", "chat", system="s", opening="o"), set_value("kept", 1)]
        return [ask(state)]

    async with staged(tmp_path, in_turn(say("x")), decide=decide) as stage:
        run = await stage.play()
        state = await stage.state(run)
        assert (state.state, state.values) == ("FAILED", {"kept": 1})
        assert state.failure is not None
        assert state.failure.code == "workflow_failed"
        assert "resume" in state.failure.next_step


@pytest.mark.parametrize(
    "event",
    [
        CancelRequested("I"),
        PauseRequested("I"),
        Said("I", "do it"),
        Approved("I", "t1"),
        Answered("I", "q", "yes"),
        TurnTaken(3),
        ModelFailed(call="m3", fault="auth", detail="no"),
        TicketExpired("t1"),
    ],
)
async def test_what_is_for_people_or_the_engine_to_say_fails_a_workflow_that_says_it_and_does_not_act(
    tmp_path: Path, event: AnyEvent
) -> None:
    def decide(state: RunState, now: datetime) -> Sequence[Command]:
        return [enter(state, State.EXECUTING)] if state.state is State.INIT else [Record(event)]

    async with staged(tmp_path, in_turn(say("x")), decide=decide) as stage:
        run = await stage.play()
        failure = (await stage.state(run)).failure
        assert failure is not None
        assert failure.code == "workflow_failed"
        assert failure.detail.startswith(
            f"The workflow recorded a {type(event).__name__}, which is not for workflows"
        )
        assert "outlast.workflow" in failure.detail
        assert not await stage.events(run, type(event))


def test_no_kind_of_event_is_for_workflows_unless_it_is_named() -> None:
    now, state = datetime(2026, 1, 2, tzinfo=UTC), odd
    for kind in KINDS.values():
        event: Any = object.__new__(kind)
        workflow = held_to_commands(lambda state, now, event=event: [Record(event)])
        if kind in RECORDED_BY_WORKFLOWS:
            workflow(state, now)
        else:
            with pytest.raises(Refused, match=f"a {kind.__name__},"):
                workflow(state, now)


async def test_event_of_a_class_of_ones_own_fails_the_run(tmp_path: Path) -> None:
    class Louder(Told):
        pass

    def decide(state: RunState, now: datetime) -> Sequence[Command]:
        return (
            [enter(state, State.EXECUTING)]
            if state.state is State.INIT
            else [Record(Louder("b", "me", "note", "x"))]
        )

    async with staged(tmp_path, in_turn(say("x")), decide=decide) as stage:
        failure = (await stage.state(await stage.play())).failure
        assert failure is not None
        assert "which is no event" in failure.detail


async def test_commands_may_come_one_by_one(tmp_path: Path) -> None:
    def decide(state: RunState, now: datetime) -> Any:
        if state.state is State.INIT:
            yield set_value("n", 1)
            yield enter(state, State.EXECUTING)
        else:
            yield enter(state, State.COMPLETED, "", "full")

    async with staged(tmp_path, in_turn(say("x")), decide=decide) as stage:
        state = await stage.state(await stage.play())
        assert (state.state, state.values) == ("COMPLETED", {"n": 1})


@pytest.mark.parametrize("let_out", [asyncio.CancelledError, GeneratorExit, SystemExit])
async def test_a_workflow_that_lets_out_what_is_no_error_fails_the_run_too(
    tmp_path: Path, let_out: type[BaseException]
) -> None:
    def decide(state: RunState, now: datetime) -> Sequence[Command]:
        raise let_out

    async with staged(tmp_path, in_turn(say("x")), decide=decide) as stage:
        failure = (await stage.state(await stage.play())).failure
        assert failure is not None
        assert failure.code == "workflow_failed"


async def test_a_workflow_that_raises_what_cannot_be_written_fails_the_run(tmp_path: Path) -> None:
    def decide(state: RunState, now: datetime) -> Sequence[Command]:
        raise ValueError("lone \ud800" + "x" * 10_000)

    async with staged(tmp_path, in_turn(say("x")), decide=decide) as stage:
        failure = (await stage.state(await stage.play())).failure
        assert failure is not None
        assert failure.detail.startswith("The workflow raised ValueError: lone \ufffdxx")
        assert len(failure.detail) <= 4000


async def test_what_a_workflow_records_stands_in_the_state_as_it_will_be_read(tmp_path: Path) -> None:
    """Choices that were given as a list, which the workflow goes on to change."""
    choices: Any = ["red"]

    def decide(state: RunState, now: datetime) -> Sequence[Command]:
        if state.state is State.INIT:
            return [enter(state, State.EXECUTING)]
        if not state.questions:
            move = ask_person(state, "q", "Which?")
            return [
                Record(type(move.event)("q", "Which?", None, choices)),
                Record(Told("b", "me", "note", "x")),
            ]
        choices.append("blue")
        return [] if state.questions["q"].choices == ("red",) else [fail(state, "x", "x", "x")]

    async with staged(tmp_path, in_turn(say("x")), decide=decide) as stage:
        assert (await stage.state(await stage.play())).state == "WAITING"
