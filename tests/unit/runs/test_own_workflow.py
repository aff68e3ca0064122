"""A workflow of the user's own: a pure function, with the machine's words."""

from collections.abc import Sequence
from datetime import datetime
from pathlib import Path

from outlast.domain.commands import CallModel, Command, Record
from outlast.domain.events import ModelRequested, Told
from outlast.domain.run import RunState
from outlast.domain.states import State
from outlast.domain.task import RoleSettings
from outlast.runs.converse import converse
from outlast.runs.moves import ask_person, enter, open_branch, set_value
from outlast.runs.readings import read_all
from outlast.service import signals
from tests.law import law
from tests.unit.runs.parts import ask_for, call, in_turn, roles, say, verdict
from tests.unit.runs.props import page
from tests.unit.runs.stage import staged


def decide(state: RunState, now: datetime) -> Sequence[Command]:
    """Ask a person for a colour, then a model for a word about it."""
    if state.state is State.INIT:
        return [enter(state, State.EXECUTING, "begin")]
    question = state.questions.get("colour")
    if question is None:
        return [ask_person(state, "colour", "Which colour?", ["red", "blue"])]
    if question.answer is None:
        return []
    if "colour" not in state.values:
        return [set_value("colour", question.answer)]
    branch = state.branches.get("poet")
    if branch is None:
        opening = f"Say a word about {state.values['colour']}."
        return [open_branch("poet", "chat", system="You are a poet.", opening=opening, tools=["page"])]
    if branch.answer is None:
        return converse(state, "poet", now)
    return [enter(state, State.COMPLETED, "said", "full")]


@law("PLAN-5.a", "PLAN-5.d")
async def test_a_workflow_of_ones_own_asks_people_and_models_and_keeps_values(tmp_path: Path) -> None:
    model = in_turn(ask_for(call("page", url="http://red")), say("Rose."))
    async with staged(tmp_path, model, page, decide=decide) as stage:
        run = await stage.play()
        assert (await stage.state(run)).state == "WAITING"
        assert not stage.requests
        await signals.answer(stage.store, run, "ann", "red")
        await stage.work(run)
        state = await stage.state(run)
        assert (state.outcome, state.values) == ("full", {"colour": "red"})
        assert "about red" in stage.requests[0].messages[1].text


async def test_a_workflow_that_raises_or_never_rests_fails_the_run_with_words(tmp_path: Path) -> None:
    def broken(state: RunState, now: datetime) -> Sequence[Command]:
        raise KeyError("colour")

    def restless(state: RunState, now: datetime) -> Sequence[Command]:
        return [set_value("n", state.position)]

    def lost(state: RunState, now: datetime) -> Sequence[Command]:
        return (
            [enter(state, State.EXECUTING)] if state.state is State.INIT else [CallModel("nowhere", "chat")]
        )

    def quits(state: RunState, now: datetime) -> Sequence[Command]:
        raise SystemExit(0)

    def says_no_command(state: RunState, now: datetime) -> Sequence[Command]:
        return ["begin"]  # type: ignore[list-item]

    def records_no_event(state: RunState, now: datetime) -> Sequence[Command]:
        return [Record("begin")]  # type: ignore[arg-type]

    for workflow, code in (
        (broken, "workflow_failed"),
        (quits, "workflow_failed"),
        (says_no_command, "workflow_failed"),
        (records_no_event, "workflow_failed"),
        (restless, "workflow_restless"),
        (lost, "unknown_branch"),
    ):
        async with staged(tmp_path, in_turn(say("x")), decide=workflow) as stage:
            run = await stage.play()
            failure = (await stage.state(run)).failure
            assert failure is not None
            assert failure.code == code
            assert "resume" in failure.next_step


@law("PLAN-1.g")
async def test_roles_talk_by_messages_that_are_in_the_journal(tmp_path: Path) -> None:
    verdicts = iter([verdict("revise", "say when"), *[verdict("accept")] * 9])
    async with staged(tmp_path, roles(review=lambda request: next(verdicts)), workflow="research") as stage:
        run = await stage.play()
        told = (await stage.events(run, Told))[0]
        assert (told.sender, told.branch[:1], told.kind) == ("reviewer", "s", "feedback")
        assert "say when" in told.material


async def test_every_request_is_the_same_when_the_run_is_read_anew(tmp_path: Path) -> None:
    """The conversation is a reading of the journal: its digest in each intent is that of a fold from nothing."""
    model = roles(execute=in_turn(ask_for(call("page", url="http://a")), say("hm"), say("hm")))
    async with staged(tmp_path, model, page, workflow="research") as stage:
        run = await stage.play()
        history = await stage.history(run)
        checked = 0
        for index, recorded in enumerate(history):
            if isinstance(recorded.event, ModelRequested):
                readings = read_all(run, history[: index + 1], lambda messages, tools: len(messages))
                assert readings.conversations[recorded.event.branch].digest[:20] == recorded.event.digest
                checked += 1
        assert checked == len(stage.requests)


async def test_a_role_of_the_workflows_own_works_like_the_executor(tmp_path: Path) -> None:
    def decide(state: RunState, now: datetime) -> Sequence[Command]:
        if state.state is State.INIT:
            return [enter(state, State.EXECUTING)]
        if "talk" not in state.branches:
            return [open_branch("talk", "translator", system="Translate.", opening="Guten Tag")]
        if state.branches["talk"].answer is not None:
            return [enter(state, State.COMPLETED, outcome="full")]
        return converse(state, "talk", now)

    settings = {"executor": RoleSettings(model="m-1", temperature=0.7)}
    async with staged(tmp_path, in_turn(say("Good day")), decide=decide, roles=settings) as stage:
        await stage.play()
        assert [(request.model, request.temperature) for request in stage.requests] == [("m-1", 0.7)]
