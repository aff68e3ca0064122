"""One line of a recording: a call, and the answer or the failure that came of it."""

from __future__ import annotations

from typing import Annotated, Final, Literal

from pydantic import BaseModel, BeforeValidator, ConfigDict, JsonValue, ValidationError

from outlast.domain.door import clean_text, stored_form
from outlast.domain.errors import ModelCallFailed, ModelFault, ModelMistake
from outlast.domain.message import Usage
from outlast.domain.tool_call import ToolCall
from outlast.ports.provider import ModelAnswer

FORMAT: Final = "outlast-recording"
VERSION: Final = 1

NEXT_STEP: Final = "Record the conversation anew with `outlast run --record FILE`."


class Header(BaseModel):
    """The first line of a recording, of whatever version."""

    model_config = ConfigDict(extra="ignore", frozen=True, strict=True)

    format: Literal["outlast-recording"] = FORMAT
    version: int = VERSION


def trouble_with_header(line: str | bytes) -> tuple[str, str] | None:
    """Why a file with this first line cannot be read as a recording, and what to do; None where it can."""
    try:
        header = Header.model_validate_json(line)
    except ValidationError:
        return "does not begin like a recording", NEXT_STEP
    if header.version == VERSION:
        return None
    newer = "Use the outlast that wrote it, or record" if header.version > VERSION else "Record"
    what = f"is of version {header.version}; this outlast reads version {VERSION}"
    return what, f"{newer} the conversation anew with `outlast run --record FILE`."


class _Part(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True, strict=True, allow_inf_nan=False)


class Call(_Part):
    """A tool call the model asked for; `problem` and `raw` where what it sent could not be read."""

    id: str
    name: str
    arguments: dict[str, JsonValue]
    problem: str | None = None
    raw: str | None = None


def _pairs(value: object) -> object:
    return tuple(tuple(pair) for pair in value) if isinstance(value, list) else value


class Answered(_Part):
    """A whole answer. `pieces` are the lengths of text and reasoning in each piece as it came, in characters."""

    text: str
    calls: list[Call] = []
    reasoning: str | None = None
    input_tokens: int = 0
    output_tokens: int = 0
    cost_usd: float | None = None
    is_estimate: bool = False
    finish: Literal["stop", "tool_calls", "length", "content_filter"] = "stop"
    model: str = ""
    pieces: Annotated[tuple[tuple[int, int], ...], BeforeValidator(_pairs)] = ()


class Failed(_Part):
    """A call that gave no answer."""

    fault: ModelFault
    detail: str
    retry_after_seconds: float | None = None
    spent_tokens: int = 0
    spent_output_tokens: int = 0
    spent_usd: float | None = None


class Entry(_Part):
    """One call. `asked` is the end of its newest message, for people who read the file."""

    key: str
    purpose: str
    role: str
    asked: str
    answer: Answered | None = None
    failure: Failed | None = None


def answered(answer: ModelAnswer, pieces: list[tuple[int, int]]) -> Answered:
    """An answer as it is kept."""
    usage = answer.usage
    return Answered(
        text=clean_text(answer.text),
        calls=[_call(call) for call in answer.tool_calls],
        reasoning=answer.reasoning,
        input_tokens=usage.input_tokens,
        output_tokens=usage.output_tokens,
        cost_usd=usage.cost_usd,
        is_estimate=usage.is_estimate,
        finish=answer.finish,
        model=answer.model,
        pieces=tuple(pieces),
    )


def _call(call: ToolCall) -> Call:
    """A tool call as it is kept; arguments that no file can hold are left out, with the reason that the model is told."""
    arguments, problem = call.arguments, call.problem
    try:
        stored_form(arguments)
    except ModelMistake as mistake:
        arguments, problem = {}, problem or clean_text(str(mistake))
    return Call(id=call.id, name=call.name, arguments=arguments, problem=problem, raw=call.raw)


def failed(failure: ModelCallFailed) -> Failed:
    """A failure as it is kept."""
    return Failed(
        fault=failure.fault,
        detail=clean_text(failure.detail),
        retry_after_seconds=failure.retry_after_seconds,
        spent_tokens=failure.spent_tokens,
        spent_output_tokens=failure.spent_output_tokens,
        spent_usd=failure.spent_usd,
    )


def as_answer(kept: Answered) -> ModelAnswer:
    """The answer that was kept."""
    calls = tuple(
        ToolCall(call.id, call.name, dict(call.arguments), problem=call.problem, raw=call.raw)
        for call in kept.calls
    )
    usage = Usage(kept.input_tokens, kept.output_tokens, kept.cost_usd, kept.is_estimate)
    return ModelAnswer(kept.text, calls, kept.reasoning, usage, kept.finish, kept.model)


def as_failure(kept: Failed) -> ModelCallFailed:
    """The failure that was kept."""
    return ModelCallFailed(
        kept.fault,
        kept.detail,
        "It was recorded like this.",
        retry_after_seconds=kept.retry_after_seconds,
        spent_tokens=kept.spent_tokens,
        spent_output_tokens=kept.spent_output_tokens,
        spent_usd=kept.spent_usd,
    )
