"""Shadow mode: chosen steps are also made another way, beside the run, which neither waits for it nor changes by it."""

import asyncio
from pathlib import Path
from typing import cast

import pytest

from outlast.adapters.stores.sqlite import SqliteStore
from outlast.adapters.tools.ask_human import AskHuman
from outlast.domain.apply import apply, fold
from outlast.domain.errors import CallerMistake, ModelCallFailed
from outlast.domain.events import RunReleased, ShadowCompared, StateEntered
from outlast.domain.message import Usage
from outlast.domain.shadow import Verdict
from outlast.domain.task import Price, RoleSettings
from outlast.ports.provider import ModelAnswer, ModelRequest
from outlast.ports.tool import ToolContext, ToolResult, tool
from outlast.runs.desk import Desk
from outlast.runs.prompts.chat import SYSTEM
from outlast.runs.shadowing.aftermath import Aftermath
from outlast.runs.shadowing.beside import Beside, Used, used_in
from outlast.runs.shadowing.late import append_late
from outlast.service.signals import cancel, pause, resume
from outlast.service.signals import say as tell
from outlast.testing.faults import Crash
from tests.law import law
from tests.patience import PATIENCE_SECONDS
from tests.unit.runs.parts import ask_for, call, in_turn, say
from tests.unit.runs.props import SENT, mail, page
from tests.unit.runs.shadowing.shade import shaded
from tests.unit.runs.stage import soon

READS = in_turn(ask_for(call("page", url="http://a")), say("Read it."))


@tool(name="page", effect="read", cache_seconds=0)
async def other_page(url: str) -> ToolResult:
    """Read a page, another way."""
    return ToolResult(True, f"Otherwise: {url}")


@law("SEE-4.a", "SEE-4.c")
async def test_a_call_of_a_chosen_tool_is_also_made_with_the_variants_tool(tmp_path: Path) -> None:
    async with shaded(tmp_path, READS, page, others=[other_page]) as shade:
        shade.cast("tool:page")
        run = await shade.play()
        [one] = await shade.compared(run)
        assert (one.selector, one.variant, one.verdict) == ("tool:page", "v1", Verdict.DIFFERED)
        assert one.measure == "text"
        assert one.overlap is not None
        assert 0 < one.overlap < 1
        assert one.result == "Otherwise: http://a"
        shown = "".join(message.text for request in shade.stage.requests for message in request.messages)
        assert "Otherwise" not in shown


async def test_equal_results_agree(tmp_path: Path) -> None:
    async with shaded(tmp_path, READS, page) as shade:
        shade.cast("tool:page", "role:chat")
        run = await shade.play()
        verdicts = {one.call: (one.selector, one.verdict, one.overlap) for one in await shade.compared(run)}
        [(tool_call, of_page)] = [(name, told) for name, told in verdicts.items() if name.startswith("c")]
        assert of_page == ("tool:page", Verdict.AGREED, 1.0)
        assert tool_call.endswith("-0")


@law("SEE-4.a")
async def test_the_models_of_a_role_are_also_asked_with_the_variants_model_and_prompt(tmp_path: Path) -> None:
    asked: list[ModelRequest] = []

    def variant(request: ModelRequest) -> ModelAnswer:
        asked.append(request)
        return say("READ  it.", usage=Usage(7, 3))

    roles = {
        "chat": RoleSettings(
            model="other", temperature=1.0, prompt="Be brief.", price=Price(input_usd=1, output_usd=1)
        )
    }
    async with shaded(tmp_path, in_turn(say("Read it.")), variant=variant, roles=roles) as shade:
        shade.cast("role:chat")
        run = await shade.play()
        [one] = await shade.compared(run)
        assert (one.verdict, one.measure, one.tokens, one.cost_usd) == (Verdict.AGREED, "text", 10, 10 / 1e6)
        [request], [own] = asked, shade.stage.requests
        assert (request.model, request.temperature) == ("other", 1.0)
        assert request.messages[0].text == own.messages[0].text.replace(SYSTEM, "Be brief.")
        assert request.messages[1:] == own.messages[1:]
        assert request.call_id != own.call_id
        assert (await shade.stage.state(run)).counters.tokens == 15, (
            "the variant's are counted beside the run's"
        )


async def test_a_prompt_alone_is_asked_for_from_the_variant(tmp_path: Path) -> None:
    async with shaded(tmp_path, in_turn(say("Yes."))) as shade:
        shade.cast("prompt:chat", "model")
        await shade.play()
        assert shade.built == [True]


async def test_every_step_is_chosen_by_config_and_none_by_names_of_others(tmp_path: Path) -> None:
    async with shaded(tmp_path, READS, page) as shade:
        shade.cast("config")
        assert len(await shade.compared(await shade.play())) == 3
        shade.cast("tool:other", "role:planner", "model:large")
        assert await shade.compared(await shade.play()) == []
        assert shade.built == [False], "what is not needed is not built"


@law("SEE-4.b")
async def test_a_tool_with_an_effect_is_not_run_for_the_variant_but_told_with_its_arguments(
    tmp_path: Path,
) -> None:
    SENT.clear()
    asks = in_turn(ask_for(call("mail", to="ann")), say("Sent."))
    async with shaded(tmp_path, asks, mail) as shade:
        shade.cast("config")
        run = await shade.play()
        [told] = [one for one in await shade.compared(run) if one.verdict is Verdict.SUPPRESSED]
        assert (told.arguments, told.code) == ({"to": "ann"}, "suppressed")
        assert SENT == ["ann"], "once, for the run itself"


@law("SEE-4.b")
async def test_a_tool_that_runs_beside_nothing_does_not_run_beside_itself(tmp_path: Path) -> None:
    calls: list[str] = []

    @tool(name="page", effect="read", cache_seconds=0, exclusive_group="the only one")
    async def alone(url: str) -> str:
        """Read a page alone."""
        calls.append(url)
        return url

    async with shaded(tmp_path, READS, alone) as shade:
        shade.cast("tool:page")
        [told] = await shade.compared(await shade.play())
        assert (told.verdict, calls) == (Verdict.SUPPRESSED, ["http://a"])


@law("SEE-4.b")
async def test_a_tool_that_asks_a_person_asks_nobody_for_the_variant(tmp_path: Path) -> None:
    async with shaded(
        tmp_path, in_turn(ask_for(call("ask_human", question="Which?")), say("So.")), AskHuman
    ) as shade:
        shade.cast("config")
        run = await shade.play()
        assert list((await shade.stage.state(run)).questions) == ["q-c5-0-1"]
        told = [one for one in await shade.compared(run) if one.call == "c5-0"]
        assert [(one.verdict, one.detail) for one in told] == [
            (Verdict.SUPPRESSED, "It would have asked: Which?")
        ]


@law("SEE-4.b")
async def test_a_reading_tool_is_given_nothing_it_could_change_anything_with(tmp_path: Path) -> None:
    given: list[ToolContext] = []

    @tool(name="page", effect="read", cache_seconds=0)
    async def keeps(url: str, context: ToolContext) -> ToolResult:
        """Read a page and keep something."""
        given.append(context)
        await context.artifacts.put(f"kept by {context.idempotency_key}")
        return ToolResult(True, url)

    async with shaded(tmp_path, READS, keeps) as shade:
        shade.cast("tool:page")
        run = await shade.play()
        own, other = given
        assert own.mates is not None
        assert (other.mates, other.background) == (None, None)
        assert own.idempotency_key != other.idempotency_key
        kept = [await own.artifacts.get(digest_for(context)) for context in given]
        assert kept == [f"kept by {own.idempotency_key}".encode(), None]
        assert [one.verdict for one in await shade.compared(run)] == [Verdict.AGREED]


def digest_for(context: ToolContext) -> str:
    """The digest of what `keeps` keeps."""
    from hashlib import sha256

    return sha256(f"kept by {context.idempotency_key}".encode()).hexdigest()


@law("SEE-4.c")
async def test_a_run_does_not_wait_for_a_variant_that_hangs_and_ends_as_it_would_have(tmp_path: Path) -> None:
    hanging = asyncio.Event()

    async def variant(request: ModelRequest) -> ModelAnswer:
        await hanging.wait()
        return say("Late.")

    async with shaded(tmp_path, READS, page, variant=variant) as shade:
        shade.cast("role:chat")
        run = await shade.stage.play()
        assert (await shade.stage.state(run)).outcome == "full"
        assert await shade.compared(run) == []
        hanging.set()
        await shade.aftermath.settle(PATIENCE_SECONDS)
        events = await shade.stage.events(run)
        assert isinstance(events[-1], ShadowCompared)
        assert isinstance(events[-3], RunReleased)
        assert [one.verdict for one in await shade.compared(run)] == [Verdict.DIFFERED, Verdict.DIFFERED]


async def test_what_is_not_through_when_the_process_ends_is_told_as_not_compared(tmp_path: Path) -> None:
    async def variant(request: ModelRequest) -> ModelAnswer:
        await asyncio.Event().wait()
        raise AssertionError

    async with shaded(tmp_path, in_turn(say("Yes.")), variant=variant) as shade:
        shade.cast("model")
        run = await shade.stage.play()
        await shade.aftermath.close()
        [one] = await shade.compared(run)
        assert (one.verdict, one.code) == (Verdict.UNCOMPARED, "given_up")


async def test_a_variant_that_takes_too_long_has_failed(tmp_path: Path) -> None:
    async def variant(request: ModelRequest) -> ModelAnswer:
        await asyncio.Event().wait()
        raise AssertionError

    async with shaded(tmp_path, in_turn(say("Yes.")), variant=variant) as shade:
        shade.cast("model", timeout_seconds=0.01)
        [one] = await shade.compared(await shade.play())
        assert (one.verdict, one.code) == (Verdict.FAILED, "timeout")


async def test_a_variant_is_not_blamed_for_a_process_that_stood_still(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    clock = [0.0]
    monkeypatch.setattr(Desk, "seconds", lambda desk: clock[0])

    async def variant(request: ModelRequest) -> ModelAnswer:
        clock[0] += 60
        await asyncio.Event().wait()
        raise AssertionError

    async with shaded(tmp_path, in_turn(say("Yes.")), variant=variant) as shade:
        shade.cast("model", timeout_seconds=0.01)
        [one] = await shade.compared(await shade.play())
        assert (one.verdict, one.code) == (Verdict.UNCOMPARED, "stood_still")


@law("SEE-4.c")
async def test_a_variant_that_cannot_be_built_or_fails_is_told_and_the_run_goes_on(tmp_path: Path) -> None:
    def variant(request: ModelRequest) -> ModelAnswer:
        raise ModelCallFailed("auth", "No such key.")

    async with shaded(tmp_path, READS, page, variant=variant) as shade:
        shade.cast("model")
        run = await shade.play()
        assert [(one.verdict, one.code) for one in await shade.compared(run)] == [
            (Verdict.FAILED, "model_auth")
        ] * 2
        shade.trouble = CallerMistake("missing_variable", "It needs KEY.", "Set it.")
        run = await shade.play()
        told = [(one.verdict, one.code) for one in await shade.compared(run)]
        assert told == [(Verdict.FAILED, "missing_variable")] * 2
        assert (await shade.stage.state(run)).outcome == "full"


async def test_where_the_step_itself_fails_there_is_nothing_to_compare_with(tmp_path: Path) -> None:
    def fails(request: ModelRequest) -> ModelAnswer:
        raise ModelCallFailed("auth", "No such key.")

    async with shaded(tmp_path, fails) as shade:
        shade.cast("model")
        run = await shade.play()
        [one] = await shade.compared(run)
        assert (one.verdict, one.code, one.result) == (Verdict.UNCOMPARED, "step_failed", "Otherwise.")


async def test_a_shadow_stays_within_its_bounds(tmp_path: Path) -> None:
    asks = in_turn(*[ask_for(call("page", url=f"http://{number}")) for number in range(3)], say("Done."))
    async with shaded(tmp_path, asks, page, variant=lambda request: say("x", usage=Usage(6, 4))) as shade:
        shade.cast("model", max_tokens=10, max_concurrent=1)
        run = await shade.play()
        told = [(one.verdict, one.code) for one in await shade.compared(run)]
        assert told.count((Verdict.UNCOMPARED, "over_budget")) == 3
        assert used_in(await shade.stage.history(run)) == Used(tokens=10), (
            "a worker that takes it up knows what was used"
        )
        shade.cast("model", share=0.0)
        assert await shade.compared(await shade.play()) == []


async def test_a_result_from_the_cache_is_not_shadowed(tmp_path: Path) -> None:
    @tool(name="page", effect="read", cache_seconds=300)
    async def cached(url: str) -> ToolResult:
        """Read a page that does not change."""
        return ToolResult(True, url)

    again = in_turn(*[ask_for(call("page", url="http://a"))] * 2, say("Done."))
    async with shaded(tmp_path, again, cached) as shade:
        shade.cast("tool:page")
        assert len(await shade.compared(await shade.play())) == 1


async def test_cancelling_a_run_ends_its_shadow(tmp_path: Path) -> None:
    asked, stopped = asyncio.Event(), asyncio.Event()

    async def hangs(request: ModelRequest) -> ModelAnswer:
        await asyncio.Event().wait()
        raise AssertionError

    async def variant(request: ModelRequest) -> ModelAnswer:
        asked.set()
        try:
            await asyncio.Event().wait()
        finally:
            stopped.set()
        raise AssertionError

    async with shaded(tmp_path, hangs, variant=variant) as shade:
        shade.cast("model")
        run = await shade.stage.start()
        working = asyncio.create_task(shade.stage.work(run))
        await soon(asked)
        await cancel(shade.stage.store, run, "ann")
        await working
        await shade.aftermath.settle(PATIENCE_SECONDS)
        [one] = await shade.compared(run)
        assert stopped.is_set()
        assert one.verdict is Verdict.UNCOMPARED


async def test_comparisons_ride_along_with_the_commits_of_the_run(tmp_path: Path) -> None:
    async with shaded(tmp_path, READS, page) as shade:
        shade.cast("tool:page")
        run = await shade.play()
        events = await shade.stage.events(run)
        told = next(index for index, event in enumerate(events) if isinstance(event, ShadowCompared))
        assert told < next(index for index, event in enumerate(events) if isinstance(event, RunReleased))


async def test_a_paused_run_goes_on_where_comparisons_came_after_it_was_given_back(tmp_path: Path) -> None:
    free, asked = asyncio.Event(), asyncio.Event()

    async def variant(request: ModelRequest) -> ModelAnswer:
        asked.set()
        await free.wait()
        return say("Late.")

    async def slow(request: ModelRequest) -> ModelAnswer:
        await soon(asked)
        if not any(message.speaker == "tool" for message in request.messages):
            await pause(shade.stage.store, run, "ann")
            return ask_for(call("page", url="http://a"))
        return say("Read it.")

    async with shaded(tmp_path, slow, page, variant=variant) as shade:
        shade.cast("model")
        run = await shade.stage.start()
        assert await shade.stage.work(run) == "paused"
        free.set()
        await shade.aftermath.settle(PATIENCE_SECONDS)
        assert isinstance((await shade.stage.events(run))[-1], ShadowCompared)
        await resume(shade.stage.store, run, "ann")
        assert await shade.stage.work(run) == "ended"
        assert (await shade.stage.state(run)).outcome == "full"


@law("SEE-4.c")
async def test_a_comparison_changes_nothing_of_a_state_but_its_position(tmp_path: Path) -> None:
    async with shaded(tmp_path, READS, page) as shade:
        shade.cast("config")
        run = await shade.play()
        history = await shade.stage.history(run)
        state = fold(run, history[:1])
        seen = 0
        for recorded in history[1:]:
            after = apply(state, recorded)
            if isinstance(recorded.event, ShadowCompared):
                seen += 1
                unmoved = {**vars(after), "position": state.position, "at": state.at}
                assert unmoved == vars(state)
            state = after
        assert seen == 3
        assert [event.target for event in await shade.stage.events(run, StateEntered)][-1] == "COMPLETED"


@law("SEE-4.b", "SEE-4.c")
async def test_a_crash_in_the_midst_loses_comparisons_and_repeats_no_effect(tmp_path: Path) -> None:
    SENT.clear()
    crashes = [Crash]

    def answering(request: ModelRequest) -> ModelAnswer:
        sent = sum(message.speaker == "tool" for message in request.messages)
        if sent == 1 and crashes:
            raise crashes.pop()
        return ask_for(call("mail", to=f"{sent}")) if sent < 2 else say("Sent.")

    async with shaded(tmp_path, answering, mail) as shade:
        shade.cast("config")
        run = await shade.stage.start()
        with pytest.raises(Crash):
            await shade.stage.work(run)
        await shade.aftermath.close()
        shade.aftermath = Aftermath()
        shade.cast("config")
        assert isinstance(shade.stage.store, SqliteStore)
        await shade.stage.store.expire_lease("runs", run)
        await shade.stage.work(run)
        await shade.aftermath.settle(PATIENCE_SECONDS)
        assert (await shade.stage.state(run)).outcome == "full"
        assert SENT == ["0", "1"]
        told = [one.call for one in await shade.compared(run)]
        assert len(told) == len(set(told))


async def test_a_run_that_is_gone_takes_no_comparisons_and_one_that_has_ended_does(tmp_path: Path) -> None:
    event = ShadowCompared(call="m5", selector="model", variant="v", verdict=Verdict.AGREED)
    async with shaded(tmp_path, in_turn(say("Yes."))) as shade:
        run = await shade.play()
        before = await shade.stage.store.read_head(run)
        await append_late(shade.stage.store, run, [event, event])
        assert await shade.stage.store.read_head(run) == before + 2
        await append_late(shade.stage.store, "r-gone", [event])
        assert await shade.stage.store.read_head("r-gone") == 0
        assert (await shade.stage.state(run)).has_ended


async def test_what_is_taken_over_at_the_very_end_is_recorded_all_the_same(tmp_path: Path) -> None:
    async with shaded(tmp_path, in_turn(say("Yes."))) as shade:
        await shade.aftermath.close()
        shade.cast("model")
        run = await shade.stage.play()
        await shade.aftermath.close()
        assert len(await shade.compared(run)) == 1


async def test_what_a_commit_could_not_hold_is_offered_to_the_next_and_what_nobody_knows_of_is_lost(
    tmp_path: Path,
) -> None:
    first, second = (
        ShadowCompared(call=call, selector="model", variant="v", verdict=Verdict.AGREED)
        for call in ("m5", "m9")
    )
    async with shaded(tmp_path, in_turn(say("Yes."))) as shade:
        shade.cast("model")
        assert shade.stage.shadow is not None
        desk = cast("Desk", None)  # nothing is carried out at it
        beside = Beside(desk, shade.stage.shadow, Used())
        beside._ready.append(first)
        assert beside.offers() == [first]
        beside.was_taken(is_durable=False)
        beside._ready.append(second)
        assert beside.offers() == [first, second]
        beside.was_taken(is_durable=True)
        beside._ready.append(first)
        assert beside.offers() == [first]
        assert beside.offers() == [], "the commit it was offered to has come to nothing that is known"


async def test_a_commit_that_met_a_newer_event_takes_its_comparisons_along_the_next_time(
    tmp_path: Path,
) -> None:
    came = asyncio.Event()

    def variant(request: ModelRequest) -> ModelAnswer:
        came.set()
        return say("Yes.")

    async def answering(request: ModelRequest) -> ModelAnswer:
        await soon(came)
        if len(shade.stage.requests) == 1:
            await tell(shade.stage.store, run, "ann", "Hurry.")
        return say("Yes.")

    async with shaded(tmp_path, answering, variant=variant) as shade:
        shade.cast("model")
        run = await shade.stage.start()
        await shade.stage.work(run)
        await shade.aftermath.settle(PATIENCE_SECONDS)
        verdicts = [(one.call, one.verdict) for one in await shade.compared(run)]
        assert verdicts == [("m5", Verdict.AGREED), ("m8", Verdict.AGREED)]
