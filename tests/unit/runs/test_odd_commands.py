"""A workflow of a user's own that asks for what no journal can hold: its run fails with words, and can still be read."""

import asyncio
from collections.abc import Callable, Sequence
from datetime import datetime
from pathlib import Path
from typing import Any

import pytest

from outlast.domain.commands import AskMemory, CallModel, CallTool, Command, ComposeReport, Record, RunHook
from outlast.domain.events import ContextCrowded, ModelAnswered, RunClaimed, Told, ValueSet
from outlast.domain.run import RunState
from outlast.domain.states import State
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
