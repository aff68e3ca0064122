"""From recorded bytes to an answer, without a network."""

from typing import Any

from outlast.adapters.providers.openai_compatible.chunks import Assembly
from outlast.adapters.providers.openai_compatible.request import own_names
from outlast.adapters.providers.openai_compatible.stream import EventReader
from outlast.domain.tool_call import ToolCall
from outlast.ports.provider import Delta, ModelAnswer
from tests.fake_endpoint import DONE, delta, sse
from tests.unit.adapters.providers.asking import a_request


def assembled(*pieces: bytes, **request: Any) -> tuple[Assembly, list[Delta]]:
    """The assembly after all of `pieces`, and what it told on the way."""
    asked = a_request("Hello", **request)
    assembly, reader = Assembly(asked, own_names(asked)), EventReader()
    events = [event for piece in pieces for event in reader.feed(piece)] + reader.end()
    told = [assembly.take(event) for event in events]
    return assembly, [*told, assembly.end()]


def answered(*pieces: bytes, **request: Any) -> ModelAnswer:
    """The answer `pieces` make."""
    return assembled(*pieces, **request)[0].answer()


def called(*deltas: object, finish: str = "tool_calls") -> tuple[ToolCall, ...]:
    """The calls that deltas of tool calls, one a chunk, make."""
    return answered(sse(*(delta(tool_calls=[item]) for item in deltas), delta(finish), DONE)).tool_calls
