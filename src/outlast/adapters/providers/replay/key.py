"""The key of a call: what was asked, without what differs from run to run."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from typing import Any, Final

from outlast.domain.door import canonical_json, digest_of
from outlast.domain.message import Message
from outlast.ports.provider import ModelRequest

_PASSING: Final = (
    # Which of two parallel subtasks finds the other's result in the cache is a matter of moments.
    (re.compile(r"\n\[This is the result of the same call made at [^\]\n]*\]"), ""),
    (re.compile(r"<<(untrusted|end) [0-9a-f]{12}"), r"<<\1 NONCE"),
    (re.compile(r"\b[rt]-[0-9a-z]{16}\b"), "ID"),
    (re.compile(r"\b\d{4}-\d\d-\d\dT\d\d:\d\d(?::\d\d(?:\.\d+)?)?(?:Z|[+-]\d\d:\d\d)?"), "TIME"),
    (re.compile(r"\b\d{4}-\d\d-\d\d\b"), "DATE"),
    (re.compile(r'("steps?": ?)(?:\d+|\[[\d, ]*\])'), r"\1STEP"),
)


def key_of(request: ModelRequest, hide: Callable[[str], str]) -> str:
    """The key of a request, made after `hide` took the secrets out.

    Model, temperature and limits do not count: a recording answers for another model too.
    """
    asked = {
        "purpose": request.purpose,
        "role": request.role,
        "messages": _messages(request.messages),
        "tools": [[tool.name, dict(tool.input_schema)] for tool in request.tools],
        "schema": dict(request.response_schema) if request.response_schema is not None else None,
    }
    return digest_of(hide(canonical_json(asked)))[:32]


def settled(text: str) -> str:
    """A text with what differs from run to run put aside."""
    for pattern, word in _PASSING:
        text = pattern.sub(word, text)
    return text


def _messages(messages: Sequence[Message]) -> list[Any]:
    """Messages with calls counted instead of named: their ids come from positions of the journal."""
    numbers: dict[str, int] = {}
    return [
        [
            message.speaker,
            settled(message.text),
            [
                [
                    numbers.setdefault(call.id, len(numbers)),
                    call.name,
                    settled(canonical_json(call.arguments)),
                ]
                for call in message.tool_calls
            ],
            numbers.get(message.tool_call_id or ""),
        ]
        for message in messages
    ]
