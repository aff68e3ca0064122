"""The body of an answer, decoded by us and never beyond a limit."""

from __future__ import annotations

import zlib
from collections.abc import AsyncIterator
from typing import Final

from outlast.domain.errors import ToolTrouble

ACCEPTED_ENCODINGS: Final = "gzip, identity"

_STEP_BYTES: Final = 64 * 1024


async def read_body(
    chunks: AsyncIterator[bytes], content_encoding: str, limit_bytes: int
) -> tuple[bytes, bool]:
    """At most `limit_bytes` of the decoded body, and whether there was more.

    Neither the bytes on the wire nor the decoded ones in memory exceed the limit by more than one chunk. Raises ToolTrouble:
    `fetch_refused` for encodings that were not asked for (`br`, `zstd`, one in another), `fetch_failed` for a damaged one.
    """
    encodings = [name.strip().lower() for name in content_encoding.split(",") if name.strip()]
    encodings = [name for name in encodings if name != "identity"]
    if not encodings:
        return await _plain(chunks, limit_bytes)
    if encodings not in (["gzip"], ["x-gzip"]):
        raise ToolTrouble(
            "fetch_refused",
            f"The server answered in the encoding {content_encoding[:80]!r}; only gzip or none was asked for.",
            "Use another source.",
        )
    return await _gunzipped(chunks, limit_bytes)


async def _plain(chunks: AsyncIterator[bytes], limit_bytes: int) -> tuple[bytes, bool]:
    body = bytearray()
    async for chunk in chunks:
        body += chunk[: limit_bytes + 1 - len(body)]
        if len(body) > limit_bytes:
            break
    return bytes(body[:limit_bytes]), len(body) > limit_bytes


async def _gunzipped(chunks: AsyncIterator[bytes], limit_bytes: int) -> tuple[bytes, bool]:
    body = bytearray()
    wire_bytes = 0
    decoder = _Gunzip()
    async for chunk in chunks:
        wire_bytes += len(chunk)
        decoder.feed(chunk)
        while len(body) <= limit_bytes and (
            piece := decoder.next_piece(min(_STEP_BYTES, limit_bytes + 1 - len(body)))
        ):
            body += piece
        if len(body) > limit_bytes or wire_bytes > limit_bytes:
            return bytes(body[:limit_bytes]), True
    if wire_bytes and not decoder.is_complete:
        raise ToolTrouble(
            "fetch_failed", "The answer broke off in the middle.", "Try again later, or use another source."
        )
    return bytes(body), False


class _Gunzip:
    """Decodes gzip members one after another, a bounded piece at a time."""

    def __init__(self) -> None:
        self._waiting = b""
        self._member = zlib.decompressobj(zlib.MAX_WBITS | 16)
        self._members = 0

    @property
    def is_complete(self) -> bool:
        """Was at least one member whole?"""
        return self._members > 0

    def feed(self, data: bytes) -> None:
        self._waiting += data

    def next_piece(self, limit_bytes: int) -> bytes:
        """The next decoded bytes, at most `limit_bytes`; empty when more must be fed."""
        # What a decoder holds back at the end of a chunk comes with the next: the trailer of a member is always still to come.
        while self._waiting:
            piece = self._decoded(limit_bytes)
            if piece:
                return piece
        return b""

    def _decoded(self, limit_bytes: int) -> bytes:
        data, self._waiting = self._waiting, b""
        try:
            piece = self._member.decompress(data, limit_bytes)
        except zlib.error as error:
            return self._after_damage(error)
        self._waiting = self._member.unconsumed_tail
        if self._member.eof:
            self._members += 1
            self._waiting = self._member.unused_data
            self._member = zlib.decompressobj(zlib.MAX_WBITS | 16)
        return piece

    def _after_damage(self, error: zlib.error) -> bytes:
        """Padding after a whole member is common and harmless; anything else is damage."""
        if not self._members:
            raise ToolTrouble(
                "fetch_failed", f"The answer is damaged: {error}.", "Use another source."
            ) from error
        return b""
