"""Requests in one line, for tests of providers."""

import asyncio
from typing import Any

from outlast.domain.message import Message
from outlast.ports.provider import ModelAnswer, ModelRequest, Provider
from tests.patience import PATIENCE_SECONDS


def a_request(*messages: Message | str, **changes: Any) -> ModelRequest:
    """A request whose texts are the user's words."""
    spoken = tuple(Message("user", item) if isinstance(item, str) else item for item in messages)
    wanted: dict[str, Any] = {"call_id": "c1", "purpose": "chat", "role": "executor", "model": "m"}
    return ModelRequest(messages=spoken, **(wanted | changes))


async def ask(provider: Provider, request: ModelRequest) -> ModelAnswer:
    """The answer, within ten seconds."""
    async with asyncio.timeout(PATIENCE_SECONDS):
        return await provider.answer(request, lambda _: None)


def as_message(answer: ModelAnswer) -> Message:
    """The answer as it stands in the conversation afterwards."""
    return Message("assistant", answer.text, answer.tool_calls, reasoning=answer.reasoning)
