"""Providers that users hand to a harness: what they do wrong is a failed call in a journal that stays readable."""

import asyncio
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

from outlast import Harness
from outlast.domain.errors import ModelCallFailed
from outlast.domain.events import ModelFailed
from outlast.domain.message import Message, Usage
from outlast.domain.tool_call import ToolCall
from outlast.journal.history import read_history
from outlast.ports.provider import ModelAnswer, ModelRequest, Observer, ToolSchema
from outlast.testing import ScriptedProvider
from tests.patience import PATIENCE_SECONDS

CONFIG = (
    "harness: {persistence: {backend: sqlite}, lease_seconds: 5, retry: {max_attempts: 2, backoff: none}}\n"
)
TASK = "task: {name: t, workflow: chat, tools: []}\n"


class Wayward:
    """Raises or returns whatever it is given, and counts tokens as it is told."""

    def __init__(self, *does: Any, counts: Any = 3) -> None:
        self._does = iter(does)
        self._counts = counts

    async def answer(self, request: ModelRequest, observe: Observer) -> ModelAnswer:
        does: Any = next(self._does, None)
        if does == "cancels its task":
            own = asyncio.current_task()
            assert own is not None
            own.cancel()
            await asyncio.Event().wait()
        if isinstance(does, BaseException):
            raise does
        answer: ModelAnswer = does
        return answer

    def count_tokens(self, messages: Sequence[Message], tools: tuple[ToolSchema, ...]) -> int:
        if self._counts is None:
            raise RuntimeError("no tokenizer here")
        count: int = self._counts
        return count

    async def close(self) -> None:
        """Nothing to give up."""


def written(folder: Path) -> Path:
    (folder / "tasks").mkdir()
    (folder / "tasks/t.yaml").write_text(TASK)
    (folder / "outlast.yaml").write_text(CONFIG)
    return folder / "outlast.yaml"


def answer(**fields: Any) -> ModelAnswer:
    return ModelAnswer(**({"text": "Done."} | fields))


def failure(**fields: Any) -> ModelCallFailed:
    return ModelCallFailed("overload", "Too busy.", **fields)


@pytest.mark.parametrize(
    ("does", "named"),
    [
        pytest.param(lambda: failure(spent_tokens=1.5), "spent_tokens=1.5", id="spent tokens"),
        pytest.param(lambda: answer(text=None), "text=None", id="text"),
        pytest.param(lambda: answer(usage=Usage(1.5, 2)), "usage.input_tokens=1.5", id="usage"),  # type: ignore[arg-type]
        pytest.param(lambda: answer(tool_calls=[ToolCall("a", "b")]), "tool_calls=(list)", id="calls"),
        pytest.param(
            lambda: answer(tool_calls=(ToolCall("a", "b", [1]),)),  # type: ignore[arg-type]
            "tool_calls[0].arguments=(list)",
            id="arguments",
        ),
        pytest.param(lambda: answer(finish="end_turn"), "finish='end_turn'", id="finish"),
        pytest.param(lambda: "words", "'words'", id="no answer"),
        pytest.param(lambda: RuntimeError("boom"), "RuntimeError: boom", id="raises"),
        pytest.param(asyncio.CancelledError, "cancelled itself", id="cancels"),
        pytest.param(lambda: "cancels its task", "cancelled itself", id="cancels its task"),
    ],
)
async def test_what_a_provider_of_ones_own_does_wrong_fails_its_calls_and_then_the_run(
    tmp_path: Path, does: Any, named: str
) -> None:
    provider = Wayward(does(), does())
    async with Harness.open(written(tmp_path), provider=provider) as harness:
        run = await harness.start(task="t", input="Go")
        async with asyncio.timeout(PATIENCE_SECONDS):
            shown = await run.result()
        assert shown["state"] == "FAILED"
        assert shown["error"]["code"] == "model_provider_error"
        history = await read_history(harness.engine.store, run.run_id)
        told = [one.event.detail for one in history if isinstance(one.event, ModelFailed)]
        assert all("The provider Wayward " in detail and named in detail for detail in told)
        kinds = [type(one.event).__name__ for one in history]
        assert (kinds.count("ModelRequested"), kinds.count("ModelFailed"), kinds.count("RunClaimed")) == (
            2,
            2,
            1,
        )


async def test_provider_that_comes_to_itself_is_asked_again_and_the_run_goes_on(tmp_path: Path) -> None:
    provider = Wayward(RuntimeError("once"), answer(usage=Usage(4, 2)))
    async with Harness.open(written(tmp_path), provider=provider) as harness:
        run = await harness.start(task="t", input="Go")
        shown = await run.result()
    assert (shown["state"], shown["answer"], shown["steps"]) == ("COMPLETED", "Done.", 2)


@pytest.mark.parametrize("counts", [None, 1.5])
async def test_provider_that_cannot_count_tokens_keeps_no_run_from_its_work(
    tmp_path: Path, counts: Any
) -> None:
    async with Harness.open(written(tmp_path), provider=Wayward(answer(), counts=counts)) as harness:
        run = await harness.start(task="t", input="Go")
        async with asyncio.timeout(PATIENCE_SECONDS):
            assert (await run.result())["state"] == "COMPLETED"


async def test_function_that_answers_wrongly_in_place_of_a_script_is_told_of_as_well(tmp_path: Path) -> None:
    provider = ScriptedProvider(lambda request: None)  # type: ignore[arg-type, return-value]
    async with Harness.open(written(tmp_path), provider=provider) as harness:
        run = await harness.start(task="t", input="Go")
        async with asyncio.timeout(PATIENCE_SECONDS):
            assert (await run.result())["error"]["code"] == "model_provider_error"
