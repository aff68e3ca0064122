"""Tools that do not end as they should: the model is told, and the run goes on."""

import asyncio
from pathlib import Path
from typing import Any

import pytest

from outlast.ports.tool import Ask, tool
from outlast.runs import flight, perform_tool
from tests.unit.runs.parts import ask_for, call, in_turn, say
from tests.unit.runs.props import once_tool
from tests.unit.runs.stage import staged


async def test_what_a_tool_lets_out_beside_errors_is_told_to_the_model_too(tmp_path: Path) -> None:
    async def quits() -> object:
        raise SystemExit(4)

    async def cancels_itself() -> object:
        sleeping = asyncio.ensure_future(asyncio.Event().wait())
        sleeping.cancel()
        return await sleeping

    async def cancels_its_task() -> object:
        task = asyncio.current_task()
        assert task is not None
        task.cancel()
        return "never"

    works = (quits, "SystemExit: 4"), (cancels_itself, "CancelledError"), (cancels_its_task, "CancelledError")
    for work, told in works:
        model = in_turn(ask_for(call("odd")), say("done"))
        async with staged(tmp_path, model, once_tool("odd", work, effect="once")) as stage:
            run = await stage.play()
            [outcome] = await stage.outcomes(run)
            assert outcome.error is not None
            assert outcome.error.code == "tool_failed"
            assert told in outcome.error.detail
            assert (await stage.state(run)).outcome == "full"


async def test_a_tool_that_will_not_stop_is_left_to_itself(tmp_path: Path) -> None:
    is_over = asyncio.Event()

    async def stubborn() -> object:
        while not is_over.is_set():
            try:
                await is_over.wait()
            except asyncio.CancelledError:
                continue
        return None

    model = in_turn(ask_for(call("stubborn")), say("done"))
    tool_of_it = once_tool("stubborn", stubborn, effect="once", timeout_seconds=0.01)
    try:
        async with staged(tmp_path, model, tool_of_it) as stage:
            run = await stage.play()
            [outcome] = await stage.outcomes(run)
            assert outcome.error is not None
            assert outcome.error.code == "timeout"
            assert (await stage.state(run)).outcome == "full"
    finally:
        is_over.set()


async def test_a_tool_that_will_not_stop_is_tried_again_and_what_it_comes_to_late_is_dropped(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(perform_tool, "GRACE_SECONDS", 0.01)
    monkeypatch.setattr(flight, "STOP_SECONDS", 0.01)
    tries: list[asyncio.Task[object]] = []
    is_over = asyncio.Event()

    async def stubborn_at_first() -> object:
        task = asyncio.current_task()
        assert task is not None
        tries.append(task)
        if len(tries) == 2:
            is_over.set()
            await asyncio.wait(tries[:1])
            return "second"
        while not is_over.is_set():
            try:
                await is_over.wait()
            except asyncio.CancelledError:
                continue
        return "first"

    async def cancels_what_has_ended() -> object:
        tries[0].cancel()
        return "third"

    model = in_turn(ask_for(call("stubborn")), ask_for(call("after")), say("done"))
    stubborn = once_tool("stubborn", stubborn_at_first, effect="idempotent", timeout_seconds=0.5)
    after = once_tool("after", cancels_what_has_ended, effect="idempotent")
    async with staged(tmp_path, model, stubborn, after) as stage:
        run = await stage.play()
        first, second = await stage.outcomes(run)
        assert (first.shown, first.attempts) == ("second", 2)
        assert second.shown == "third"
        assert tries[0].cancelled()
        assert (await stage.state(run)).outcome == "full"


async def test_a_try_is_not_reached_by_what_the_try_before_does_to_its_task(tmp_path: Path) -> None:
    tries: list[asyncio.Task[object]] = []

    async def meddles() -> object:
        task = asyncio.current_task()
        assert task is not None
        tries.append(task)
        if len(tries) == 1:
            task.cancel()
            raise RuntimeError("not yet")
        tries[0].cancel()
        await asyncio.sleep(0)
        return "done"

    model = in_turn(ask_for(call("meddles")), say("done"))
    async with staged(tmp_path, model, once_tool("meddles", meddles, effect="idempotent")) as stage:
        run = await stage.play()
        [outcome] = await stage.outcomes(run)
        assert (outcome.shown, outcome.attempts) == ("done", 2)


async def test_a_question_that_is_no_text_is_a_failure_of_its_tool(tmp_path: Path) -> None:
    question: Any = 5

    @tool(effect="once")
    async def odd() -> Ask:
        """Ask a person."""
        return Ask(question)

    async with staged(tmp_path, in_turn(ask_for(call("odd")), say("done")), odd) as stage:
        run = await stage.play()
        [outcome] = await stage.outcomes(run)
        assert outcome.error is not None
        assert outcome.error.detail == "The tool asked a question that is no text: 5"
        assert (await stage.state(run)).outcome == "full"
