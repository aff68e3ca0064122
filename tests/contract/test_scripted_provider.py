"""The scripted provider keeps the provider contract."""

import asyncio
from dataclasses import replace

import pytest

from outlast.domain.message import Message
from outlast.ports.provider import ModelAnswer, ModelRequest, ToolSchema
from outlast.testing import ScriptedProvider
from outlast.testing.contracts.provider import ProviderContract, ProviderSubject

LOOK = ToolSchema("look", "Look at a page", {"type": "object", "properties": {"page": {"type": "integer"}}})
SPEAKING = ModelRequest(
    call_id="c1", purpose="chat", role="executor", model="m", messages=(Message("user", "Hello"),)
)
CALLING = replace(SPEAKING, purpose="execute", tools=(LOOK,))
STUCK = replace(SPEAKING, purpose="stuck")


class TestScriptedByEntries(ProviderContract):
    @pytest.fixture
    def subject(self) -> ProviderSubject:
        script = [
            {"when": {"purpose": "chat"}, "say": "Guten Tag, 你好 🙂", "reasoning": "They greet."},
            {
                "when": {"purpose": "execute"},
                "call": [{"tool": "look", "arguments": {"page": 1}}, {"tool": "look"}],
            },
            {"when": {"purpose": "stuck"}, "say": "too late", "delay_seconds": 3600},
        ]
        return ProviderSubject(
            provider=ScriptedProvider(script), speaking=SPEAKING, calling=CALLING, stuck=STUCK
        )


class TestScriptedByFunction(ProviderContract):
    @pytest.fixture
    def subject(self) -> ProviderSubject:
        stuck = asyncio.Event()
        entries = ScriptedProvider(
            [
                {"when": {"purpose": "chat"}, "say": "Hello"},
                {"when": {"purpose": "execute"}, "call": [{"tool": "look"}, {"tool": "look"}]},
            ]
        )

        async def answer(request: ModelRequest) -> ModelAnswer:
            if request.purpose == "stuck":
                stuck.set()
                await asyncio.Event().wait()
            return await entries.answer(request, lambda _: None)

        async def until_stuck() -> None:
            await stuck.wait()

        return ProviderSubject(
            provider=ScriptedProvider(answer),
            speaking=SPEAKING,
            calling=CALLING,
            stuck=STUCK,
            until_stuck=until_stuck,
        )
