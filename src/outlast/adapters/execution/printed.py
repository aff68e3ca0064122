"""What a tool's processes print: all of it counted, head and tail of it kept, bytes that are no text named as such."""

from __future__ import annotations

from dataclasses import field
from typing import Final

from outlast.domain.bounded import head_length, tail_start
from outlast.domain.dataclass import dataclass
from outlast.ports.tool import Artifacts

_KEPT_BYTES: Final = 512 * 1024
_SNIFFED_BYTES: Final = 8_000


@dataclass(slots=True)
class Printed:
    """The first and last half mebibyte of a stream of any length; `size_bytes` is the length of the whole."""

    head: bytearray = field(default_factory=bytearray)
    tail: bytearray = field(default_factory=bytearray)
    size_bytes: int = 0

    def add(self, data: bytes) -> None:
        """Take in the next bytes of the stream."""
        self.size_bytes += len(data)
        if room := _KEPT_BYTES - len(self.head):
            self.head += data[:room]
            data = data[room:]
        self.tail += data
        if len(self.tail) > 2 * _KEPT_BYTES:
            del self.tail[:-_KEPT_BYTES]

    @property
    def is_whole(self) -> bool:
        """Was nothing left out?"""
        return len(self.head) + len(self.tail) == self.size_bytes

    async def text(self, artifacts: Artifacts) -> str:
        """The stream as text, with a note of what was left out or was no text.

        Binary output is kept as an artifact when all of it is there, and described.
        """
        if self.is_whole:
            return await as_text(bytes(self.head + self.tail), artifacts)
        if _is_binary(self.head):
            return _binary_note(bytes(self.head), self.size_bytes, "too long to be kept")
        head = bytes(self.head[: head_length(bytes(self.head), len(self.head) - 1)])
        tail = bytes(self.tail[-_KEPT_BYTES:])
        tail = tail[tail_start(tail, len(tail)) :]
        left_out = self.size_bytes - len(head) - len(tail)
        note = f"\n[... {left_out} of {self.size_bytes} bytes of output are left out here ...]\n"
        return _decoded(head) + note + _decoded(tail)


async def as_text(data: bytes, artifacts: Artifacts) -> str:
    """`data` as text: UTF-8, with a note when bytes were lost; binary data is kept as an artifact and described."""
    if _is_binary(data):
        return _binary_note(data, len(data), f"kept as artifact {await artifacts.put(data)}")
    return _decoded(data)


def _is_binary(data: bytes | bytearray) -> bool:
    return b"\0" in data[:_SNIFFED_BYTES]


def _binary_note(data: bytes, size_bytes: int, whereabouts: str) -> str:
    begins = data[: data.index(b"\0")][:200].decode("utf-8", "replace")
    return f"[Binary output, {size_bytes} bytes, {whereabouts}. It begins: {begins}]"


def _decoded(data: bytes) -> str:
    try:
        return data.decode("utf-8")
    except UnicodeDecodeError:
        text = data.decode("utf-8", "replace")
    lost = text.count("\ufffd") - data.count("\ufffd".encode())
    return f"{text}\n[Not all of this is UTF-8: {lost} places are shown as \ufffd; do not quote, hash or compare it.]"
