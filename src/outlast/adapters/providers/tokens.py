"""How many tokens a text would take, estimated offline, in any script, in time linear in its bytes.

The estimate counts characters by class, read off the lead bytes of UTF-8, because a tokenizer's own tables
are tens of megabytes, differ from model to model and mostly have to be downloaded. It aims a little high: a
budget that is reached early costs a compression, one reached late costs a refused call. Where the server
states its usage, that is what counts.
"""

from __future__ import annotations

import json
import math
from collections.abc import Sequence
from typing import Final

from outlast.domain.by_identity import by_identity
from outlast.domain.door import json_writer
from outlast.domain.message import Message
from outlast.ports.provider import ToolSchema

_LETTERS: Final = bytes(range(0x41, 0x5B)) + bytes(range(0x61, 0x7B)) + b" "
_SIGNS: Final = bytes(byte for byte in range(0x80) if byte not in _LETTERS)
_TWO_BYTES: Final = bytes(range(0xC0, 0xE0))  # accents, Greek, Cyrillic, Hebrew, Arabic
_THREE_BYTES: Final = bytes(range(0xE0, 0xE3))  # Indic, Thai, typographic signs
_CJK: Final = bytes(range(0xE3, 0xF0))  # kana, Han, Hangul
_FOUR_BYTES: Final = bytes(range(0xF0, 0x100))  # emoji, rare Han

_LETTER_TOKENS: Final = 0.22
_SIGN_TOKENS: Final = 0.5
_TOKENS_PER_CHARACTER: Final = (
    (_LETTERS, _LETTER_TOKENS),
    (_SIGNS, _SIGN_TOKENS),
    (_TWO_BYTES, 0.5),
    (_THREE_BYTES, 0.8),
    (_CJK, 1.2),
    (_FOUR_BYTES, 2.5),
)
_spelled: Final = json_writer(spaced=True, escapes=True)
_MESSAGE_TOKENS: Final = 4
_TOOL_TOKENS: Final = 8


def estimate_tokens(text: str) -> int:
    """About how many tokens `text` takes. Never negative, 0 only for the empty text, never less for a longer
    text."""
    data = text.encode("utf-8", "surrogatepass")
    if text.isascii():
        signs = len(data.translate(None, _LETTERS))
        return math.ceil((len(data) - signs) * _LETTER_TOKENS + signs * _SIGN_TOKENS)
    return math.ceil(sum(_count(data, kind) * weight for kind, weight in _TOKENS_PER_CHARACTER))


def estimate_request_tokens(messages: Sequence[Message], tools: tuple[ToolSchema, ...]) -> int:
    """About how many input tokens a request with these messages and tools takes, framing included."""
    tokens = 0
    for message in messages:
        tokens += _message_tokens(message)
    for tool in tools:
        tokens += _tool_tokens(tool)
    return tokens


def _count(data: bytes, kind: bytes) -> int:
    return len(data) - len(data.translate(None, kind))


def _message_tokens(message: Message) -> int:
    tokens = _MESSAGE_TOKENS + estimate_tokens(message.text)
    for call in message.tool_calls:
        tokens += _MESSAGE_TOKENS + estimate_tokens(call.name + _spelled(call.arguments))
    return tokens


def _tokens_of_schema(tool: ToolSchema) -> int:
    schema = json.dumps(tool.input_schema, default=str)
    return _TOOL_TOKENS + estimate_tokens(tool.name + tool.description + schema)


_tool_tokens: Final = by_identity(_tokens_of_schema, 200)
