"""Plans: made, corrected, refused, made again, bounded."""

import asyncio
from pathlib import Path

from outlast.domain.events import (
    PlanMade,
    PlanRefused,
    QuestionAsked,
    ReportWritten,
    ToolAnswered,
    ToolRequested,
    ToolUnsettled,
)
from outlast.domain.task import Limits
from outlast.ports.provider import ModelAnswer, ModelRequest
from outlast.service.show import read_report
from tests.law import law
from tests.patience import PATIENCE_SECONDS
from tests.unit.runs.parts import (
    ask_for,
    call,
    conclude,
    give,
    in_turn,
    plan,
    roles,
    say,
    subtask,
    subtask_of,
    verdict,
    went_through,
)
from tests.unit.runs.stage import soon, staged
from tests.unit.runs.test_signals import Gate


def asked(stage, purpose: str) -> list[ModelRequest]:
    return [request for request in stage.requests if request.purpose == purpose]


def text_of(request: ModelRequest) -> str:
    return "\n".join(message.text for message in request.messages)


@law("PLAN-3.a", "PLAN-3.b", "RUN-6.g")
async def test_replanning_is_bounded_and_ends_partial_with_the_reason(tmp_path: Path) -> None:
    made = 0

    def planner(request: ModelRequest) -> ModelAnswer:
        nonlocal made
        made += 1
        return plan(*(subtask(f"s{number}", f"Question {number} of plan {made}?") for number in (1, 2, 3)))

    model = roles(plan=planner, review=verdict("replan", "it misses the point"))
    async with staged(tmp_path, model, workflow="research", limits=Limits(max_steps=100)) as stage:
        run = await stage.play()
        state = await stage.state(run)
        assert (state.state, state.outcome) == ("COMPLETED", "partial")
        assert len(await stage.events(run, PlanMade)) == 3
        assert state.counters.replans == 2
        told = await read_report(stage.store, state)
        assert told is not None
        assert any("max_replans" in limit for limit in told.limits)
        assert state.failure is not None
        assert "max_replans" in state.failure.detail
        assert f"--from {run}" in state.failure.next_step


@law("PLAN-3.b")
async def test_at_the_bound_a_plan_can_be_accepted_as_it_is_with_the_reason(tmp_path: Path) -> None:
    model = roles(review=verdict("replan", "it misses the point"))
    async with staged(
        tmp_path,
        model,
        workflow="research",
        on_replan_limit="accept",
        limits=Limits(max_steps=100, max_replans=0),
    ) as stage:
        run = await stage.play()
        state = await stage.state(run)
        assert went_through(state)
        assert "it misses the point" in state.subtask("s1").remarks
        assert any("replan" in remark for remark in state.subtask("s1").remarks)


@law("PLAN-3.c")
async def test_a_plan_equal_to_a_refused_one_counts_and_is_named(tmp_path: Path) -> None:
    model = roles(review=verdict("replan", "no"))
    async with staged(tmp_path, model, workflow="research", limits=Limits(max_steps=100)) as stage:
        run = await stage.play()
        refused = await stage.events(run, PlanRefused)
        assert [event.is_repeat for event in refused] == [False, True]
        assert (await stage.state(run)).outcome == "partial"


async def test_a_new_plan_takes_nothing_up_from_calls_of_the_old_one(tmp_path: Path) -> None:
    """Two subtasks are at work while the third is judged: replan."""
    released = asyncio.Event()
    plans = iter(
        [plan(), plan(subtask("s1", "New one?"), subtask("s2", "New two?"), subtask("s3", "New three?"))]
    )

    async def work(request: ModelRequest) -> ModelAnswer:
        if "What about" in text_of(request) and subtask_of(request) != "s1":
            await soon(released)
            return conclude("stale")
        return conclude(f"fresh {subtask_of(request)}")

    def judge(request: ModelRequest) -> ModelAnswer:
        if "What about s1?" in text_of(request):
            released.set()
            return verdict("replan", "ask something new")
        return verdict("accept")

    model = roles(plan=lambda request: next(plans), execute=work, review=judge)
    async with staged(tmp_path, model, workflow="research", limits=Limits(max_steps=100)) as stage:
        run = await stage.play()
        state = await stage.state(run)
        assert went_through(state)
        assert [one.claim for item in state.plan for one in item.conclusions] == [
            "fresh s1",
            "fresh s2",
            "fresh s3",
        ]


async def test_an_accepted_subtask_that_is_planned_again_keeps_its_conclusions_under_its_new_name(
    tmp_path: Path,
) -> None:
    plans = iter(
        [
            plan(subtask("s1", "Old?"), subtask("s2", "Two?", ["s1"]), subtask("s3", "Three?", ["s1"])),
            plan(subtask("s1", "New?"), subtask("s2", "Old?"), subtask("s3", "Newer?")),
        ]
    )

    def judge(request: ModelRequest) -> ModelAnswer:
        return verdict("replan", "no") if "Two?" in text_of(request) else verdict("accept")

    def work(request: ModelRequest) -> ModelAnswer:
        return conclude("answer to " + text_of(request).partition("SUBTASK QUESTION: ")[2].partition("\n")[0])

    model = roles(plan=lambda request: next(plans), review=judge, execute=work)
    async with staged(tmp_path, model, workflow="research", limits=Limits(max_steps=100)) as stage:
        run = await stage.play()
        state = await stage.state(run)
        kept = {one.id: one.claim for item in state.plan for one in item.conclusions}
        assert kept == {"s1.1": "answer to New?", "s2.1": "answer to Old?", "s3.1": "answer to Newer?"}


async def test_a_plan_refused_by_the_last_review_leads_to_another_report(tmp_path: Path) -> None:
    plans = iter(
        [plan(), plan(subtask("s1", "New one?"), subtask("s2", "New two?"), subtask("s3", "New three?"))]
    )
    verdicts = iter([verdict("replan", "other questions"), verdict("accept")])
    model = roles(plan=lambda request: next(plans), final_review=lambda request: next(verdicts))
    async with staged(tmp_path, model, workflow="research", limits=Limits(max_steps=100)) as stage:
        run = await stage.play()
        assert len(await stage.events(run, ReportWritten)) == 2
        assert went_through(await stage.state(run))


async def test_an_unusable_plan_is_corrected_with_what_is_wrong(tmp_path: Path) -> None:
    model = roles(
        plan=in_turn(
            say("I would rather not."),
            give(
                {
                    "subtasks": [
                        subtask("s1", depends_on=["s2"]),
                        subtask("s2", depends_on=["s1"]),
                        subtask("s3"),
                    ]
                }
            ),
            plan(),
        )
    )
    async with staged(tmp_path, model, workflow="research") as stage:
        run = await stage.play()
        assert went_through(await stage.state(run))
        assert "circle" in text_of(asked(stage, "plan")[2])


@law("RUN-11.d")
async def test_a_run_that_failed_for_want_of_a_plan_asks_for_one_again_when_resumed(tmp_path: Path) -> None:
    from outlast.service import signals

    answers = iter([say("no"), say("no"), say("no"), plan()])
    async with staged(tmp_path, roles(plan=lambda request: next(answers)), workflow="research") as stage:
        run = await stage.play()
        state = await stage.state(run)
        assert state.state == "FAILED"
        assert state.failure is not None
        assert state.failure.code == "plan_unusable"
        await signals.resume(stage.store, run, "ann")
        await stage.work(run)
        assert went_through(await stage.state(run))


async def test_an_executor_that_gives_no_usable_conclusions_is_given_up_and_planned_around(
    tmp_path: Path,
) -> None:
    plans = iter([plan(), plan(subtask("s1", "New one?"), subtask("s2"), subtask("s3"))])

    def work(request: ModelRequest) -> ModelAnswer:
        return (
            say("hm") if "What about s1?" in text_of(request) else conclude(f"{subtask_of(request)} is so.")
        )

    model = roles(plan=lambda request: next(plans), execute=work, conclude=say("hm"))
    async with staged(tmp_path, model, workflow="research", limits=Limits(max_steps=100)) as stage:
        run = await stage.play()
        assert went_through(await stage.state(run))
        refused = await stage.events(run, PlanRefused)
        assert "gave no usable conclusions" in refused[0].reasons[0]


@law("RUN-4.g", "PLAN-3.c")
async def test_a_once_call_of_a_refused_plan_whose_worker_died_is_unknown_and_asks_nobody(
    tmp_path: Path,
) -> None:
    """Its plan is gone, so no person is asked whether to run it again; what nobody knows is recorded, and it is not repeated."""
    gate = Gate()
    plans = iter([plan(), plan(subtask("s1", "One?"), subtask("s2", "Two?"), subtask("s3", "Three?"))])

    def work(request: ModelRequest) -> ModelAnswer:
        is_paying = "What about s2?" in text_of(request)
        return ask_for(call("pay")) if is_paying else conclude(f"claim of {subtask_of(request)}")

    async def judge(request: ModelRequest) -> ModelAnswer:
        if "What about s1?" not in text_of(request):
            return verdict("accept")
        await soon(gate.reached)
        return verdict("replan", "ask something new")

    model = roles(plan=lambda request: next(plans), execute=work, review=judge)
    limits = Limits(max_steps=100)
    async with staged(tmp_path, model, gate.tool("pay", "once"), workflow="research", limits=limits) as stage:
        run = await stage.start()
        working = asyncio.create_task(stage.work(run))
        watch = stage.store.watch([run])
        while not await stage.events(run, PlanRefused):
            await watch.wait(PATIENCE_SECONDS)
        watch.stop()
        working.cancel()
        await asyncio.gather(working, return_exceptions=True)
        assert not await stage.outcomes(run)
        await stage.store.expire_lease("runs", run)  # type: ignore[attr-defined]
        await stage.work(run)
        [lost] = await stage.events(run, ToolUnsettled)
        begun = [event.call for event in await stage.events(run, ToolRequested)]
        assert begun.count(lost.call) == 1
        [answered] = [event for event in await stage.events(run, ToolAnswered) if event.call == lost.call]
        assert answered.outcome.error is not None
        assert answered.outcome.error.code == "outcome_unknown"
        assert not await stage.events(run, QuestionAsked)
        assert went_through(await stage.state(run))
