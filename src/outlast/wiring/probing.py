"""Trying a model: does it answer, in pieces, with usage; does it call tools; does it keep to a JSON Schema?

Three small calls through the seam every run uses, so that what works here works there.
"""

from __future__ import annotations

import asyncio
import json
import time
from collections.abc import AsyncIterator, Mapping
from dataclasses import replace
from typing import Final, Literal

from outlast.domain.dataclass import dataclass
from outlast.domain.door import Json
from outlast.domain.errors import ModelCallFailed, ModelMistake
from outlast.domain.message import Message
from outlast.ports.provider import Delta, ModelAnswer, ModelRequest, Provider, ToolSchema
from outlast.wiring.build import read_form

CALL_SECONDS: Final = 60.0
"""How long one call may take here."""

_FORM: Final[Mapping[str, Json]] = {
    "type": "object",
    "properties": {"word": {"type": "string"}, "length": {"type": "integer"}},
    "required": ["word", "length"],
    "additionalProperties": False,
}
_TOOL: Final = ToolSchema(
    "take_note",
    "Write a word down",
    {
        "type": "object",
        "properties": {"word": {"type": "string"}},
        "required": ["word"],
        "additionalProperties": False,
    },
)


@dataclass(frozen=True, slots=True)
class Trial:
    """One thing that was tried: `good`, `poor` (it works with less) or `bad` (runs will not work), and what to do."""

    what: str
    verdict: Literal["good", "poor", "bad"]
    detail: str
    next: str = ""


@dataclass(slots=True)
class _Heard:
    """How an answer came."""

    began_at: float
    pieces: int = 0
    first_after_seconds: float | None = None
    reasoned: bool = False

    def take(self, delta: Delta) -> None:
        self.pieces += 1
        self.reasoned = self.reasoned or bool(delta.reasoning)
        if self.first_after_seconds is None:
            self.first_after_seconds = time.monotonic() - self.began_at


async def try_model(provider: Provider, model: str) -> AsyncIterator[Trial]:
    """What a model can do, one thing after another; nothing more is tried of one that does not answer."""
    first = await _answers(provider, model)
    yield first
    if first.verdict != "bad":
        yield await _calls_tools(provider, model)
        yield await _keeps_to_a_schema(provider, model)


async def _answers(provider: Provider, model: str) -> Trial:
    request = _request(model, "chat", "Say in one short sentence what the sea is.")
    heard = _Heard(time.monotonic())
    try:
        answer = await _asked(provider, request, heard)
    except ModelCallFailed as failure:
        return _failed("answer", failure)
    if not answer.text.strip():
        return Trial("answer", "bad", "it answered with nothing", "Look at the log of the endpoint.")
    usage = "estimates usage" if answer.usage.is_estimate else "states usage"
    pieces = f"in {heard.pieces} pieces" if heard.pieces > 1 else "in one piece"
    facts = [f"answers {pieces}", f"the first after {heard.first_after_seconds or 0:.1f} s", usage]
    facts += ["with reasoning"] if heard.reasoned else []
    facts += [f"calls itself {answer.model}"] if answer.model and answer.model != model else []
    return Trial("answer", "good", ", ".join(facts))


async def _calls_tools(provider: Provider, model: str) -> Trial:
    request = replace(
        _request(model, "chat", "Write the word harbour down with the tool take_note."), tools=(_TOOL,)
    )
    try:
        answer = await _asked(provider, request, _Heard(time.monotonic()))
    except ModelCallFailed as failure:
        trial = _failed("tools", failure)
        return replace(trial, next=f"Runs with tools need them. {trial.next}")
    if not answer.tool_calls:
        return Trial(
            "tools",
            "poor",
            "took the tools but called none; it may ignore them",
            "Take a model, or start the server in a mode, that calls tools; runs with tools need them.",
        )
    call = answer.tool_calls[0]
    if call.problem or set(call.arguments) != {"word"}:
        what = call.problem or json.dumps(call.arguments, ensure_ascii=False)[:200]
        return Trial("tools", "poor", f"called with arguments that do not fit: {what}", "Expect corrections.")
    return Trial("tools", "good", "calls tools with arguments that fit")


async def _keeps_to_a_schema(provider: Provider, model: str) -> Trial:
    asked = 'Answer with a JSON object: "word" is "harbour" and "length" the number of its letters.'
    request = replace(_request(model, "chat", asked), response_schema=_FORM)
    try:
        answer = await _asked(provider, request, _Heard(time.monotonic()))
        read = read_form(answer.text, _FORM)
    except ModelCallFailed as failure:
        return _failed("JSON Schema", failure)
    except ModelMistake as mistake:
        return Trial(
            "JSON Schema", "poor", f"what came does not fit: {mistake.detail}"[:300], "Expect corrections."
        )
    if read.is_repaired:
        return Trial("JSON Schema", "poor", "what came fits once it is repaired", "Nothing need be done.")
    return Trial("JSON Schema", "good", "keeps to a schema")


async def _asked(provider: Provider, request: ModelRequest, heard: _Heard) -> ModelAnswer:
    try:
        async with asyncio.timeout(CALL_SECONDS):
            return await provider.answer(request, heard.take)
    except TimeoutError:
        detail = f"There was no whole answer within {CALL_SECONDS:.0f} seconds."
        raise ModelCallFailed("timeout", detail, "Try again, or take a faster model.") from None


def _request(model: str, purpose: str, words: str) -> ModelRequest:
    messages = (Message("system", "You are being tried out. Be brief."), Message("user", words))
    return ModelRequest(
        call_id="trial", purpose=purpose, role="executor", model=model, messages=messages, temperature=0.0
    )


def _failed(what: str, failure: ModelCallFailed) -> Trial:
    return Trial(what, "bad", f"{failure.fault}: {failure.detail}", failure.next_step)
