"""A window of bytes shown as text, as `read_file` and `read_artifact` show it."""

from __future__ import annotations

from typing import Any, Final

from outlast.domain.bounded import head_length

MOST_SHOWN_BYTES: Final = 16_000
"""How much is shown at once, so that the answer stays below what a model sees of one call."""

WINDOW_PROPERTIES: Final[dict[str, Any]] = {
    "offset": {"type": "integer", "minimum": 0, "default": 0, "description": "The byte to begin at."},
    "limit": {
        "type": "integer",
        "minimum": 4,
        "maximum": MOST_SHOWN_BYTES,
        "default": MOST_SHOWN_BYTES,
        "description": "At most so many bytes.",
    },
}
"""The part of an input schema that asks for a window."""


def window(data: bytes, offset: int, limit: int, size_bytes: int) -> dict[str, Any]:
    """`text`, `size_bytes` of the whole, and where there is more the `next_offset`; `note` says that bytes
    were lost.

    `data` are the bytes from `offset` on, at least `limit` + 4 of them where there are so many. No character
    is split.
    """
    part = data[: head_length(data, limit)]
    shown: dict[str, Any] = {"text": part.decode("utf-8", "replace"), "size_bytes": size_bytes}
    if offset + len(part) < size_bytes:
        shown["next_offset"] = offset + len(part)
    if lost := _lost(part):
        shown["note"] = (
            f"Not all of this is UTF-8: {lost} places are shown as \ufffd, so do not quote or hash it."
        )
    return shown


def is_binary(data: bytes) -> bool:
    """Are these the first bytes of something that is no text?"""
    return b"\0" in data[:8000]


def _lost(part: bytes) -> int:
    try:
        part.decode("utf-8")
    except UnicodeDecodeError:
        return part.decode("utf-8", "replace").count("\ufffd") - part.count("\ufffd".encode())
    return 0
