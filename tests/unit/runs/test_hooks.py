"""Hooks: a user's checks, run once at each transition and around each call."""

import asyncio
from pathlib import Path

import pytest

from outlast.domain.door import Json
from outlast.domain.errors import Passing
from outlast.domain.events import HookRan, HookRequested, PlanRefused, RunClaimed
from outlast.domain.hooks import AFTER_TOOL, BEFORE_TOOL, Hook, HookContext, Veto
from outlast.domain.states import State
from outlast.domain.task import ApprovalRule
from outlast.ports.provider import ModelRequest
from outlast.ports.tool import tool
from outlast.runs.moves import enter
from outlast.service import signals
from tests.law import law
from tests.patience import PATIENCE_SECONDS
from tests.unit.runs.parts import ask_for, call, in_turn, plan, results, roles, say, subtask, went_through
from tests.unit.runs.props import page
from tests.unit.runs.stage import staged


class Book:
    """Hooks that write down where they were called."""

    def __init__(self) -> None:
        self.seen: list[tuple[str, int]] = []

    async def note(self, context: HookContext) -> None:
        self.seen.append((context.point, context.attempt))

    @property
    def points(self) -> list[str]:
        return [point for point, _ in self.seen]


async def test_hooks_of_a_transition_run_once_each_in_order(tmp_path: Path) -> None:
    book = Book()
    points = ("on_exit_INIT", "INIT->EXECUTING", "on_transition", "on_enter_EXECUTING", "on_enter_COMPLETED")
    async with staged(
        tmp_path,
        in_turn(say("done")),
        hooks={f"m:{point}": book.note for point in points},
        hooks_of_task={point: f"m:{point}" for point in points},
    ) as stage:
        run = await stage.play()
        assert book.points == [
            "on_exit_INIT",
            "INIT->EXECUTING",
            "on_transition",
            "on_enter_EXECUTING",
            "on_transition",
            "on_enter_COMPLETED",
        ]
        assert len(await stage.events(run, HookRequested)) == len(await stage.events(run, HookRan)) == 6


async def test_a_hook_is_not_run_again_when_its_transition_waits_for_a_person_or_a_worker(
    tmp_path: Path,
) -> None:
    book = Book()
    async with staged(
        tmp_path,
        in_turn(say("done")),
        hooks={"m:f": book.note},
        hooks_of_task={"on_enter_COMPLETED": "m:f"},
        approvals=(ApprovalRule(on="EXECUTING->COMPLETED"),),
    ) as stage:
        run = await stage.play()
        assert (await stage.state(run)).state == "WAITING"
        await signals.say(stage.store, run, "ann", "well?")
        await stage.work(run)
        await signals.approve(stage.store, run, "ann")
        await stage.work(run)
        assert (await stage.state(run)).outcome == "full"
        assert book.points == ["on_enter_COMPLETED"]


async def test_an_interrupted_hook_runs_again_and_is_told_so(tmp_path: Path) -> None:
    begun = asyncio.Event()
    attempts: list[int] = []

    async def hook(context: HookContext) -> None:
        attempts.append(context.attempt)
        if context.attempt == 1:
            begun.set()
            await asyncio.Event().wait()

    async with staged(
        tmp_path, in_turn(say("done")), hooks={"m:f": hook}, hooks_of_task={"on_enter_EXECUTING": "m:f"}
    ) as stage:
        run = await stage.start()
        dying = asyncio.create_task(stage.worker("first").work_on(run))
        async with asyncio.timeout(PATIENCE_SECONDS):
            await begun.wait()
        dying.cancel()
        await asyncio.gather(dying, return_exceptions=True)
        entry = await stage.store.read_entry("runs", run)
        assert entry is not None
        await stage.worker("second").work_on(run, evict=entry.generation)
        assert attempts == [1, 2]
        assert len(await stage.events(run, RunClaimed)) == 2
        assert (await stage.state(run)).outcome == "full"


def refusing(context: HookContext) -> Veto:
    return Veto("not today")


def raising(context: HookContext) -> None:
    raise RuntimeError("broken check")


@pytest.mark.parametrize(
    ("hook", "reason"), [(refusing, "not today"), (raising, "RuntimeError: broken check")]
)
async def test_a_veto_fails_the_run_with_its_reason_and_is_asked_again_on_resume(
    tmp_path: Path, hook: Hook, reason: str
) -> None:
    hooks: dict[str, Hook] = {"m:f": hook}
    async with staged(
        tmp_path, in_turn(say("done")), hooks=hooks, hooks_of_task={"on_enter_COMPLETED": "m:f"}
    ) as stage:
        run = await stage.play()
        state = await stage.state(run)
        assert state.state == "FAILED"
        assert state.failure is not None
        assert reason in state.failure.detail
        hooks["m:f"] = lambda context: None
        await signals.resume(stage.store, run, "ann")
        await stage.work(run)
        assert (await stage.state(run)).outcome == "full"
        assert len(stage.requests) == 1


async def test_a_veto_of_a_plan_has_it_made_anew_and_judged_anew(tmp_path: Path) -> None:
    plans = iter([plan(), plan(subtask("s1", "Better?"), subtask("s2"), subtask("s3"))])
    vetoes = iter([Veto("too vague"), None])
    async with staged(
        tmp_path,
        roles(plan=lambda request: next(plans)),
        workflow="research",
        hooks={"m:f": lambda context: next(vetoes)},
        hooks_of_task={"PLANNING->EXECUTING": "m:f"},
    ) as stage:
        run = await stage.play()
        assert went_through(await stage.state(run))
        refused = await stage.events(run, PlanRefused)
        assert [event.reasons for event in refused] == [("too vague",)]
        assert "m:f" in refused[0].by
        assert any("too vague" in request.messages[-1].text for request in stage.requests)


async def test_a_tool_is_kept_from_running_by_a_veto_whose_reason_reaches_the_model(tmp_path: Path) -> None:
    told: list[dict[str, object]] = []

    def before(context: HookContext) -> Veto | None:
        told.append(dict(context.info))
        return Veto("not that page") if "secret" in str(context.info["arguments"]) else None

    model = in_turn(ask_for(call("page", url="http://secret"), call("page", url="http://open")), say("done"))
    async with staged(
        tmp_path, model, page, hooks={"m:f": before}, hooks_of_task={"before_tool": "m:f"}
    ) as stage:
        run = await stage.play()
        refused, ran = results(stage.requests[-1])
        assert "not that page" in refused.text
        assert "http://open is so" in ran.text
        assert {"tool": "page", "arguments": {"url": "http://open"}} in told
        vetoes = [event.veto for event in await stage.events(run, HookRan)]
        assert sorted(vetoes, key=str) == [None, "not that page"]
        assert (await stage.state(run)).hooks == {}


async def test_a_veto_after_a_call_keeps_its_result_from_the_model_and_from_the_ledger(
    tmp_path: Path,
) -> None:
    def after(context: HookContext) -> Veto:
        assert "http://a is so" in str(context.info["result"])
        return Veto("private")

    model = in_turn(ask_for(call("page", url="http://a")), say("done"))
    async with staged(
        tmp_path, model, page, hooks={"m:f": after}, hooks_of_task={"after_tool": "m:f"}
    ) as stage:
        run = await stage.play()
        assert "http://a is so" not in results(stage.requests[-1])[0].text
        outcome = (await stage.outcomes(run))[0]
        assert outcome.error is not None
        assert (outcome.error.code, outcome.fetched) == ("vetoed", ())
        assert "private" in outcome.shown


@law("RUN-1.b")
async def test_a_workflow_cannot_enter_a_state_its_task_leaves_out(tmp_path: Path) -> None:
    def decide(state, now):
        return [enter(state, State.EXECUTING if state.state is State.INIT else State.REVIEWING)]

    def model(request: ModelRequest) -> None:
        raise AssertionError

    async with staged(tmp_path, model, decide=decide, states=("INIT", "EXECUTING", "COMPLETED")) as stage:
        run = await stage.play()
        state = await stage.state(run)
        assert state.state == "FAILED"
        assert state.failure is not None
        assert state.failure.code == "transition_not_allowed"
        assert "REVIEWING" in state.failure.detail


async def test_a_hook_that_quits_or_returns_neither_none_nor_a_veto_refuses_and_says_so(
    tmp_path: Path,
) -> None:
    async def quits(context: HookContext) -> None:
        raise SystemExit(0)

    class Odd(BaseException):
        """Neither an Exception nor an exit."""

    def lets_something_else_out(context: HookContext) -> None:
        raise Odd("so")

    def quits_plainly(context: HookContext) -> None:
        raise SystemExit(0)

    def objects(context: HookContext) -> None:
        return False  # type: ignore[return-value]

    for hook, told in (
        (quits, "SystemExit: 0"),
        (quits_plainly, "SystemExit: 0"),
        (lets_something_else_out, "Odd: so"),
        (objects, "it returned False"),
    ):
        async with staged(
            tmp_path, in_turn(say("done")), hooks={"m:f": hook}, hooks_of_task={"on_enter_COMPLETED": "m:f"}
        ) as stage:
            run = await stage.play()
            [ran] = await stage.events(run, HookRan)
            assert ran.veto is not None
            assert told in ran.veto
            assert (await stage.state(run)).state == "FAILED"


async def test_what_a_tool_or_a_hook_does_to_the_arguments_it_was_handed_stays_with_it(
    tmp_path: Path,
) -> None:
    seen: list[Json] = []

    @tool(name="eat", description="Eat", effect="idempotent")
    async def eat(items: list, spec: dict) -> str:  # type: ignore[type-arg]
        seen.append([list(items), dict(spec)])
        items.clear()
        spec["eaten"] = True
        if len(seen) == 1:
            raise Passing("tool_failed", "Not yet.", "Try again.")
        return "eaten"

    def spoil(context: HookContext) -> None:
        arguments = context.info["arguments"]
        assert isinstance(arguments, dict)
        for value in arguments.values():
            assert isinstance(value, list | dict)
            value.clear()
        arguments.clear()

    asked = ask_for(call("eat", items=["a", "b"], spec={"x": 1}))
    points = {BEFORE_TOOL: "m:spoil", AFTER_TOOL: "m:spoil"}
    play = in_turn(asked, say("done"))
    async with staged(tmp_path, play, eat, hooks={"m:spoil": spoil}, hooks_of_task=points) as stage:
        await stage.play()
        assert seen == [[["a", "b"], {"x": 1}]] * 2
        [shown] = [message for message in stage.requests[-1].messages if message.speaker == "assistant"]
        assert shown.tool_calls[0].arguments == {"items": ["a", "b"], "spec": {"x": 1}}
