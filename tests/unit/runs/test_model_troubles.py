"""What a run does about models that refuse, stall, break off, or say what cannot be used."""

import asyncio
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from outlast.domain.errors import ModelCallFailed, ModelFault
from outlast.domain.events import ModelAnswered, ModelFailed, ModelRequested, ToolAnswered
from outlast.domain.task import RetrySettings
from outlast.domain.tool_call import ToolCall
from outlast.ports.provider import ModelAnswer, ModelRequest
from outlast.runs.perform_model import retry_time
from outlast.service.trace import trace_run
from outlast.tools import tool
from tests.law import law
from tests.patience import PATIENCE_SECONDS
from tests.unit.runs.parts import in_turn, say
from tests.unit.runs.stage import soon, staged

NOW = datetime(2026, 1, 2, tzinfo=UTC)


@law("MODEL-5.d", "MODEL-5.e")
@pytest.mark.parametrize("fault", ["bad_request", "auth"])
async def test_what_waiting_does_not_mend_is_asked_once_and_says_what_to_mend(
    tmp_path: Path, fault: ModelFault
) -> None:
    def model(request: ModelRequest) -> ModelAnswer:
        raise ModelCallFailed(fault, "It says: no.")

    async with staged(tmp_path, model, retry=RetrySettings(max_attempts=5, backoff="none")) as stage:
        run = await stage.play()
        state = await stage.state(run)
        assert len(stage.requests) == 1
        assert (await stage.events(run, ModelFailed))[0].retry_at is None
        assert state.failure is not None
        assert state.failure.code == f"model_{fault}"
        assert "mend the model or its settings" in state.failure.next_step


@law("MODEL-5.b", "MODEL-5.f", "MODEL-5.g")
@pytest.mark.parametrize("fault", ["overload", "cut_stream", "unreachable", "timeout", "rate_limit"])
async def test_what_may_pass_is_tried_again_and_every_try_is_in_the_journal_and_counted(
    tmp_path: Path, fault: ModelFault
) -> None:
    troubles = iter([ModelCallFailed(fault, "not now", spent_tokens=5)] * 2)

    def model(request: ModelRequest) -> ModelAnswer:
        for trouble in troubles:
            raise trouble
        return say("Now.")

    async with staged(tmp_path, model) as stage:
        run = await stage.play()
        state = await stage.state(run)
        failed = await stage.events(run, ModelFailed)
        assert [event.fault for event in failed] == [fault, fault]
        assert state.counters.steps == 3
        assert state.counters.tokens >= 10
        lines = [line for line in await trace_run(stage.store, run) if line["kind"] == "ModelFailed"]
        assert [line["tokens"] for line in lines] == [5, 5]


@law("MODEL-5.a")
@pytest.mark.parametrize("seconds", [0.0, 0.5, 90.0, 7200.0])
def test_the_wait_a_server_wishes_for_is_kept_however_the_retries_are_set(seconds: float) -> None:
    failure = ModelCallFailed("rate_limit", "later", retry_after_seconds=seconds)
    retry = RetrySettings(max_attempts=3, backoff="exponential", base_seconds=1)
    assert retry_time(failure, 0, retry, NOW) == NOW + timedelta(seconds=seconds)


@law("MODEL-5.a")
def test_calls_that_were_refused_together_come_back_apart_and_never_too_early() -> None:
    failure = ModelCallFailed("rate_limit", "later", retry_after_seconds=10)
    waits = [retry_time(failure, 0, RetrySettings(), NOW, chance) for chance in (0.0, 0.5, 0.999)]
    assert waits == [NOW + timedelta(seconds=10 * (1 + 0.2 * chance)) for chance in (0.0, 0.5, 0.999)]


@law("MODEL-5.a")
@pytest.mark.parametrize("seconds", [86_401.0, 1e18, 1e300])
def test_a_wait_beyond_a_day_is_asked_about_after_a_day(seconds: float) -> None:
    failure = ModelCallFailed("rate_limit", "later", retry_after_seconds=seconds)
    assert retry_time(failure, 0, RetrySettings(), NOW) == NOW + timedelta(days=1)


async def test_each_run_waits_by_its_own_chance(tmp_path: Path) -> None:
    def model(request: ModelRequest) -> ModelAnswer:
        raise ModelCallFailed("rate_limit", "later", retry_after_seconds=1000)

    async with staged(tmp_path, model) as stage:
        lines = []
        for _ in range(3):
            history = await stage.history(await stage.play())
            lines.append(next(one for one in history if isinstance(one.event, ModelFailed)))
        waits = {(line.event.retry_at - line.at).total_seconds() for line in lines}
        assert len(waits) == 3
        assert all(999 <= wait <= 1201 for wait in waits)


@law("TOOL-3.g")
@pytest.mark.parametrize(
    ("backoff", "waits"),
    [("exponential", [2, 4, 8, None]), ("fixed", [2, 2, 2, None]), ("none", [0, 0, 0, None])],
)
def test_waits_grow_stay_or_are_not_made(backoff: str, waits: list[int | None]) -> None:
    retry = RetrySettings(max_attempts=4, backoff=backoff, base_seconds=2)
    failure = ModelCallFailed("overload", "busy")
    times = [retry_time(failure, failures, retry, NOW) for failures in range(4)]
    assert times == [None if wait is None else NOW + timedelta(seconds=wait) for wait in waits]


@law("MODEL-4.d")
async def test_a_call_with_effects_that_was_cut_off_is_never_made(tmp_path: Path) -> None:
    sent: list[str] = []

    @tool(effect="once")
    async def send(body: str) -> str:
        """Send a letter."""
        sent.append(body)
        return "sent"

    whole = ModelAnswer("", (ToolCall("", "send", {"body": "Dear Ann, all is"}),), finish="length")
    broken = ModelAnswer("", (ToolCall("", "send", {}, problem="It was cut off.", raw='{"body": "Dear'),))
    async with staged(tmp_path, in_turn(whole, broken, say("Given up.")), send) as stage:
        run = await stage.play()
        assert sent == []
        refused = await stage.events(run, ToolAnswered)
        assert [event.outcome.error.code for event in refused] == ["invalid_arguments"] * 2
        assert "cut off" in str(stage.requests[1].messages[-1].text)


@law("MODEL-4.c", "MODEL-4.e")
async def test_an_answer_that_cannot_be_used_goes_back_a_bounded_number_of_times_and_stays_in_the_trace(
    tmp_path: Path,
) -> None:
    """A plan is wanted; what comes is none, again and again."""

    def model(request: ModelRequest) -> ModelAnswer:
        return say('{"subtasks": "later"}')

    async with staged(tmp_path, model, workflow="research") as stage:
        run = await stage.play()
        state = await stage.state(run)
        assert state.state == "FAILED"
        asked = await stage.events(run, ModelRequested)
        assert 2 <= len(asked) <= 5
        assert "subtasks" in stage.requests[1].messages[-1].text
        answered = await stage.events(run, ModelAnswered)
        assert all(event.text == '{"subtasks": "later"}' for event in answered)
        assert all(event.problem for event in answered)
        lines = [line for line in await trace_run(stage.store, run) if line["kind"] == "ModelAnswered"]
        assert all(line["error"]["code"] == "unusable_answer" for line in lines)
        assert lines[0]["result"] == '{"subtasks": "later"}'


@law("MODEL-4.e")
async def test_a_repaired_answer_is_marked_and_the_raw_text_is_kept(tmp_path: Path) -> None:
    parts = ",".join(
        f'{{"id": "s{n}", "question": "Q{n}?", "done_when": "D", "depends_on": []}}' for n in (1, 2, 3)
    )
    raw = f'```json\n{{"subtasks": [{parts},]}}\n```'

    def model(request: ModelRequest) -> ModelAnswer:
        if request.purpose == "plan":
            return say(raw)
        raise ModelCallFailed("auth", "enough")

    async with staged(tmp_path, model, workflow="research") as stage:
        run = await stage.play()
        planned = (await stage.events(run, ModelAnswered))[0]
        assert planned.is_repaired
        assert planned.text == raw
        line = next(line for line in await trace_run(stage.store, run) if line["kind"] == "ModelAnswered")
        assert line["data"]["is_repaired"] is True


@pytest.mark.parametrize("how", ["raises", "waits", "goes on"])
async def test_a_provider_that_cancels_itself_has_failed_its_call_and_is_asked_again(
    tmp_path: Path, how: str
) -> None:
    """Nobody had asked for it, neither for that of its task; it is no end of the call, and none of the worker's work on the run."""

    async def model(request: ModelRequest) -> ModelAnswer:
        if len(stage.requests) == 1:
            if how == "raises":
                raise asyncio.CancelledError
            task = asyncio.current_task()
            assert task is not None
            task.cancel()
            if how == "waits":
                await asyncio.Event().wait()
        return say("done")

    async with staged(tmp_path, model) as stage:
        run = await stage.start()
        assert await stage.work(run) == "ended"
        assert (await stage.state(run)).outcome == "full"
        told = [
            (failed.fault, "cancelled itself" in failed.detail)
            for failed in await stage.events(run, ModelFailed)
        ]
        assert told == [("provider_error", True)]


async def test_a_provider_of_a_call_that_was_killed_has_not_failed_it(tmp_path: Path) -> None:
    asked = asyncio.Event()

    async def model(request: ModelRequest) -> ModelAnswer:
        asked.set()
        await asyncio.Event().wait()
        return say("never")

    async with staged(tmp_path, model) as stage:
        run = await stage.start()
        worker = stage.worker()
        working = asyncio.create_task(worker.work_on(run))
        await soon(asked)
        worker.drain()
        worker.cut_short()
        async with asyncio.timeout(PATIENCE_SECONDS):
            await working
        assert await stage.events(run, ModelFailed) == []
