"""What every model provider promises, as tests to inherit.

class TestMyProvider(ProviderContract):
    @pytest.fixture
    async def subject(self) -> AsyncIterator[ProviderSubject]:
        ...
        yield ProviderSubject(provider=..., speaking=..., calling=..., stuck=...)
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from dataclasses import replace

import pytest

from outlast.domain.dataclass import dataclass
from outlast.domain.door import stored_form
from outlast.domain.message import Message
from outlast.ports.provider import Delta, ModelAnswer, ModelRequest, Provider, ToolSchema

_PATIENCE_SECONDS = 10.0


async def _nothing() -> None:
    """No outside to look at."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ProviderSubject:
    """The provider under test, with requests whose answers the test side has arranged.

    `speaking` is answered with text, `calling` with at least two tool calls, `stuck` never. `until_stuck`
    waits until the stuck call has reached the endpoint, `until_dropped` until the endpoint has seen it given
    up; both are bounded by the contract.
    """

    provider: Provider
    speaking: ModelRequest
    calling: ModelRequest
    stuck: ModelRequest
    until_stuck: Callable[[], Awaitable[None]] = _nothing
    until_dropped: Callable[[], Awaitable[None]] = _nothing


class ProviderContract:
    """Inherit, and give a fixture `subject`."""

    pytestmark = pytest.mark.asyncio

    async def test_pieces_add_up_to_the_text(self, subject: ProviderSubject) -> None:
        answer, pieces = await _ask(subject.provider, subject.speaking)
        assert answer.text
        assert "".join(piece.text for piece in pieces) == answer.text
        assert "".join(piece.reasoning for piece in pieces) in ("", answer.reasoning)
        assert answer.finish == "stop"

    async def test_calls_have_storable_objects_as_arguments(self, subject: ProviderSubject) -> None:
        answer, _ = await _ask(subject.provider, subject.calling)
        assert len(answer.tool_calls) > 1
        assert answer.finish == "tool_calls"
        for call in answer.tool_calls:
            assert type(call.arguments) is dict
            assert stored_form(call.arguments) == call.arguments
            assert call.name in {tool.name for tool in subject.calling.tools}
            assert (call.problem is None) == (call.raw is None)

    async def test_ids_of_calls_are_unique_or_empty(self, subject: ProviderSubject) -> None:
        answer, _ = await _ask(subject.provider, subject.calling)
        given = [call.id for call in answer.tool_calls if call.id]
        assert len(set(given)) == len(given)

    async def test_usage_is_told_and_never_negative(self, subject: ProviderSubject) -> None:
        for request in (subject.speaking, subject.calling):
            usage = (await _ask(subject.provider, request))[0].usage
            assert usage.input_tokens > 0
            assert usage.output_tokens > 0
            assert usage.cost_usd is None or usage.cost_usd >= 0

    async def test_calls_at_the_same_time_do_not_mix(self, subject: ProviderSubject) -> None:
        requests = [subject.speaking, subject.calling] * 4
        alone = [await _ask(subject.provider, request) for request in requests]
        together = await asyncio.gather(*(_ask(subject.provider, request) for request in requests))
        assert [answer for answer, _ in together] == [answer for answer, _ in alone]
        for answer, pieces in together:
            assert "".join(piece.text for piece in pieces) == answer.text

    async def test_a_cancelled_call_is_given_up_and_the_next_one_works(
        self, subject: ProviderSubject
    ) -> None:
        call = asyncio.create_task(_ask(subject.provider, subject.stuck))
        async with asyncio.timeout(_PATIENCE_SECONDS):
            await subject.until_stuck()
            call.cancel()
            with pytest.raises(asyncio.CancelledError):
                await call
            await subject.until_dropped()
        answer, _ = await _ask(subject.provider, subject.speaking)
        assert answer.text

    async def test_closing_twice_is_fine(self, subject: ProviderSubject) -> None:
        await _ask(subject.provider, subject.speaking)
        await subject.provider.close()
        await subject.provider.close()

    async def test_more_text_never_counts_as_fewer_tokens(self, subject: ProviderSubject) -> None:
        count = subject.provider.count_tokens
        text = "Mixed scripts: naïve, Привет, 市场规模 2026, 🙂 {} []"
        counts = [count((Message("user", text[:length]),), ()) for length in range(len(text) + 1)]
        assert counts == sorted(counts)
        assert counts[0] < counts[-1]

    async def test_more_messages_and_tools_count_as_more_tokens(self, subject: ProviderSubject) -> None:
        count = subject.provider.count_tokens
        tool = ToolSchema("look", "Look at a page", {"type": "object", "properties": {}})
        one = (Message("user", "Hello"),)
        assert 0 <= count((), ()) < count(one, ()) < count(one * 2, ()) < count(one * 2, (tool,))

    async def test_the_call_id_does_not_change_the_answer(self, subject: ProviderSubject) -> None:
        renamed = replace(subject.speaking, call_id=subject.speaking.call_id + "-again")
        assert (await _ask(subject.provider, renamed))[0] == (await _ask(subject.provider, subject.speaking))[
            0
        ]


async def _ask(provider: Provider, request: ModelRequest) -> tuple[ModelAnswer, list[Delta]]:
    pieces: list[Delta] = []
    async with asyncio.timeout(_PATIENCE_SECONDS):
        return await provider.answer(request, pieces.append), pieces
