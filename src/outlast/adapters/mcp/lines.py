"""The lines a program writes as messages: bounded, and what cannot be read is told to whoever waits for it."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from typing import Final

from mcp.shared.message import SessionMessage
from mcp_types import PARSE_ERROR, ErrorData, JSONRPCError, RequestId, jsonrpc_message_adapter
from pydantic import ValidationError

MOST_MESSAGE_BYTES: Final = 64 * 1024 * 1024
"""The largest message of a server that is read, whatever way it comes."""

UNREADABLE: Final = "Unreadable answer: "
"""How the message of an error begins that takes the place of an answer nobody can read."""

Item = SessionMessage | Exception

_MOST_TOLD: Final = 200
_OPENING: Final = re.compile(
    rb'\s*\{\s*"jsonrpc"\s*:\s*"2\.0"\s*,\s*"id"\s*:\s*(-?\d{1,18}|"[^"\\]{1,100}")\s*,\s*"(?:result|error)"'
)
"""How the answers of most libraries begin."""


class LineTooLong(Exception):
    """A line is longer than a message may be, or has no end."""


class Lines:
    """Puts lines together from the parts they come in. The work grows with what comes, and so much is kept as a line may have."""

    def __init__(self) -> None:
        self._held = bytearray()

    def take(self, part: bytes) -> Iterator[bytes]:
        """The lines that end in this part. Raises LineTooLong."""
        *ended, rest = part.split(b"\n")
        for end in ended:
            self._add(end)
            line = bytes(self._held)
            self._held.clear()
            yield line
        self._add(rest)

    def _add(self, part: bytes) -> None:
        if len(self._held) + len(part) > MOST_MESSAGE_BYTES:
            raise LineTooLong
        self._held += part


def message_in(line: bytes) -> Item:
    """The message in a line. One that answers a request but cannot be read is an error in answer to it; another is an exception."""
    text = line.decode("utf-8", "replace")
    try:
        return SessionMessage(jsonrpc_message_adapter.validate_json(text, by_name=False))
    except ValidationError as error:
        answered = _answered(text, line)
        if answered is None:
            return error
        first = error.errors(include_url=False, include_input=False)[0]
        told = ErrorData(code=PARSE_ERROR, message=UNREADABLE + str(first["msg"])[:_MOST_TOLD])
        return SessionMessage(JSONRPCError(jsonrpc="2.0", id=answered, error=told))


def _answered(text: str, line: bytes) -> RequestId | None:
    """The request that an unreadable line answers, as far as can be seen."""
    found = _OPENING.match(line)
    if found is not None:
        known: RequestId = json.loads(found[1])
        return known
    try:
        told = json.loads(text)
    except (ValueError, RecursionError):
        return None
    if not isinstance(told, dict) or "method" in told or not ("result" in told or "error" in told):
        return None
    request = told.get("id")
    return request if isinstance(request, int | str) and not isinstance(request, bool) else None
