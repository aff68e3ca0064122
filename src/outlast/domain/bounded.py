"""Long text cut down to what may be shown: head and tail stay, a note in the middle says what is missing."""

from __future__ import annotations

from typing import Final

from outlast.domain.dataclass import dataclass
from outlast.domain.door import clean_text
from outlast.domain.quick import quick

SHOWN_BYTES: Final = 20_000
"""How much of a tool's output a model sees, in bytes of UTF-8."""

LEAST_LIMIT_BYTES: Final = 500
"""The smallest limit there is, so that the note of what is missing always fits."""

_HEAD_SHARE: Final = 0.7


@quick
@dataclass(frozen=True, slots=True)
class Bounded:
    """A text as it is shown; `size_bytes` is the size of the whole in UTF-8, however much of it is shown."""

    shown: str
    is_cut: bool
    size_bytes: int


def bound(text: str, limit_bytes: int = SHOWN_BYTES, digest: str | None = None) -> Bounded:
    """`text` in at most `limit_bytes` bytes of UTF-8, the note of what is missing included; no character is
    split.

    A text within the limit comes back as it is, lone surrogates aside. With `digest`, the note says how to
    read on with `read_artifact`, whose offsets count bytes. Raises ValueError for a limit below
    LEAST_LIMIT_BYTES.
    """
    if limit_bytes < LEAST_LIMIT_BYTES:
        raise ValueError(f"limit_bytes is {limit_bytes}; the least is {LEAST_LIMIT_BYTES}")
    text = clean_text(text)
    whole = text.encode("utf-8")
    if len(whole) <= limit_bytes:
        return Bounded(text, is_cut=False, size_bytes=len(whole))
    room = limit_bytes - len(_note(len(whole), len(whole), digest, len(whole)).encode("utf-8"))
    head = whole[: head_length(whole, int(room * _HEAD_SHARE))]
    tail = whole[tail_start(whole, room - len(head)) :]
    note = _note(len(whole) - len(head) - len(tail), len(whole), digest, len(head))
    return Bounded(head.decode("utf-8") + note + tail.decode("utf-8"), is_cut=True, size_bytes=len(whole))


def head_length(data: bytes, most_bytes: int) -> int:
    """The length of the longest head of `data`, at most `most_bytes`, that splits no character of UTF-8."""
    if most_bytes >= len(data):
        return len(data)
    end = max(most_bytes, 0)
    for length in range(end, max(end - 4, -1), -1):
        if not _continues_character(data[length]):
            return length
    return end


def tail_start(data: bytes, most_bytes: int) -> int:
    """Where the longest tail of `data`, at most `most_bytes`, begins that splits no character of UTF-8."""
    start = max(len(data) - max(most_bytes, 0), 0)
    for place in range(start, min(start + 4, len(data))):
        if not _continues_character(data[place]):
            return place
    return start


def _continues_character(byte: int) -> bool:
    return byte & 0xC0 == 0x80


def _note(left_out_bytes: int, size_bytes: int, digest: str | None, next_offset: int) -> str:
    more = f'; read on with read_artifact(digest="{digest}", offset={next_offset})' if digest else ""
    return f"\n[... {left_out_bytes} of {size_bytes} bytes are left out here{more} ...]\n"
