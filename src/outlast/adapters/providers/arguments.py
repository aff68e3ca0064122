"""What a model sent as arguments, made a ToolCall that is safe to keep: an object, or a named problem."""

from __future__ import annotations

import json
from collections.abc import Mapping

from outlast.domain.door import Json, clean_text, parse_json, stored_form
from outlast.domain.errors import ModelMistake
from outlast.domain.tool_call import ToolCall


def read_call(call_id: str, name: str, sent: object) -> ToolCall:
    """The call a model meant by `sent`: the text of its arguments, or the value where a server already parsed
    it.

    Nothing, an empty text and `null` mean no arguments. An object is taken as it is. Everything else (invalid
    JSON, a list, a scalar, what cannot be stored) gives empty `arguments` with `problem` and `raw` set: such
    a call never runs, and its place in the conversation stays valid JSON.
    """
    try:
        arguments = _object(sent)
    except ModelMistake as mistake:
        return ToolCall(call_id, name, problem=mistake.detail, raw=_as_text(sent))
    return ToolCall(call_id, name, arguments)


def _object(sent: object) -> dict[str, Json]:
    if isinstance(sent, str):
        sent = parse_json(sent) if sent.strip() else None
    if sent is None:
        return {}
    if not isinstance(sent, Mapping):
        raise ModelMistake(
            "invalid_arguments",
            f"The arguments must be a JSON object, not {_kind(sent)}.",
            "Send a JSON object.",
        )
    stored = stored_form(sent)
    assert isinstance(stored, dict)
    return stored


def _as_text(sent: object) -> str:
    return clean_text(sent if isinstance(sent, str) else json.dumps(sent, ensure_ascii=False, default=str))


def _kind(value: object) -> str:
    names = {str: "a string", list: "a list", bool: "a boolean", int: "a number", float: "a number"}
    return names.get(type(value), f"a {type(value).__name__}")
