"""The chat workflow: one conversation with tools, in a thread that goes on."""

from pathlib import Path

import pytest

from outlast.domain.errors import Conflict, ModelCallFailed
from outlast.domain.events import ModelAnswered, ModelFailed
from outlast.domain.task import Limits, RetrySettings
from outlast.ports.provider import ModelAnswer, ModelRequest
from outlast.service import signals
from outlast.service.show import show_run
from tests.law import law
from tests.unit.runs.parts import ask_for, call, in_turn, results, say, turn
from tests.unit.runs.props import page
from tests.unit.runs.stage import staged


@law("PLAN-5.b")
async def test_a_chat_answers_after_the_calls_it_asked_for(tmp_path: Path) -> None:
    model = in_turn(ask_for(call("page", url="http://a")), say("It is so."))
    async with staged(tmp_path, model, page) as stage:
        run = await stage.play()
        assert await stage.states(run) == ["INIT", "EXECUTING", "COMPLETED"]
        assert (await stage.state(run)).outcome == "full"
        assert "http://a is so" in results(stage.requests[1])[0].text
        assert (await show_run(stage.store, run))["answer"] == "It is so."


async def test_what_was_said_in_a_thread_reaches_its_next_run_however_long(tmp_path: Path) -> None:
    long = "word " * 4000
    async with staged(tmp_path, in_turn(say(long))) as stage:
        await stage.play(f"first {long}", thread_id="t-1")
        await stage.play("second", thread_id="t-1")
        heard = stage.requests[-1].messages
        assert [message.speaker for message in heard] == ["system", "user", "assistant", "user"]
        assert heard[1].text == f"first {long}"
        assert heard[2].text == long
        assert heard[3].text == "second"


async def test_the_last_step_is_offered_no_tools_and_told_so(tmp_path: Path) -> None:
    def model(request: ModelRequest) -> ModelAnswer:
        if request.tools:
            return ask_for(call("page", url=f"http://{turn(request)}"))
        return say("What I know so far.")

    async with staged(tmp_path, model, page, limits=Limits(max_steps=3)) as stage:
        run = await stage.play()
        assert "last step" in stage.requests[-1].messages[-1].text
        shown = await show_run(stage.store, run)
        assert (shown["state"], shown["outcome"], shown["answer"]) == (
            "COMPLETED",
            "partial",
            "What I know so far.",
        )
        assert shown["error"]["code"] == "limit_reached"
        assert shown["error"]["next"] == f"outlast run --from {run} --set task.max_steps=6"


async def test_a_chat_that_answers_on_its_last_step_without_wanting_more_is_whole(tmp_path: Path) -> None:
    async with staged(tmp_path, in_turn(say("Yes.")), page, limits=Limits(max_steps=1)) as stage:
        run = await stage.play()
        assert (await stage.state(run)).outcome == "full"


async def test_calls_made_although_no_tools_were_offered_are_left_out(tmp_path: Path) -> None:
    model = in_turn(
        ask_for(call("page", url="http://a")), ask_for(call("page", url="http://b"), text="So far.")
    )
    async with staged(tmp_path, model, page, limits=Limits(max_steps=2)) as stage:
        run = await stage.play()
        state = await stage.state(run)
        assert (state.state, state.outcome) == ("COMPLETED", "partial")
        assert state.counters.tool_calls == {"page": 1}
        answered = await stage.events(run, ModelAnswered)
        assert answered[-1].tool_calls == ()
        assert "no tools were offered" in answered[-1].repairs[0]


async def test_g04_03_sixty_different_reads_end_in_a_summary(tmp_path: Path) -> None:
    def model(request: ModelRequest) -> ModelAnswer:
        return ask_for(call("page", url=f"http://f{turn(request)}")) if request.tools else say("A summary.")

    async with staged(
        tmp_path, model, page, limits=Limits(max_steps=30), context_max_tokens=100_000
    ) as stage:
        run = await stage.play()
        shown = await show_run(stage.store, run)
        assert (shown["state"], shown["outcome"], shown["answer"]) == ("COMPLETED", "partial", "A summary.")
        assert shown["steps"] == 30


async def test_a_model_that_fails_in_passing_is_asked_again(tmp_path: Path) -> None:
    troubles = iter(
        [ModelCallFailed("overload", "busy", spent_tokens=7), ModelCallFailed("cut_stream", "cut")]
    )

    def model(request: ModelRequest) -> ModelAnswer:
        for trouble in troubles:
            raise trouble
        return say("At last.")

    async with staged(tmp_path, model) as stage:
        run = await stage.play()
        state = await stage.state(run)
        assert state.outcome == "full"
        assert state.counters.steps == 3
        assert state.counters.tokens == 22
        assert len(await stage.events(run, ModelFailed)) == 2


async def test_a_servers_wish_to_wait_long_gives_the_run_back_until_then(tmp_path: Path) -> None:
    def model(request: ModelRequest) -> ModelAnswer:
        raise ModelCallFailed("rate_limit", "later", retry_after_seconds=3600)

    async with staged(tmp_path, model) as stage:
        run = await stage.start()
        assert await stage.work(run) == "waiting to try again"
        entry = await stage.store.read_entry("runs", run)
        failed = (await stage.events(run, ModelFailed))[0]
        assert entry is not None
        assert entry.until is None
        assert entry.due_at == failed.retry_at


@law("RUN-11.d")
async def test_a_model_that_will_not_do_fails_the_run_which_resumes_at_that_step(tmp_path: Path) -> None:
    is_mended = False

    def model(request: ModelRequest) -> ModelAnswer:
        if turn(request) == 0:
            return ask_for(call("page", url="http://a"))
        if not is_mended:
            raise ModelCallFailed("auth", "no key")
        return say("It is so.")

    async with staged(tmp_path, model, page) as stage:
        run = await stage.play()
        state = await stage.state(run)
        assert state.state == "FAILED"
        assert state.failure is not None
        assert state.failure.code == "model_auth"
        assert "outlast resume" in state.failure.next_step
        is_mended = True
        await signals.resume(stage.store, run, "ann")
        await stage.work(run)
        state = await stage.state(run)
        assert (state.state, state.outcome) == ("COMPLETED", "full")
        assert state.counters.tool_calls == {"page": 1}
        assert len(results(stage.requests[-1])) == 1


async def test_a_model_is_tried_as_often_as_the_settings_say(tmp_path: Path) -> None:
    def model(request: ModelRequest) -> ModelAnswer:
        raise ModelCallFailed("unreachable", "nobody there")

    retry = RetrySettings(max_attempts=2, backoff="none")
    async with staged(tmp_path, model, retry=retry) as stage:
        run = await stage.play()
        assert len(stage.requests) == 2
        assert (await stage.state(run)).state == "FAILED"


async def test_a_context_that_is_too_long_is_folded_once_and_tried_once_more(tmp_path: Path) -> None:
    def model(request: ModelRequest) -> ModelAnswer:
        if turn(request) < 4:
            return ask_for(call("page", url="http://" + "a" * 1500 + str(turn(request))))
        if sum(len(message.text) for message in request.messages) > 8000:
            raise ModelCallFailed("context_exceeded", "too long")
        return say("It fits.")

    async with staged(tmp_path, model, page) as stage:
        run = await stage.play()
        state = await stage.state(run)
        assert (state.state, state.outcome) == ("COMPLETED", "full")
        assert len(await stage.events(run, ModelFailed)) == 1


async def test_a_thread_has_one_active_run(tmp_path: Path) -> None:
    async with staged(tmp_path, in_turn(say("Yes."))) as stage:
        first = await stage.start(thread_id="t-1")
        with pytest.raises(Conflict, match="has not ended"):
            await stage.start(thread_id="t-1")
        await stage.work(first)
        await stage.play(thread_id="t-1")


async def test_a_key_names_one_run(tmp_path: Path) -> None:
    async with staged(tmp_path, in_turn(say("Yes."))) as stage:
        first = await stage.start("words", key="k")
        assert await stage.start("words", key="k") == first
        assert await stage.start("other words", key="k") == first


async def test_a_failed_run_is_not_resumed_into_a_thread_that_is_busy(tmp_path: Path) -> None:
    def model(request: ModelRequest) -> ModelAnswer:
        raise ModelCallFailed("auth", "no key")

    async with staged(tmp_path, model) as stage:
        failed = await stage.play(thread_id="t-1")
        other = await stage.start(thread_id="t-1")
        with pytest.raises(Conflict, match=other):
            await signals.resume(stage.store, failed, "ann")
        assert (await stage.state(failed)).state == "FAILED"


async def test_an_empty_last_word_is_not_answered_with_an_earlier_one(tmp_path: Path) -> None:
    model = in_turn(ask_for(call("page", url="http://a"), text="Let me look."), say(""))
    async with staged(tmp_path, model, page) as stage:
        run = await stage.play()
        state = await stage.state(run)
        assert (state.state, state.counters.steps) == ("FAILED", 4)
        assert state.failure is not None
        assert (state.failure.code, bool(state.failure.next_step)) == ("no_answer", True)


async def test_an_answer_cut_at_its_length_is_asked_for_within_the_limits_of_the_run(tmp_path: Path) -> None:
    model = in_turn(say("Half an", finish="length"))
    async with staged(tmp_path, model, limits=Limits(max_steps=2)) as stage:
        shown = await show_run(stage.store, await stage.play())
        assert (shown["state"], shown["outcome"], shown["answer"]) == ("COMPLETED", "partial", "Half an")
        assert shown["error"]["code"] == "limit_reached"
