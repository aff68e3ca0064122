"""A provider that somebody else wrote, held to what its port promises.

What such a provider raises or returns goes into the journal, where it must be readable for ever. So it is looked at right where it
comes from; what is not as the port says is a failed call of the model, which names the provider and the field.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable, Mapping, Sequence
from dataclasses import fields, replace
from typing import Any, Final, get_args

from outlast.adapters.providers.tokens import estimate_request_tokens
from outlast.domain.door import clean_text, in_words
from outlast.domain.errors import ModelCallFailed, ModelFault
from outlast.domain.message import Message, Usage
from outlast.domain.tool_call import ToolCall
from outlast.ports.provider import Delta, Finish, ModelAnswer, ModelRequest, Observer, Provider, ToolSchema

MOST_TOKENS: Final = 2**53
"""No call takes so many."""

MOST_AMOUNT: Final = 1e12
"""No call costs so many US dollars, nor is to be made so many seconds later."""

MEND: Final = "Mend the provider, then `outlast resume RUN`."

_SHOWN_CHARACTERS: Final = 80
_FAULTS: Final = get_args(ModelFault)
_FINISHES: Final = get_args(Finish)

_WANTED: Final[Mapping[str, str]] = {
    "arguments": "a dict",
    "cost_usd": "None or a number from 0",
    "detail": "a str",
    "fault": f"one of {', '.join(_FAULTS)}",
    "finish": f"one of {', '.join(_FINISHES)}",
    "id": "a str",
    "input_tokens": "an int from 0",
    "is_estimate": "a bool",
    "model": "a str",
    "name": "a str",
    "next_step": "a str",
    "output_tokens": "an int from 0",
    "problem": "a str or None",
    "raw": "a str or None",
    "reasoning": "a str or None",
    "retry_after_seconds": "None or a number from 0",
    "spent_output_tokens": "an int from 0",
    "spent_tokens": "an int from 0",
    "spent_usd": "None or a number from 0",
    "text": "a str",
    "tool_calls": "a tuple of ToolCall",
    "usage": "a Usage",
}
"""What each field must be."""

_log = logging.getLogger("outlast.providers")


class Checked:
    """A provider of a user's own, none of whose ways to fail or to answer is more than a failed call.

    What it lets out that is no ModelCallFailed, or returns that is no ModelAnswer with fields as they are declared, is
    ModelCallFailed (`provider_error`). Where it cannot count tokens, the estimate of all built-in providers stands in.
    """

    def __init__(self, provider: Provider) -> None:
        self._provider = provider
        self._name = type(provider).__qualname__
        self._has_miscounted = False

    async def answer(self, request: ModelRequest, observe: Observer) -> ModelAnswer:
        """As the provider answers. Raises ModelCallFailed alone, but for a cancellation that was asked for."""

        def heard(delta: object) -> None:
            match delta:
                case Delta(text=str(), reasoning=str()):
                    observe(delta)
                case _:
                    raise TypeError("observe takes a Delta whose text and reasoning are str")

        try:
            answer = await self._provider.answer(request, heard)
            if _is_whole_answer(answer):
                return answer
            raise self._error(f"answered with {_trouble_with_answer(answer)}", answer)
        except ModelCallFailed as failure:
            trouble = _trouble_with_failure(failure)
            if trouble is None:
                raise
            what = f"raised a ModelCallFailed with {trouble}. It says: {in_words(failure)}"
            raise self._error(what) from failure
        except (Exception, SystemExit) as error:
            raise self._error(f"raised {in_words(error)}") from error
        except asyncio.CancelledError as error:
            if _is_asked_to_end():
                error.args = (
                    f"The provider {self._name} cancelled itself.",
                )  # or it was killed: who runs the call knows
                raise
            raise self._error("cancelled itself") from error

    def count_tokens(self, messages: Sequence[Message], tools: tuple[ToolSchema, ...]) -> int:
        """As the provider counts; never raises."""
        try:
            count = self._provider.count_tokens(messages, tools)
            if _is_count(count):
                return count
            trouble = _shown(count)
        except Exception as error:  # noqa: BLE001 - it may be anything, and contexts are built with it wherever a run is read
            trouble = in_words(error)
        if not self._has_miscounted:
            self._has_miscounted = True
            _log.warning("count_tokens of %s is no use, and an estimate stands in: %s", self._name, trouble)
        return estimate_request_tokens(messages, tools)

    async def close(self) -> None:
        """Close the provider."""
        await self._provider.close()

    def _error(self, what: str, answer: object = None) -> ModelCallFailed:
        usage = answer.usage if isinstance(answer, ModelAnswer) and _is_whole_usage(answer.usage) else Usage()
        return ModelCallFailed(
            "provider_error",
            f"The provider {self._name} {what}.",
            MEND,
            spent_tokens=usage.total_tokens,
            spent_output_tokens=usage.output_tokens,
            spent_usd=usage.cost_usd,
        )


def _is_whole_answer(found: object) -> bool:
    """Written out, as the next two, for what is looked at in every round: a pattern with fields takes four times as long."""
    answer: Any = found
    return (
        isinstance(found, ModelAnswer)
        and isinstance(answer.text, str)
        and isinstance(answer.tool_calls, tuple)
        and (answer.reasoning is None or isinstance(answer.reasoning, str))
        and isinstance(answer.finish, str)
        and answer.finish in _FINISHES
        and isinstance(answer.model, str)
        and _is_whole_usage(answer.usage)
        and (not answer.tool_calls or all(map(_is_whole_call, answer.tool_calls)))
    )


def _is_whole_usage(found: object) -> bool:
    usage: Any = found
    return (
        isinstance(found, Usage)
        and _is_count(usage.input_tokens)
        and _is_count(usage.output_tokens)
        and (usage.cost_usd is None or _is_amount(usage.cost_usd))
        and isinstance(usage.is_estimate, bool)
    )


def _is_whole_call(found: object) -> bool:
    call: Any = found
    return (
        isinstance(found, ToolCall)
        and isinstance(call.id, str)
        and isinstance(call.name, str)
        and isinstance(call.arguments, dict)
        and (call.problem is None or isinstance(call.problem, str))
        and (call.raw is None or isinstance(call.raw, str))
    )


def _trouble_with_answer(answer: Any) -> str:
    """Which field of what a provider returned is not as it must be, and what it holds."""
    if not isinstance(answer, ModelAnswer):
        return f"{_shown(answer)}; it must be a ModelAnswer"
    usage: Any = answer.usage
    calls: Any = answer.tool_calls
    if isinstance(usage, Usage) and not _is_whole_usage(usage):
        return _trouble_with_field("usage.", usage, Usage(), _is_whole_usage)
    for index, call in enumerate(calls if isinstance(calls, tuple) else ()):
        if isinstance(call, ToolCall) and not _is_whole_call(call):
            return _trouble_with_field(f"tool_calls[{index}].", call, ToolCall("", ""), _is_whole_call)
    return _trouble_with_field("", answer, ModelAnswer(""), _is_whole_answer)


def _trouble_with_field(place: str, found: Any, whole: Any, is_whole: Callable[[object], bool]) -> str:
    """The first field that makes of something whole something that is not."""
    names = (field.name for field in fields(whole))
    name = next(name for name in names if not is_whole(replace(whole, **{name: getattr(found, name)})))
    return _wrong(f"{place}{name}", name, getattr(found, name))


def _trouble_with_failure(failure: ModelCallFailed) -> str | None:
    """Which field of a failure is not as it must be; None when all are."""
    for name, is_right in _OF_A_FAILURE.items():
        value = getattr(failure, name, None)
        if not is_right(value):
            return _wrong(name, name, value)
    return None


def _wrong(place: str, name: str, value: object) -> str:
    return f"{place}={_shown(value)}; it must be {_WANTED[name]}"


def _shown(value: object) -> str:
    """A value in a few words that cannot go wrong: objects of a user's own may not be able to say what they are."""
    if value is None or isinstance(value, bool | float) or type(value) is str:
        return clean_text(repr(value)[:_SHOWN_CHARACTERS])
    if type(value) is int and abs(value) <= MOST_TOKENS:
        return repr(value)
    return f"({type(value).__name__})"


def _is_count(value: Any) -> bool:
    return value.__class__ is int and 0 <= value <= MOST_TOKENS


def _is_text(value: object) -> bool:
    return isinstance(value, str)


def _is_amount(value: object) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool) and 0 <= value <= MOST_AMOUNT


def _is_amount_or_none(value: object) -> bool:
    return value is None or _is_amount(value)


_OF_A_FAILURE: Final[Mapping[str, Callable[[object], bool]]] = {
    "fault": lambda value: isinstance(value, str) and value in _FAULTS,
    "detail": _is_text,
    "next_step": _is_text,
    "retry_after_seconds": _is_amount_or_none,
    "spent_tokens": _is_count,
    "spent_output_tokens": _is_count,
    "spent_usd": _is_amount_or_none,
}


def _is_asked_to_end() -> bool:
    """Is the task that asks to be cancelled? Else the provider let out a cancellation of its own."""
    task = asyncio.current_task()
    return task is not None and task.cancelling() > 0
