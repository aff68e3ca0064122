"""A ModelRequest as the body of a chat completion. Pure: the same request in the same dialect is the same
bytes."""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Mapping
from typing import Any, Final

from outlast.adapters.providers.openai_compatible.dialect import Dialect
from outlast.domain.door import Json, clean_text
from outlast.domain.message import Message
from outlast.domain.tool_call import ToolCall
from outlast.ports.provider import ModelRequest, ToolSchema

_MAX_NAME_CHARACTERS: Final = 64
_VALID_NAME: Final = re.compile(rf"[a-zA-Z0-9_-]{{1,{_MAX_NAME_CHARACTERS}}}")
_INVALID_CHARACTER: Final = re.compile(r"[^a-zA-Z0-9_-]")


def wire_body(request: ModelRequest, dialect: Dialect) -> bytes:
    """The body to post, always asking for a stream."""
    body: dict[str, Any] = {"model": request.model, "messages": _messages(request, dialect), "stream": True}
    if dialect.states_usage:
        body["stream_options"] = {"include_usage": True}
    if request.tools:
        body["tools"] = [_tool(tool) for tool in request.tools]
    if request.response_schema is not None and dialect.structured != "none":
        body["response_format"] = _response_format(request, dialect)
    if dialect.takes_temperature:
        body["temperature"] = request.temperature
    if request.max_tokens is not None:
        body[dialect.limit_name] = request.max_tokens
    return clean_text(json.dumps(body, ensure_ascii=False, separators=(",", ":"), default=dict)).encode()


def wire_name(name: str) -> str:
    """The name a tool has on the wire: its own when endpoints take it, else one made from it that meets no
    other.

    Endpoints take 1 to 64 letters, digits, `_` and `-`; our names may hold a colon (`server:tool`) or be
    longer.
    """
    if _VALID_NAME.fullmatch(name):
        return name
    mark = hashlib.sha256(name.encode("utf-8", "surrogatepass")).hexdigest()[:8]
    return f"{_INVALID_CHARACTER.sub('_', name)[: _MAX_NAME_CHARACTERS - len(mark) - 1]}_{mark}"


def own_names(request: ModelRequest) -> dict[str, str]:
    """From names on the wire back to the tools' own."""
    return {wire_name(tool.name): tool.name for tool in request.tools}


def _messages(request: ModelRequest, dialect: Dialect) -> list[dict[str, Any]]:
    messages = [_message(message, dialect) for message in request.messages]
    if request.response_schema is None or dialect.structured == "json_schema":
        return messages
    wish = "Answer with one JSON value and nothing else. It must fit this JSON Schema:\n" + json.dumps(
        request.response_schema, ensure_ascii=False, default=dict
    )
    if messages and messages[0]["role"] == "system":
        messages[0] = {**messages[0], "content": f"{messages[0]['content']}\n\n{wish}"}
        return messages
    return [{"role": "system", "content": wish}, *messages]


def _message(message: Message, dialect: Dialect) -> dict[str, Any]:
    if message.speaker == "tool":
        return {"role": "tool", "tool_call_id": message.tool_call_id, "content": message.text}
    wire: dict[str, Any] = {"role": message.speaker, "content": message.text}
    if message.tool_calls:
        wire["content"] = message.text or None
        wire["tool_calls"] = [_call(call) for call in message.tool_calls]
    if message.reasoning and dialect.takes_reasoning:
        wire["reasoning_content"] = message.reasoning
    return wire


def _call(call: ToolCall) -> dict[str, Any]:
    arguments = json.dumps(call.arguments, ensure_ascii=False)
    return {
        "id": call.id,
        "type": "function",
        "function": {"name": wire_name(call.name), "arguments": arguments},
    }


def _tool(tool: ToolSchema) -> dict[str, Any]:
    return {
        "type": "function",
        "function": {
            "name": wire_name(tool.name),
            "description": tool.description,
            "parameters": tool.input_schema,
        },
    }


def _response_format(request: ModelRequest, dialect: Dialect) -> dict[str, Any]:
    schema = request.response_schema
    if dialect.structured == "json_object" or schema is None:
        return {"type": "json_object"}
    name = wire_name(request.purpose or "answer")
    return {
        "type": "json_schema",
        "json_schema": {"name": name, "schema": schema, "strict": _can_be_strict(schema)},
    }


def _can_be_strict(schema: Json | Mapping[str, Json]) -> bool:
    """Whether every object closes its properties and requires them all: strict endpoints refuse other
    schemas."""
    if isinstance(schema, list):
        return all(map(_can_be_strict, schema))
    if not isinstance(schema, Mapping):
        return True
    properties, required = schema.get("properties"), schema.get("required")
    if isinstance(properties, Mapping):
        required_names = set(required) if isinstance(required, list) else set()
        if schema.get("additionalProperties") is not False or required_names != set(properties):
            return False
    elif schema.get("type") == "object":
        return False
    return all(map(_can_be_strict, schema.values()))
