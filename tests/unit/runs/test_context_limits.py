"""What does not fit is cut, told or refused, before the server has to."""

from dataclasses import replace
from pathlib import Path
from typing import Any

from outlast.adapters.providers.tokens import estimate_request_tokens
from outlast.domain.errors import ModelCallFailed
from outlast.domain.events import (
    ContextCrowded,
    ContextFolded,
    ContextSummarised,
    ModelAnswered,
    ModelFailed,
    ModelRequested,
)
from outlast.domain.message import Usage
from outlast.domain.task import Limits, RoleSettings
from outlast.ports.provider import ModelAnswer, ModelRequest
from outlast.ports.tool import tool
from outlast.runs.compression import SUMMARY_SHARE
from tests.law import law
from tests.unit.runs.notes import NOTES, reader, staged_for, text_of
from tests.unit.runs.parts import ask_for, call, conclude, give, roles, say, turn
from tests.unit.runs.stage import staged


@law("MODEL-5.c")
async def test_g05_04_a_result_larger_than_the_window_is_cut_once_and_the_next_call_fits(
    tmp_path: Path,
) -> None:
    window_characters = 15_000

    def model(request: ModelRequest) -> ModelAnswer:
        if sum(len(message.text) for message in request.messages) > window_characters:
            raise ModelCallFailed("context_exceeded", "the window is 8k")
        return say("It fits.") if turn(request) else ask_for(call("huge"), usage=Usage())

    @tool(effect="read", cache_seconds=0)
    async def huge() -> str:
        """Give a lot."""
        return "A long story. " * 20_000

    async with staged(tmp_path, model, huge, context_max_tokens=6_000) as stage:
        run = await stage.play("Short question?")
        assert (await stage.state(run)).outcome == "full"
        assert len(await stage.events(run, ModelFailed)) <= 1
        shown = text_of(stage.requests[-1])
        assert "A long story." in shown
        assert "read_artifact(digest=" in shown
        assert "Short question?" in shown


async def test_g05_04_where_nothing_can_be_dropped_the_run_says_so_and_its_thread_goes_on(
    tmp_path: Path,
) -> None:
    def model(request: ModelRequest) -> ModelAnswer:
        if sum(len(message.text) for message in request.messages) > 24_000:
            raise ModelCallFailed("context_exceeded", "the window is 8k")
        return say("Yes.")

    async with staged(tmp_path, model, context_max_tokens=6_000) as stage:
        run = await stage.play("word " * 30_000, thread_id="t-1")
        state = await stage.state(run)
        assert state.state == "FAILED"
        assert state.failure is not None
        assert state.failure.code == "model_context_exceeded"
        assert "nothing more of it can be left out" in state.failure.detail
        assert "harness.context.max_tokens" in state.failure.next_step
        assert len(await stage.events(run, ModelFailed)) == 2
        other = await stage.play("And now?", thread_id="t-1")
        assert (await stage.state(other)).outcome == "full"


async def test_g05_05_a_prompt_that_fills_the_budget_is_told_once_and_does_not_compress_each_turn(
    tmp_path: Path,
) -> None:
    prompt = "Obey the rules of the house. " * 2_000
    roles_of_task = {"chat": RoleSettings(model="m", prompt=prompt)}
    async with staged_for(
        tmp_path, reader(60), roles=roles_of_task, context_max_tokens=11_700, compression_threshold=1_000
    ) as stage:
        run = await stage.play()
        crowded = await stage.events(run, ContextCrowded)
        assert [one.branch for one in crowded] == ["main"]
        assert crowded[0].fixed_tokens > 11_700
        made = await stage.events(run, ContextSummarised)
        assert 1 <= len(made) <= 15
        assert all(one.tokens < one.replaced_tokens for one in made)
        assert all(one.tokens <= 11_700 * SUMMARY_SHARE for one in made)
        assert (await stage.state(run)).outcome == "full"


async def test_g05_06_a_chinese_text_is_counted_and_compressed_before_it_overflows(tmp_path: Path) -> None:
    window = 16_000

    def model(request: ModelRequest) -> ModelAnswer:
        if request.purpose == "compress":
            return give(NOTES)
        real = sum(len(message.text) for message in request.messages)
        if real > window:
            raise ModelCallFailed("context_exceeded", "too long")
        n = turn(request)
        return (
            ask_for(call("chinese", n=n), usage=Usage(real, 5))
            if n < 12
            else say("好。", usage=Usage(real, 5))
        )

    @tool(effect="read", cache_seconds=0)
    async def chinese(n: int) -> str:
        """Give a long text."""
        return f"{n}" + "测" * 5_000

    async with staged(
        tmp_path, model, chinese, limits=Limits(max_steps=60), context_max_tokens=12_000
    ) as stage:
        run = await stage.play("测" * 2_000)
        assert (await stage.state(run)).outcome == "full"
        assert not await stage.events(run, ModelFailed)
        assert await stage.events(run, ContextFolded)
        assert "测" * 2_000 in text_of(stage.requests[-1])


@law("MEM-1.b")
async def test_the_estimate_is_corrected_by_what_the_server_counts(tmp_path: Path) -> None:
    def counting(factor: float) -> Any:
        def model(request: ModelRequest) -> ModelAnswer:
            asked = int(estimate_request_tokens(request.messages, request.tools) * factor)
            answer = reader(20)(request)
            return replace(answer, usage=Usage(asked, 5))

        return model

    async def compressions(factor: float, folder: str) -> int:
        where = tmp_path / folder
        async with staged_for(
            where, counting(factor), compression_threshold=1_000, context_max_tokens=2_000
        ) as stage:
            run = await stage.play()
            requested = await stage.events(run, ModelRequested)
            answered = await stage.events(run, ModelAnswered)
            assert max(one.input_tokens for one in answered[1:]) <= 2_000
            assert len(requested) == len(answered)
            return len(await stage.events(run, ContextFolded, ContextSummarised))

    assert await compressions(2.0, "twice") > await compressions(1.0, "once") > 0


async def test_g05_04_what_was_handed_over_is_shortened_only_when_the_server_refuses_it_whole(
    tmp_path: Path,
) -> None:
    def model(most_characters: int) -> Any:
        def answering(request: ModelRequest) -> Any:
            if request.purpose == "report" and len(text_of(request)) > most_characters:
                raise ModelCallFailed("context_exceeded", "too long")
            return roles(execute=lambda asked: conclude("word " * 6_000))(request)

        return answering

    for most_characters, failures in ((200_000, 0), (60_000, 1)):
        async with staged(
            tmp_path, model(most_characters), workflow="research", context_max_tokens=9_000
        ) as stage:
            run = await stage.play()
            assert (await stage.state(run)).state == "COMPLETED"
            assert len(await stage.events(run, ModelFailed)) == failures
            masks = await stage.events(run, ContextFolded)
            assert [mask.of_material for mask in masks] == [True] * failures
            written = [text_of(request) for request in stage.requests if request.purpose == "report"]
            assert ("characters are left out here" in written[-1]) is bool(failures)
