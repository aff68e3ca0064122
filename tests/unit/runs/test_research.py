"""The research workflow from plan to report."""

import asyncio
from pathlib import Path

import pytest

from outlast.domain.events import ReportWritten, SubtaskReviewed, SubtaskStarted
from outlast.domain.task import Limits, RoleSettings
from outlast.ports.provider import ModelAnswer, ModelRequest
from outlast.service.reports.markdown import to_markdown
from outlast.service.show import read_report
from tests.law import law
from tests.unit.runs.parts import (
    ask_for,
    call,
    conclude,
    in_turn,
    plan,
    report,
    roles,
    say,
    subtask,
    subtask_of,
    turn,
    verdict,
    went_through,
)
from tests.unit.runs.props import page
from tests.unit.runs.stage import soon, staged


def asked(stage, purpose: str) -> list[ModelRequest]:
    return [request for request in stage.requests if request.purpose == purpose]


def text_of(request: ModelRequest) -> str:
    return "\n".join(message.text for message in request.messages)


@law("PLAN-1.a", "PLAN-1.c", "PLAN-1.e", "PLAN-5.c")
async def test_a_research_run_plans_executes_reviews_and_reports(tmp_path: Path) -> None:
    async with staged(tmp_path, roles(), workflow="research") as stage:
        run = await stage.play()
        states = await stage.states(run)
        assert states[:3] == ["INIT", "PLANNING", "EXECUTING"]
        assert states[3:5] == ["REVIEWING", "EXECUTING"]
        assert states[-2:] == ["REVIEWING", "COMPLETED"]
        assert went_through(await stage.state(run))
        reviewed = await stage.events(run, SubtaskReviewed)
        assert sorted(event.subtask for event in reviewed) == ["s1", "s2", "s3"]
        assert len(asked(stage, "final_review")) == 1


@law("PLAN-2.a")
async def test_subtasks_without_dependencies_overlap_up_to_the_configured_number(tmp_path: Path) -> None:
    together = asyncio.Event()
    at_work: set[str] = set()
    most = 0

    async def work(request: ModelRequest) -> ModelAnswer:
        nonlocal most
        at_work.add(subtask_of(request))
        most = max(most, len(at_work))
        if len(at_work) == 2:
            together.set()
        await soon(together)
        at_work.discard(subtask_of(request))
        return conclude("It is so.")

    four = plan(*(subtask(f"s{number}") for number in range(1, 5)))
    model = roles(plan=four, execute=work)
    async with staged(tmp_path, model, workflow="research", max_concurrent_subtasks=2) as stage:
        run = await stage.play()
        assert went_through(await stage.state(run))
        assert most == 2


async def test_a_subtask_begins_when_those_it_depends_on_are_settled(tmp_path: Path) -> None:
    chain = plan(subtask("s1"), subtask("s2", depends_on=["s1"]), subtask("s3", depends_on=["s1", "s2"]))
    async with staged(tmp_path, roles(plan=chain), workflow="research") as stage:
        run = await stage.play()
        order = [
            (type(event).__name__, event.subtask)
            for event in await stage.events(run, SubtaskStarted, SubtaskReviewed)
        ]
        assert order == [
            (kind, name) for name in ("s1", "s2", "s3") for kind in ("SubtaskStarted", "SubtaskReviewed")
        ]


@law("PLAN-1.b", "PLAN-2.b", "PLAN-2.c")
async def test_only_conclusions_of_depended_on_subtasks_reach_another_context(tmp_path: Path) -> None:
    def work(request: ModelRequest) -> ModelAnswer:
        name = subtask_of(request)
        if turn(request) == 0:
            return ask_for(call("page", url=f"http://{name}"), text=f"thinking of {name}")
        return conclude(
            {"claim": f"claim of {name}", "sources": [f"http://{name}"], "quote": f"http://{name} is so"}
        )

    chain = plan(subtask("s1"), subtask("s2"), subtask("s3", depends_on=["s1"]))
    model = roles(plan=chain, execute=work)
    async with staged(tmp_path, model, page, workflow="research") as stage:
        await stage.play()
        third = next(text_of(request) for request in asked(stage, "execute") if subtask_of(request) == "s3")
        assert "claim of s1" in third
        assert "thinking of s1" not in third
        assert "This is the page" not in third
        assert "s2" not in third


@law("PLAN-2.c")
async def test_shared_isolation_shows_every_conclusion_there_is(tmp_path: Path) -> None:
    chain = plan(subtask("s1"), subtask("s2"), subtask("s3", depends_on=["s1"]))
    model = roles(plan=chain)
    async with staged(
        tmp_path, model, workflow="research", isolation="shared", max_concurrent_subtasks=1
    ) as stage:
        await stage.play()
        third = next(text_of(request) for request in asked(stage, "execute") if subtask_of(request) == "s3")
        assert "s1 is so" in third
        assert "s2 is so" in third


@law("PLAN-1.d")
async def test_a_subtask_is_sent_back_with_reasons_and_only_so_often(tmp_path: Path) -> None:
    def judge(request: ModelRequest) -> ModelAnswer:
        return (
            verdict("revise", "say when")
            if "SUBTASK QUESTION: What about s1" in text_of(request)
            else verdict("accept")
        )

    async with staged(tmp_path, roles(review=judge), workflow="research") as stage:
        run = await stage.play()
        first = [request for request in asked(stage, "execute") if subtask_of(request) == "s1"]
        assert len(first) == 3
        assert "say when" in text_of(first[1])
        state = await stage.state(run)
        assert state.state == "COMPLETED"
        assert any("taken as it is" in remark for remark in state.subtask("s1").remarks)


@law("PLAN-1.e")
async def test_a_last_review_can_have_the_report_written_again(tmp_path: Path) -> None:
    verdicts = iter([verdict("revise", "be brief"), verdict("accept")])
    model = roles(final_review=lambda request: next(verdicts))
    async with staged(tmp_path, model, workflow="research") as stage:
        run = await stage.play()
        assert len(await stage.events(run, ReportWritten)) == 2
        assert "be brief" in text_of(asked(stage, "report")[-1])
        assert went_through(await stage.state(run))


async def test_a_writer_whose_new_report_is_refused_may_mend_it(tmp_path: Path) -> None:
    drafts = iter(
        [
            report({"text": "First.", "sources": ["http://a"]}),
            report({"text": "Bad.", "conclusions": ["s9.9"]}),
            report({"text": "Second.", "sources": ["http://a"]}),
        ]
    )
    verdicts = iter([verdict("revise", "mend it"), verdict("accept")])
    model = roles(
        execute=in_turn(
            ask_for(call("page", url="http://a")),
            conclude({"claim": "a", "sources": ["http://a"], "quote": "http://a is so"}),
        ),
        report=lambda request: next(drafts),
        final_review=lambda request: next(verdicts),
    )
    async with staged(tmp_path, model, page, workflow="research") as stage:
        run = await stage.play()
        written = await read_report(stage.store, await stage.state(run))
        assert written is not None
        assert [claim.text for section in written.sections for claim in section.claims] == ["Second."]


async def test_a_writer_who_never_hands_in_leaves_the_report_to_the_engine(tmp_path: Path) -> None:
    model = roles(
        execute=in_turn(
            ask_for(call("page", url="http://a")),
            conclude({"claim": "a is so", "sources": ["http://a"], "quote": "http://a is so"}),
        ),
        report=say("Here is the report: all is so."),
    )
    async with staged(tmp_path, model, page, workflow="research") as stage:
        run = await stage.play()
        state = await stage.state(run)
        written = await read_report(stage.store, state)
        assert (state.state, state.outcome) == ("COMPLETED", "full")
        assert written is not None
        assert {claim.text for section in written.sections for claim in section.claims} == {"a is so"}
        assert any("writer" in limit for limit in written.limits)


@pytest.mark.parametrize("hands_in", [True, False])
async def test_a_research_that_found_nothing_is_partial_and_its_report_says_so(
    tmp_path: Path, *, hands_in: bool
) -> None:
    """All went well, but nothing with a source answers the question."""
    nothing = conclude(open_questions=["What is it?"])
    writes = report(summary="The sources say nothing.") if hands_in else say("There is nothing to tell.")
    model = roles(execute=nothing, conclude=nothing, report=writes)
    async with staged(tmp_path, model, workflow="research") as stage:
        run = await stage.play()
        state = await stage.state(run)
        written = await read_report(stage.store, state)
        assert (state.state, state.outcome) == ("COMPLETED", "partial")
        assert written is not None
        assert (written.outcome, written.sections) == ("partial", ())
        assert written.limits.count("Nothing was found that answers the question.") == 1
        shown = to_markdown(written)
        assert "**Partial result: nothing was found that answers the question.**" in shown


async def test_an_unusable_verdict_takes_the_subtask_as_it_is_and_says_so(tmp_path: Path) -> None:
    async with staged(
        tmp_path, roles(review=say("looks fine")), workflow="research", limits=Limits(max_steps=100)
    ) as stage:
        run = await stage.play()
        state = await stage.state(run)
        assert went_through(state)
        assert any("no usable verdict" in remark for remark in state.subtask("s1").remarks)


async def test_without_reviewing_nothing_is_reviewed(tmp_path: Path) -> None:
    async with staged(
        tmp_path, roles(), workflow="research", states=("INIT", "PLANNING", "EXECUTING", "COMPLETED")
    ) as stage:
        run = await stage.play()
        assert await stage.states(run) == ["INIT", "PLANNING", "EXECUTING", "COMPLETED"]
        assert not asked(stage, "review") + asked(stage, "final_review")


async def test_without_planning_the_input_is_the_one_question(tmp_path: Path) -> None:
    async with staged(
        tmp_path,
        roles(review=verdict("replan", "no")),
        workflow="research",
        states=("INIT", "EXECUTING", "REVIEWING", "COMPLETED"),
    ) as stage:
        run = await stage.play("Why?")
        state = await stage.state(run)
        assert "PLANNING" not in await stage.states(run)
        assert [item.subtask.question for item in state.plan] == ["Why?"]
        assert went_through(state)


@law("PLAN-1.f")
async def test_each_role_asks_its_own_model_under_its_own_prompt_and_temperature(tmp_path: Path) -> None:
    own = {
        role: RoleSettings(
            model=f"m-{role}", temperature=number / 10, prompt=f"Prompt of {role}.", max_tokens=number
        )
        for number, role in enumerate(("planner", "executor", "reviewer", "writer"), start=1)
    }
    async with staged(tmp_path, roles(), workflow="research", roles=own) as stage:
        await stage.play()
        assert {request.role for request in stage.requests} == set(own)
        for request in stage.requests:
            settings = own[request.role]
            assert (request.model, request.temperature, request.max_tokens) == (
                settings.model,
                settings.temperature,
                settings.max_tokens,
            )
            assert request.messages[0].text.startswith(f"Prompt of {request.role}.")


@law("PLAN-1.f")
async def test_a_role_is_offered_its_own_tools(tmp_path: Path) -> None:
    own = {
        "planner": RoleSettings(model="m", tools=("page",)),
        "executor": RoleSettings(model="m", tools=()),
        "reviewer": RoleSettings(model="m", tools=("page",)),
    }
    async with staged(tmp_path, roles(), page, workflow="research", roles=own) as stage:
        await stage.play()
        offered = {request.purpose: [tool.name for tool in request.tools] for request in stage.requests}
        assert offered == {
            "plan": ["page"],
            "execute": [],
            "review": ["page"],
            "report": ["write_report"],
            "final_review": ["page"],
        }
