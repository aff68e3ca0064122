"""Providers that users wrote: whatever they raise or return that is not as the port says is a failed call that says so."""

import asyncio
import logging
from collections.abc import Callable, Sequence
from typing import Any

import pytest

from outlast.adapters.providers.checked import Checked
from outlast.domain.errors import CallerMistake, ModelCallFailed
from outlast.domain.message import Message, Usage
from outlast.domain.tool_call import ToolCall
from outlast.ports.provider import Delta, ModelAnswer, ModelRequest, Observer, ToolSchema
from tests.patience import PATIENCE_SECONDS
from tests.unit.adapters.providers.asking import a_request, ask

A_CALL = ToolCall("a", "look", {"at": 1})


class Mine:
    """Does what it is told, and counts as it is told."""

    def __init__(self, does: Callable[[Observer], Any], count: Any = 7) -> None:
        self._does = does
        self._count = count

    async def answer(self, request: ModelRequest, observe: Observer) -> ModelAnswer:
        came = self._does(observe)
        result: ModelAnswer = await came if asyncio.iscoroutine(came) else came
        return result

    def count_tokens(self, messages: Sequence[Message], tools: tuple[ToolSchema, ...]) -> int:
        count: int = self._count() if callable(self._count) else self._count
        return count

    async def close(self) -> None:
        raise AssertionError("it is not ours to close")


def returning(value: Any) -> Checked:
    return Checked(Mine(lambda _: value))


def raising(error: BaseException) -> Checked:
    def does(observe: Observer) -> Any:
        raise error

    return Checked(Mine(does))


async def trouble_of(provider: Checked) -> ModelCallFailed:
    with pytest.raises(ModelCallFailed) as caught:
        await ask(provider, a_request("Hello"))
    return caught.value


def wrong(answer: ModelAnswer, **changes: Any) -> ModelAnswer:
    """An answer some of whose fields are of types that no type checker would let through."""
    for name, value in changes.items():
        object.__setattr__(answer, name, value)
    return answer


def used(**changes: Any) -> ModelAnswer:
    usage = Usage(10, 2)
    for name, value in changes.items():
        object.__setattr__(usage, name, value)
    return ModelAnswer("ok", usage=usage)


def called(**changes: Any) -> ModelAnswer:
    call = ToolCall("a", "look", {})
    for name, value in changes.items():
        object.__setattr__(call, name, value)
    return ModelAnswer("", (A_CALL, call), finish="tool_calls")


class Unspeakable:
    def __repr__(self) -> str:
        raise RuntimeError("no words")


@pytest.mark.parametrize(
    ("answer", "said"),
    [
        (None, "None; it must be a ModelAnswer"),
        ("words", "'words'; it must be a ModelAnswer"),
        (Unspeakable(), "(Unspeakable); it must be a ModelAnswer"),
        (wrong(ModelAnswer(""), text=None), "text=None; it must be a str"),
        (wrong(ModelAnswer(""), text=b"words"), "text=(bytes); it must be a str"),
        (wrong(ModelAnswer(""), reasoning=["a"]), "reasoning=(list); it must be a str or None"),
        (wrong(ModelAnswer(""), model=None), "model=None; it must be a str"),
        (wrong(ModelAnswer(""), finish="end_turn"), "finish='end_turn'; it must be one of stop, tool_calls, length, content_filter"),
        (wrong(ModelAnswer(""), finish=None), "finish=None; it must be one of"),
        (wrong(ModelAnswer(""), tool_calls=[A_CALL]), "tool_calls=(list); it must be a tuple of ToolCall"),
        (wrong(ModelAnswer(""), tool_calls=({"name": "look"},)), "tool_calls=(tuple); it must be a tuple of ToolCall"),
        (called(arguments='{"at": 1}'), "tool_calls[1].arguments='{\"at\": 1}'; it must be a dict"),
        (called(arguments=None), "tool_calls[1].arguments=None; it must be a dict"),
        (called(id=None), "tool_calls[1].id=None; it must be a str"),
        (called(name=7), "tool_calls[1].name=7; it must be a str"),
        (called(problem=ValueError("x")), "tool_calls[1].problem=(ValueError); it must be a str or None"),
        (called(raw={}), "tool_calls[1].raw=(dict); it must be a str or None"),
        (wrong(ModelAnswer(""), usage=None), "usage=None; it must be a Usage"),
        (wrong(ModelAnswer(""), usage={"input_tokens": 1}), "usage=(dict); it must be a Usage"),
        (used(input_tokens=10.0), "usage.input_tokens=10.0; it must be an int from 0"),
        (used(input_tokens=None), "usage.input_tokens=None; it must be an int from 0"),
        (used(input_tokens=True), "usage.input_tokens=True; it must be an int from 0"),
        (used(output_tokens=-1), "usage.output_tokens=-1; it must be an int from 0"),
        (used(output_tokens=10**5000), "usage.output_tokens=(int); it must be an int from 0"),
        (used(cost_usd=float("nan")), "usage.cost_usd=nan; it must be None or a number from 0"),
        (used(cost_usd="0.1"), "usage.cost_usd='0.1'; it must be None or a number from 0"),
        (used(is_estimate=None), "usage.is_estimate=None; it must be a bool"),
    ],
)  # fmt: skip
async def test_answer_with_a_field_of_another_type_is_a_failed_call_that_names_provider_and_field(
    answer: Any, said: str
) -> None:
    trouble = await trouble_of(returning(answer))
    assert trouble.fault == "provider_error"
    assert trouble.code == "model_provider_error"
    assert trouble.detail.startswith(f"The provider Mine answered with {said}")
    assert "outlast resume" in trouble.next_step


async def test_what_a_refused_answer_took_is_counted_where_it_is_known() -> None:
    refused = wrong(used(cost_usd=0.5), text=None)
    trouble = await trouble_of(returning(refused))
    assert (trouble.spent_tokens, trouble.spent_output_tokens, trouble.spent_usd) == (12, 2, 0.5)
    assert (await trouble_of(returning(used(input_tokens=1.5)))).spent_tokens == 0


@pytest.mark.parametrize(
    ("field", "value", "said"),
    [
        ("spent_tokens", 1.5, "spent_tokens=1.5; it must be an int from 0"),
        ("spent_tokens", True, "spent_tokens=True; it must be an int from 0"),
        ("spent_output_tokens", None, "spent_output_tokens=None; it must be an int from 0"),
        ("spent_usd", "0.1", "spent_usd='0.1'; it must be None or a number from 0"),
        ("spent_usd", float("inf"), "spent_usd=inf; it must be None or a number from 0"),
        ("retry_after_seconds", "30", "retry_after_seconds='30'; it must be None or a number from 0"),
        ("retry_after_seconds", float("nan"), "retry_after_seconds=nan; it must be None or a number from 0"),
        ("retry_after_seconds", -1, "retry_after_seconds=-1; it must be None or a number from 0"),
        ("fault", "weather", "fault='weather'; it must be one of rate_limit, "),
        ("fault", None, "fault=None; it must be one of rate_limit, "),
        ("detail", None, "detail=None; it must be a str"),
        ("next_step", 3, "next_step=3; it must be a str"),
    ],
)
async def test_failure_with_a_field_of_another_type_is_one_that_names_provider_and_field(
    field: str, value: Any, said: str
) -> None:
    failure = ModelCallFailed("rate_limit", "Slow down.")
    setattr(failure, field, value)
    trouble = await trouble_of(raising(failure))
    assert trouble.fault == "provider_error"
    assert f"The provider Mine raised a ModelCallFailed with {said}" in trouble.detail
    assert trouble.__cause__ is failure


async def test_failure_that_never_told_its_parent_anything_is_one_that_says_what_it_lacks() -> None:
    class Hasty(ModelCallFailed):
        def __init__(self) -> None:
            self.detail = "quick"
            self.next_step = ""

    assert "raised a ModelCallFailed with fault=None" in (await trouble_of(raising(Hasty()))).detail


@pytest.mark.parametrize(
    ("error", "said"),
    [
        (ConnectionError("refused"), "raised ConnectionError: refused"),
        (KeyError("choices"), "raised KeyError: 'choices'"),
        (CallerMistake("missing_setting", "No key."), "raised CallerMistake: No key."),
        (SystemExit(2), "raised SystemExit: 2"),
        (asyncio.CancelledError(), "cancelled itself"),
    ],
)
async def test_whatever_it_lets_out_is_a_failed_call(error: BaseException, said: str) -> None:
    trouble = await trouble_of(raising(error))
    assert trouble.fault == "provider_error"
    assert trouble.detail == f"The provider Mine {said}."


async def test_answer_that_is_no_coroutine_is_a_failed_call() -> None:
    class Sync(Mine):
        def answer(self, request: ModelRequest, observe: Observer) -> Any:
            return ModelAnswer("here")

    assert "The provider" in (await trouble_of(Checked(Sync(lambda _: None)))).detail


async def test_piece_that_is_no_delta_is_a_failed_call_and_reaches_nobody() -> None:
    heard: list[Delta] = []
    for piece in ("words", Delta(text=None)):  # type: ignore[arg-type]
        provider = Checked(Mine(lambda observe, piece=piece: observe(piece)))  # type: ignore[misc]
        with pytest.raises(ModelCallFailed, match="observe takes a Delta"):
            await provider.answer(a_request("Hello"), heard.append)
    assert heard == []


async def test_whole_answers_and_failures_pass_as_they_are() -> None:
    answer = ModelAnswer(
        "", (A_CALL,), reasoning="because", usage=Usage(1, 2, 0.5, True), finish="tool_calls"
    )
    assert await ask(returning(answer), a_request("Hello")) is answer
    failure = ModelCallFailed("rate_limit", "Slow.", retry_after_seconds=3, spent_tokens=4, spent_usd=1)
    assert await trouble_of(raising(failure)) is failure


async def test_cancellation_that_was_asked_for_is_one() -> None:
    begun = asyncio.Event()

    async def hangs() -> None:
        begun.set()
        await asyncio.Event().wait()

    call = asyncio.create_task(ask(Checked(Mine(lambda _: hangs())), a_request("Hello")))
    async with asyncio.timeout(PATIENCE_SECONDS):
        await begun.wait()
        call.cancel()
        await asyncio.wait({call})
    assert call.cancelled()


def _miscounts() -> int:
    raise RuntimeError("no tokenizer")


@pytest.mark.parametrize("count", [_miscounts, 1.5, None, -3, True])
def test_tokens_it_cannot_count_are_estimated_and_the_log_says_so_once(
    count: Any, caplog: pytest.LogCaptureFixture
) -> None:
    provider = Checked(Mine(lambda _: None, count))
    with caplog.at_level(logging.WARNING, "outlast.providers"):
        assert provider.count_tokens((Message("user", "Hello there"),), ()) > 0
        assert provider.count_tokens((Message("user", "Hello there"),), ()) > 0
    (line,) = caplog.messages
    assert line.startswith("count_tokens of Mine is no use")


def test_tokens_it_counts_are_those() -> None:
    assert Checked(Mine(lambda _: None, 7)).count_tokens((), ()) == 7
