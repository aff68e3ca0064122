"""Every quirk of real servers, from a real socket, each byte of it alone: what was meant comes out, or an error does."""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from typing import Any

import pytest

from outlast.adapters.providers.openai_compatible import OpenAICompatible
from outlast.domain.errors import ModelCallFailed
from outlast.domain.message import Message
from outlast.ports.provider import ModelAnswer, ModelRequest, ToolSchema
from tests.fake_endpoint import Reply, playing
from tests.law import law

PAGE = ToolSchema("page", "Read a page", {"type": "object", "properties": {"url": {"type": "string"}}})


@dataclass(frozen=True)
class Quirk:
    """What a server sends, and what it means: text, calls as (name, arguments), or a fault."""

    name: str
    sent: bytes
    text: str = ""
    calls: list[tuple[str, dict[str, Any]]] = field(default_factory=list)
    fault: str | None = None
    reasoning: str | None = None
    status: int = 200
    media_type: str = "text/event-stream"
    problems: int = 0


def events(*chunks: object, done: bool = True, end: str = "\n\n") -> bytes:
    """Chunks as a stream of events; texts stand as they are."""
    lines = [chunk if isinstance(chunk, str) else f"data: {json.dumps(chunk)}" for chunk in chunks]
    return "".join(line + end for line in [*lines, *(["data: [DONE]"] if done else [])]).encode()


def says(finish: str | None = None, usage: object = None, **delta: object) -> dict[str, Any]:
    """One chunk of a completion."""
    chunk: dict[str, Any] = {"choices": [{"index": 0, "delta": delta, "finish_reason": finish}]}
    return chunk if usage is None else {**chunk, "usage": usage}


def asks(index: int | None, call: str | None, name: str | None, arguments: object) -> dict[str, Any]:
    """A piece of a tool call."""
    piece: dict[str, Any] = {"function": {}}
    if index is not None:
        piece["index"] = index
    if call is not None:
        piece["id"] = call
    if name is not None:
        piece["function"]["name"] = name
    if arguments is not None:
        piece["function"]["arguments"] = arguments
    return says(tool_calls=[piece])


A, B = ("page", {"url": "a"}), ("page", {"url": "b"})
ENDED = says("tool_calls")

QUIRKS = [
    Quirk(
        "g02_01 no id and no index on later pieces",
        events(asks(0, "x", "page", '{"url"'), asks(None, None, None, ': "a"}'), ENDED),
        calls=[A],
    ),
    Quirk("g02_01 one newline between events", events(says(content="Hi"), says("stop"), end="\n"), text="Hi"),
    Quirk(
        "g02_01 line ends of another system",
        events(says(content="Hi"), says("stop"), end="\r\n\r\n"),
        text="Hi",
    ),
    Quirk("g02_02 a call without an id", events(asks(0, None, "page", '{"url": "a"}'), ENDED), calls=[A]),
    Quirk("g02_02 an empty id", events(asks(0, "", "page", '{"url": "a"}'), ENDED), calls=[A]),
    Quirk(
        "g02_03 every call under index 0",
        events(asks(0, "x", "page", '{"url": "a"}'), asks(0, "y", "page", '{"url": "b"}'), ENDED),
        calls=[A, B],
    ),
    Quirk(
        "g02_03 two calls side by side",
        events(
            asks(0, "x", "page", ""),
            asks(1, "y", "page", ""),
            asks(1, None, None, '{"url": "b"}'),
            asks(0, None, None, '{"url": "a"}'),
            ENDED,
        ),
        calls=[A, B],
    ),
    Quirk("g02_06 arguments as an object", events(asks(0, "x", "page", {"url": "a"}), ENDED), calls=[A]),
    Quirk("g02_06 null for no arguments", events(asks(0, "x", "page", None), ENDED), calls=[("page", {})]),
    Quirk("g02_06 nothing for no arguments", events(asks(0, "x", "page", ""), ENDED), calls=[("page", {})]),
    Quirk(
        "g02_06 a list for arguments",
        events(asks(0, "x", "page", "[1]"), ENDED),
        calls=[("page", {})],
        problems=1,
    ),
    Quirk(
        "g02_07 an error in the middle",
        events(
            says(content="Hal"), {"error": {"message": "Overloaded", "code": 503, "type": "overloaded_error"}}
        ),
        fault="overload",
    ),
    Quirk(
        "g02_07 an event named error",
        events(says(content="Hal"), 'event: error\ndata: {"message": "boom"}', done=False),
        fault="cut_stream",
    ),
    Quirk(
        "g02_08 keep-alives and noise",
        events(": keep-alive", says(content="Hi"), "data:", ": OPENROUTER PROCESSING", says("stop")),
        text="Hi",
    ),
    Quirk("g02_09 cut before the end", events(says(content="Hal"), done=False), fault="cut_stream"),
    Quirk("g02_09 cut in the middle of an event", events(says(content="Hal"))[:-30], fault="cut_stream"),
    Quirk("g02_09 nothing but the end", events(), fault="cut_stream"),
    Quirk(
        "g02_12 wait, in a body",
        b'{"error": {"message": "Please retry in 2.5s"}}',
        fault="rate_limit",
        status=429,
    ),
    Quirk(
        "g02_13 too long, in one server's words",
        b'{"error": {"message": "This model\'s maximum context length is 8192 tokens."}}',
        fault="context_exceeded",
        status=400,
    ),
    Quirk(
        "g02_13 too long, in another's",
        b'{"error": {"code": 400, "type": "exceed_context_size_error", "message": "the request exceeds"}}',
        fault="context_exceeded",
        status=400,
    ),
    Quirk(
        "g02_15 usage after the finish, without choices",
        events(
            says(content="Hi"),
            says("stop"),
            {"choices": [], "usage": {"prompt_tokens": 3, "completion_tokens": 4}},
        ),
        text="Hi",
    ),
    Quirk(
        "g02_15 usage as null until the end",
        events(
            {**says(content="Hi"), "usage": None}, says("stop", {"prompt_tokens": 3, "completion_tokens": 4})
        ),
        text="Hi",
    ),
    Quirk(
        "g02_16 reasoning under one name",
        events(says(reasoning_content="hm"), says(content="Hi"), says("stop")),
        text="Hi",
        reasoning="hm",
    ),
    Quirk(
        "g02_16 reasoning under another",
        events(says(reasoning="hm"), says(content="Hi"), says("stop")),
        text="Hi",
        reasoning="hm",
    ),
    Quirk(
        "g03_05 one broken call beside a whole one",
        events(asks(0, "x", "page", '{"url": '), asks(1, "y", "page", '{"url": "b"}'), ENDED),
        calls=[("page", {}), B],
        problems=1,
    ),
    Quirk(
        "g03_08 two calls under one id",
        events(asks(0, "x", "page", '{"url": "a"}'), asks(1, "x", "page", '{"url": "b"}'), ENDED),
        calls=[A, B],
    ),
    Quirk(
        "g01_04 a whole message though a stream was asked for",
        json.dumps({"choices": [{"message": {"content": "Hi 你好 🙂"}, "finish_reason": "stop"}]}).encode(),
        text="Hi 你好 🙂",
        media_type="application/json",
    ),
    Quirk(
        "content in parts",
        events(says(content=[{"type": "text", "text": "Hi"}]), says("stop")),
        text="Hi",
    ),
    Quirk(
        "a web page instead of an answer",
        b"<html><body>Login</body></html>",
        fault="bad_request",
        media_type="text/html",
    ),
    Quirk(
        "a gateway's own words",
        b"upstream connect error",
        fault="overload",
        status=502,
        media_type="text/plain",
    ),
]


async def outcome_of(quirk: Quirk, size: int) -> ModelAnswer | ModelCallFailed:
    """What comes of a reply that is written in pieces of `size` bytes."""
    pieces = [quirk.sent[at : at + size] for at in range(0, len(quirk.sent), size)]
    request = ModelRequest(
        call_id="m1",
        purpose="chat",
        role="executor",
        model="m",
        messages=(Message("user", "go"),),
        tools=(PAGE,),
    )
    async with playing(Reply(pieces, quirk.status, {"content-type": quirk.media_type})) as endpoint:
        provider = OpenAICompatible(endpoint.base_url, timeout_seconds=20, idle_timeout_seconds=20)
        try:
            return await provider.answer(request, lambda piece: None)
        except ModelCallFailed as failure:
            return failure
        finally:
            await provider.close()


@law("MODEL-1.a", "MODEL-1.b")
@pytest.mark.parametrize("size", [1, 7, 1_000_000])
@pytest.mark.parametrize("quirk", QUIRKS, ids=lambda quirk: quirk.name)
async def test_what_was_meant_comes_out_or_an_error_does(quirk: Quirk, size: int) -> None:
    came = await outcome_of(quirk, size)
    if quirk.fault is not None:
        assert isinstance(came, ModelCallFailed), came
        assert (came.fault, bool(came.next_step)) == (quirk.fault, True), came
        return
    assert isinstance(came, ModelAnswer), came
    assert came.text == quirk.text
    assert [(call.name, call.arguments) for call in came.tool_calls] == quirk.calls
    assert sum(call.problem is not None for call in came.tool_calls) == quirk.problems
    assert came.reasoning == quirk.reasoning
