"""The OpenAI-compatible provider keeps the provider contract over a real socket."""

from collections.abc import AsyncIterator
from dataclasses import replace

import pytest

from outlast.adapters.providers.openai_compatible import OpenAICompatible
from outlast.domain.message import Message
from outlast.ports.provider import ModelRequest, ToolSchema
from outlast.testing.contracts.provider import ProviderContract, ProviderSubject
from tests.fake_endpoint import (
    DONE,
    SAYS_HELLO,
    FakeEndpoint,
    Received,
    Reply,
    Then,
    delta,
    json_reply,
    playing,
    sse,
)

LOOK = ToolSchema(
    "web:look", "Look at a page", {"type": "object", "properties": {"page": {"type": "integer"}}}
)
SPEAKING = ModelRequest(
    call_id="c1", purpose="chat", role="executor", model="m", messages=(Message("user", "Hello"),)
)
CALLING = replace(SPEAKING, tools=(LOOK,))
STUCK = replace(SPEAKING, model="stuck")
STARTED = sse(delta(content="Well"))


def calls_of(request: Received) -> list[dict[str, object]]:
    name = request.body["tools"][0]["function"]["name"]
    return [
        {
            "index": index,
            "id": f"call_{index}",
            "function": {"name": name, "arguments": f'{{"page": {index}}}'},
        }
        for index in range(2)
    ]


def streamed(request: Received) -> Reply:
    if request.body["model"] == "stuck":
        return Reply([STARTED, Then.HANG])
    if "tools" in request.body:
        return Reply(
            [sse(*(delta(tool_calls=[call]) for call in calls_of(request)), delta("tool_calls"), DONE)]
        )
    return Reply([SAYS_HELLO])


def at_once(request: Received) -> Reply:
    if request.body["model"] == "stuck":
        return Reply([Then.HANG])
    message: dict[str, object] = {"role": "assistant", "content": "Guten Tag"}
    if "tools" in request.body:
        message = {"role": "assistant", "content": None, "tool_calls": calls_of(request)}
    return json_reply({"choices": [{"message": message, "finish_reason": "stop"}]})


def subject_of(endpoint: FakeEndpoint) -> ProviderSubject:
    async def until_stuck() -> None:
        await endpoint.hanging.wait()

    async def until_dropped() -> None:
        await endpoint.dropped.wait()

    return ProviderSubject(
        provider=OpenAICompatible(endpoint.base_url, "sk-secret-key"),
        speaking=SPEAKING,
        calling=CALLING,
        stuck=STUCK,
        until_stuck=until_stuck,
        until_dropped=until_dropped,
    )


class TestStreaming(ProviderContract):
    @pytest.fixture
    async def subject(self) -> AsyncIterator[ProviderSubject]:
        async with playing(streamed) as endpoint:
            subject = subject_of(endpoint)
            yield subject
            await subject.provider.close()


class TestAServerThatDoesNotStream(ProviderContract):
    @pytest.fixture
    async def subject(self) -> AsyncIterator[ProviderSubject]:
        async with playing(at_once) as endpoint:
            subject = subject_of(endpoint)
            yield subject
            await subject.provider.close()
