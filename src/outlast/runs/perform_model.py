"""Performing a model call: ask the provider, read the answer, check the calls it asks for."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from datetime import datetime, timedelta
from typing import Final

from outlast.domain.door import Json, clean_text, lot_of, stored_form
from outlast.domain.errors import PASSING_FAULTS, ModelCallFailed, ModelMistake
from outlast.domain.events import AnyEvent, ModelAnswered, ModelFailed, ModelRequested, ToolAnswered
from outlast.domain.message import Message
from outlast.domain.quick import maker_of
from outlast.domain.run import Branch, RunState
from outlast.domain.task import ModelSettings, RetrySettings
from outlast.domain.tool_call import ToolCall, ToolError, ToolOutcome
from outlast.ports.live import Frame
from outlast.ports.provider import Delta, ModelAnswer, ModelRequest
from outlast.runs.conclusions import checked_conclusions
from outlast.runs.desk import Desk, Outcome
from outlast.runs.means import FormRead
from outlast.runs.money import cost_of, cost_of_failure
from outlast.runs.moves import shown_error
from outlast.runs.offered import offered

LONGEST_BACKOFF_SECONDS: Final = 300.0

LONGEST_WISH_SECONDS: Final = 24 * 3600.0
"""A server that wishes for a longer wait is asked again after this one: nobody knows its plans for next year."""

SPREAD_SHARE: Final = 0.2
"""Waits are longer by up to this share, each call by its own, so that calls refused together do not come back together."""

_request = maker_of(ModelRequest)
_model_answered = maker_of(ModelAnswered)


def request_of(
    state: RunState,
    branch: Branch,
    intent: ModelRequested,
    messages: Sequence[Message],
    schema: Mapping[str, Json] | None,
    earlier_turns: int = 0,
) -> ModelRequest:
    """What is sent to the provider. A form is demanded from it only where no tools are offered."""
    model = model_of(state, intent)
    return _request(
        call_id=intent.call,
        purpose=intent.purpose,
        role=intent.role,
        model=intent.model,
        messages=messages,
        tools=offered(state, branch) if intent.with_tools else (),
        response_schema=None if intent.with_tools else schema,
        temperature=model.temperature,
        max_tokens=model.max_tokens,
        earlier_turns=earlier_turns,
    )


async def perform_model(
    desk: Desk,
    state: RunState,
    intent: ModelRequested,
    request: ModelRequest,
    form: str | None,
    schema: Mapping[str, Json] | None,
    is_ending: Callable[[], bool] = lambda: True,
) -> Outcome:
    """Ask, and turn what comes into events. A failure of the endpoint is an event too.

    So is a cancellation, unless the call `is_ending`: its provider cancelled itself.
    """
    started = desk.seconds()
    if desk.witness is not None:
        desk.witness.sees_model(state, intent, request, form, schema)

    def observe(delta: Delta) -> None:
        if intent.summarises_before is not None:
            return
        desk.means.live.publish(Frame(desk.run_id, intent.branch, intent.role, delta.text, delta.reasoning))

    try:
        answer = await desk.means.provider(intent.role, intent.option).answer(request, observe)
        answer, left_out = _only_offered(answer, intent, state.branches[intent.branch])
        return await _answered(desk, state, intent, answer, form, schema, _ms(desk, started), left_out)
    except ModelCallFailed as trouble:
        failure = trouble
    except asyncio.CancelledError as error:
        if is_ending():
            raise
        detail = str(error) or f"The provider of {intent.model} cancelled itself."
        failure = ModelCallFailed("provider_error", detail, "Mend the provider, then `outlast resume RUN`.")
    return Outcome([_failed(state, intent, failure, desk.now(), _ms(desk, started))])


def _only_offered(
    answer: ModelAnswer, intent: ModelRequested, branch: Branch
) -> tuple[ModelAnswer, tuple[str, ...]]:
    """The answer without calls of tools that were withheld from this step, and what was left out."""
    if intent.with_tools or not branch.tools or not answer.tool_calls:
        return answer, ()
    count = len(answer.tool_calls)
    return replace(answer, tool_calls=()), (f"{count} tool calls left out: no tools were offered",)


def retry_time(
    failure: ModelCallFailed, failures: int, retry: RetrySettings, now: datetime, chance: float = 0.0
) -> datetime | None:
    """When a failed call is tried again; None when it is not. `failures` counts those before this one.

    A context that is too long is tried once more at once, after it was folded. `chance`, from 0 to 1, says how much longer than it
    must be the wait is.
    """
    if failure.fault == "context_exceeded" and failures == 0:
        return now
    if failure.fault not in PASSING_FAULTS or failures + 1 >= retry.max_attempts:
        return None
    wished = failure.retry_after_seconds
    wait = backoff_seconds(retry, failures) if wished is None else min(wished, LONGEST_WISH_SECONDS)
    return now + timedelta(seconds=wait * (1 + SPREAD_SHARE * chance))


def backoff_seconds(retry: RetrySettings, failures: int) -> float:
    """How long to wait after `failures` + 1 failures."""
    if retry.backoff == "none":
        return 0.0
    factor = 2.0**failures if retry.backoff == "exponential" else 1.0
    return min(retry.base_seconds * factor, LONGEST_BACKOFF_SECONDS)


def _failed(
    state: RunState, intent: ModelRequested, failure: ModelCallFailed, now: datetime, ms: int
) -> ModelFailed:
    branch = state.branches[intent.branch]
    chance = lot_of(f"{state.run_id} {intent.call}")
    retry_at = retry_time(failure, branch.failures, state.definition.retry, now, chance)
    is_summary = intent.summarises_before is not None
    has_next = (
        not is_summary
        and (retry_at is None or retry_at - now > timedelta(seconds=LONGEST_BACKOFF_SECONDS))
        and intent.option < len(state.definition.role(branch.role).fallbacks)
    )
    return ModelFailed(
        call=intent.call,
        fault=failure.fault,
        detail=clean_text(str(failure))[:2000],
        spent_tokens=failure.spent_tokens,
        retry_at=now if has_next else retry_at,
        duration_ms=ms,
        spent_usd=cost_of_failure(failure, model_of(state, intent).price),
        next_option=intent.option + 1 if has_next else None,
    )


def model_of(state: RunState, intent: ModelRequested) -> ModelSettings:
    """The model a call asks, with its settings."""
    return state.definition.role(state.branches[intent.branch].role).option(intent.option)


async def _answered(
    desk: Desk,
    state: RunState,
    intent: ModelRequested,
    answer: ModelAnswer,
    form: str | None,
    schema: Mapping[str, Json] | None,
    ms: int,
    left_out: tuple[str, ...],
) -> Outcome:
    calls, refused = _checked_calls(desk, intent.call, answer)
    read, problem = _read(desk, answer, schema) if schema is not None and not calls else (None, None)
    if schema is None and not calls:
        problem = _unsaid(answer)
    value = read.value if read is not None else None
    if value is not None and form == "conclusions":
        value = await checked_conclusions(desk, value, intent.branch)
    text = clean_text(answer.text)
    answered = _model_answered(
        call=intent.call,
        text=text,
        tool_calls=calls,
        reasoning=clean_text(answer.reasoning) if answer.reasoning else None,
        finish=answer.finish,
        model=clean_text(answer.model),
        input_tokens=answer.usage.input_tokens,
        output_tokens=answer.usage.output_tokens,
        cost_usd=cost_of(answer.usage, model_of(state, intent).price),
        is_estimate=answer.usage.is_estimate,
        value=value,
        problem=problem,
        is_repaired=read.is_repaired if read is not None else False,
        duration_ms=ms,
        repairs=left_out if text == answer.text else (*left_out, "lone surrogates in the text"),
    )
    events: list[AnyEvent] = [answered, *refused]
    return Outcome(events)


def _unsaid(answer: ModelAnswer) -> str | None:
    """Why words are no answer; None where they are one."""
    if answer.finish == "length":
        return "It was cut off at the limit of its length; answer more briefly."
    if answer.finish == "content_filter":
        return "It was cut off by a filter of its endpoint."
    return None if answer.text.strip() else "It is empty."


def _read(desk: Desk, answer: ModelAnswer, schema: Mapping[str, Json]) -> tuple[FormRead | None, str | None]:
    if answer.finish == "length":
        return None, "It was cut off at the limit of its length; answer more briefly."
    try:
        read = desk.means.read_form(answer.text, schema)
        return FormRead(stored_form(read.value), read.is_repaired), None
    except ModelMistake as mistake:
        return None, clean_text(str(mistake))


def _checked_calls(
    desk: Desk, model_call: str, answer: ModelAnswer
) -> tuple[tuple[ToolCall, ...], list[ToolAnswered]]:
    """The calls under ids of our own with defaults filled in, and an answer for each that cannot be run."""
    calls, refused = [], []
    for index, asked in enumerate(answer.tool_calls):
        call_id, name = f"c{model_call[1:]}-{index}", clean_text(asked.name)
        checked = _checked(desk, asked, name, answer.finish)
        if isinstance(checked, ToolError):
            problem = clean_text(asked.problem or checked.detail)
            calls.append(replace(_storable(asked), id=call_id, name=name, problem=problem))
            refused.append(ToolAnswered(call_id, ToolOutcome(False, shown_error(checked), checked), "engine"))
        else:
            if name in desk.means.tools:
                desk.fits(call_id, checked)
            calls.append(ToolCall(call_id, name, checked))
    return tuple(calls), refused


def _checked(desk: Desk, call: ToolCall, name: str, finish: str) -> dict[str, Json] | ToolError:
    if call.problem is not None:
        return ToolError("invalid_arguments", clean_text(call.problem))
    if finish == "length":
        return ToolError(
            "invalid_arguments", "Your answer was cut off, so this call was not run. Ask for it again."
        )
    tool = desk.means.tools.get(name)
    try:
        arguments = stored_form(call.arguments)
    except ModelMistake as mistake:
        return ToolError("invalid_arguments", str(mistake))
    assert isinstance(arguments, dict)
    return arguments if tool is None else desk.means.check_arguments(tool, arguments)


def _storable(call: ToolCall) -> ToolCall:
    """A call that will not run, in a form that can be stored and shown to the model again."""
    try:
        arguments = stored_form(call.arguments)
    except ModelMistake:
        arguments = {}
    raw = clean_text(call.raw)[:4000] if call.raw else None
    return replace(call, arguments=arguments if isinstance(arguments, dict) else {}, raw=raw)


def _ms(desk: Desk, started: float) -> int:
    return round((desk.seconds() - started) * 1000)
