"""Where a person must agree to a transition or at a named point, and what happens to tickets of a plan."""

import asyncio
from pathlib import Path

import pytest

from outlast.domain.errors import Conflict
from outlast.domain.events import (
    ApprovalAsked,
    PlanMade,
    PlanRefused,
    ReportWritten,
    TicketVoided,
    ToolRequested,
)
from outlast.domain.task import ApprovalRule, Limits
from outlast.ports.provider import ModelAnswer, ModelRequest
from outlast.service import signals
from tests.law import law
from tests.unit.runs.parts import (
    ask_for,
    call,
    conclude,
    plan,
    roles,
    subtask,
    turn,
    verdict,
    went_through,
)
from tests.unit.runs.props import SENT, mail
from tests.unit.runs.stage import soon, staged

MAILS = (ApprovalRule(tool="mail"),)


@pytest.fixture(autouse=True)
def _nothing_sent() -> None:
    SENT.clear()


@law("RUN-8.a", "RUN-1.e")
async def test_a_transition_waits_for_a_person_and_is_taken_once(tmp_path: Path) -> None:
    rules = (ApprovalRule(on="PLANNING->EXECUTING"), ApprovalRule(on="REVIEWING->COMPLETED"))
    async with staged(tmp_path, roles(), workflow="research", approvals=rules) as stage:
        run = await stage.play()
        assert (await stage.states(run))[-2:] == ["PLANNING", "WAITING"]
        shown = (await stage.events(run, ApprovalAsked))[0].shown
        assert [item["question"] for item in shown["plan"]] == [
            "What about s1?",
            "What about s2?",
            "What about s3?",
        ]
        await signals.approve(stage.store, run, "eve")
        await stage.work(run)
        states = await stage.states(run)
        assert states[2:5] == ["WAITING", "PLANNING", "EXECUTING"]
        assert states[-2:] == ["REVIEWING", "WAITING"]
        await signals.approve(stage.store, run, "eve")
        await stage.work(run)
        assert went_through(await stage.state(run))
        assert len(await stage.events(run, ApprovalAsked)) == 2


@law("RUN-8.f")
async def test_a_ticket_of_a_transition_stays_while_other_subtasks_go_on(tmp_path: Path) -> None:
    others = asyncio.Event()

    async def work(request: ModelRequest) -> ModelAnswer:
        if "SUBTASK: s1" not in request.messages[1].text:
            await soon(others)
        return conclude("It is so.")

    rules = (ApprovalRule(on="EXECUTING->REVIEWING"),)
    async with staged(tmp_path, roles(execute=work), workflow="research", approvals=rules) as stage:
        run = await stage.start()
        working = asyncio.create_task(stage.work(run))
        watch = stage.store.watch([run])
        while not await stage.events(run, ApprovalAsked):
            await watch.wait(5.0)
        watch.stop()
        others.set()
        await working
        assert (await stage.state(run)).state == "WAITING"
        assert len(await stage.events(run, ApprovalAsked)) == 1
        assert not await stage.events(run, TicketVoided)


@law("RUN-8.j")
async def test_a_refused_transition_of_the_plan_has_it_made_anew_with_the_comment(tmp_path: Path) -> None:
    plans = iter([plan(), plan(subtask("s1", "Better one?"), subtask("s2"), subtask("s3"))])
    rules = (ApprovalRule(on="PLANNING->EXECUTING"),)
    model = roles(plan=lambda request: next(plans))
    async with staged(tmp_path, model, workflow="research", approvals=rules) as stage:
        run = await stage.play()
        await signals.reject(stage.store, run, "eve", comment="ask better")
        await stage.work(run)
        assert "ask better" in stage.requests[-1].messages[-1].text
        await signals.approve(stage.store, run, "eve")
        await stage.work(run)
        assert went_through(await stage.state(run))


@law("RUN-8.c")
async def test_each_named_point_asks_and_refusing_leads_back(tmp_path: Path) -> None:
    rules = tuple(ApprovalRule(on=point) for point in ("plan", "outline", "conclusions", "report"))
    plans = iter([plan(), plan(subtask("s1", "Better one?"), subtask("s2"), subtask("s3"))])
    model = roles(plan=lambda request: next(plans))
    async with staged(
        tmp_path, model, workflow="research", approvals=rules, limits=Limits(max_steps=99)
    ) as stage:
        run = await stage.play()

        async def asked_for() -> str:
            return (await stage.state(run)).open_tickets()[0].subject.partition("@")[0]

        assert await asked_for() == "plan"
        await signals.reject(stage.store, run, "eve", comment="better")
        await stage.work(run)
        assert await asked_for() == "plan"
        assert len(await stage.events(run, PlanRefused)) == 1
        for point in ("conclusions", "outline"):
            await signals.approve(stage.store, run, "eve")
            await stage.work(run)
            assert await asked_for() == point
        await signals.reject(stage.store, run, "eve", comment="other headings")
        await stage.work(run)
        assert await asked_for() == "report"
        assert (
            "other headings"
            in next(one for one in stage.requests if one.purpose == "report").messages[1].text
        )
        await signals.reject(stage.store, run, "eve", comment="too long")
        await stage.work(run)
        assert await asked_for() == "report"
        assert "too long" in [one for one in stage.requests if one.purpose == "report"][-1].messages[-1].text
        await signals.approve(stage.store, run, "eve")
        await stage.work(run)
        assert went_through(await stage.state(run))
        assert len(await stage.events(run, ReportWritten)) == 2
        assert len(await stage.events(run, PlanMade)) == 1


@law("RUN-8.f")
async def test_tickets_of_a_plan_that_is_made_anew_are_void(tmp_path: Path) -> None:
    plans = iter(
        [plan(), plan(subtask("s1", "New one?"), subtask("s2", "New two?"), subtask("s3", "New three?"))]
    )

    def work(request: ModelRequest) -> ModelAnswer:
        if "What about s1?" in request.messages[1].text and turn(request) == 0:
            return ask_for(call("mail", to="ann"))
        return conclude("It is so.")

    def judge(request: ModelRequest) -> ModelAnswer:
        return verdict("replan", "no") if "What about s2?" in request.messages[1].text else verdict("accept")

    model = roles(plan=lambda request: next(plans), execute=work, review=judge)
    async with staged(
        tmp_path, model, mail, workflow="research", approvals=MAILS, limits=Limits(max_steps=99)
    ) as stage:
        run = await stage.play()
        state = await stage.state(run)
        assert (went_through(state), SENT, state.open_tickets(), state.calls) == (True, [], (), {})
        asked = (await stage.events(run, ApprovalAsked))[0]
        assert [void.ticket for void in await stage.events(run, TicketVoided)] == [asked.ticket]
        with pytest.raises(Conflict, match="is void"):
            await signals.approve(stage.store, run, "eve", asked.ticket)


@law("RUN-8.k", "RUN-1.f")
async def test_a_run_waits_only_when_no_branch_of_it_can_go_on(tmp_path: Path) -> None:
    def work(request: ModelRequest) -> ModelAnswer:
        if "SUBTASK: s1" in request.messages[1].text and turn(request) == 0:
            return ask_for(call("mail", to="ann"))
        return conclude("It is so.")

    async with staged(tmp_path, roles(execute=work), mail, workflow="research", approvals=MAILS) as stage:
        run = await stage.play()
        state = await stage.state(run)
        assert state.state == "WAITING"
        assert [str(item.progress) for item in state.plan] == ["working", "accepted", "accepted"]
        entry = await stage.store.read_entry("runs", run)
        assert entry is not None
        assert (entry.until, entry.due_at) == (None, None)
        await signals.approve(stage.store, run, "eve")
        await stage.work(run)
        assert went_through(await stage.state(run))
        assert SENT == ["ann"]
        assert len(await stage.events(run, ToolRequested)) == 2
