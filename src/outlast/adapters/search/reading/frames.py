"""How parent and child talk: a JSON header and a body, each preceded by its length."""

from __future__ import annotations

import json
import struct
from typing import Any, Final, Protocol

MAX_FRAME_BYTES: Final = 64 * 1024 * 1024
_LENGTHS = struct.Struct(">II")


class _Reader(Protocol):
    def read(self, size: int, /) -> bytes: ...


def pack(header: dict[str, Any], body: bytes = b"") -> bytes:
    """One frame."""
    head = json.dumps(header).encode()
    return _LENGTHS.pack(len(head), len(body)) + head + body


def unpack(reader: _Reader) -> tuple[dict[str, Any], bytes] | None:
    """The next frame, or None at the end of the stream. Raises ValueError for a frame over MAX_FRAME_BYTES or cut short."""
    lengths = reader.read(_LENGTHS.size)
    if len(lengths) < _LENGTHS.size:
        return None
    head_size, body_size = _LENGTHS.unpack(lengths)
    if head_size + body_size > MAX_FRAME_BYTES:
        raise ValueError("a frame is too large")
    head, body = reader.read(head_size), reader.read(body_size)
    if len(head) < head_size or len(body) < body_size:
        raise ValueError("a frame is cut short")
    return json.loads(head), body
