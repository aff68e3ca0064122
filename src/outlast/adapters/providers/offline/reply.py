"""What the model says back, before it is streamed."""

from __future__ import annotations

import json

from outlast.domain.dataclass import dataclass
from outlast.domain.door import Json
from outlast.domain.tool_call import ToolCall


@dataclass(frozen=True, slots=True)
class Reply:
    """Text, or calls of tools."""

    text: str = ""
    calls: tuple[ToolCall, ...] = ()


def json_reply(value: Json) -> Reply:
    """A reply whose text is one JSON value."""
    return Reply(json.dumps(value, ensure_ascii=False))


def call(tool: str, **arguments: Json) -> ToolCall:
    """A call without an id: the engine names it."""
    return ToolCall("", tool, dict(arguments))
