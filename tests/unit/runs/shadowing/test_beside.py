"""Shadow mode: chosen steps are also made another way, beside the run, which neither waits for it nor changes by it."""

import asyncio
from pathlib import Path

import pytest

from outlast.domain.apply import apply, fold
from outlast.domain.errors import CallerMistake, ModelCallFailed
from outlast.domain.events import ShadowCompared, StateEntered
from outlast.domain.message import Usage
from outlast.domain.shadow import Verdict
from outlast.domain.task import Price, RoleSettings
from outlast.ports.provider import ModelAnswer, ModelRequest
from outlast.ports.tool import ToolResult, tool
from outlast.runs.desk import Desk
from outlast.runs.prompts.chat import SYSTEM
from outlast.runs.shadowing.beside import Used, used_in
from tests.law import law
from tests.unit.runs.parts import ask_for, call, in_turn, say
from tests.unit.runs.props import page
from tests.unit.runs.shadowing.shade import shaded

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
