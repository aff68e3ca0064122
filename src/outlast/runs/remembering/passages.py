"""Cutting a page into passages: pieces that say one thing, long enough to be understood and short enough to be shown."""

from __future__ import annotations

import re
from typing import Final

PASSAGE_CHARACTERS: Final = 1000
"""How long a passage is at most."""

MOST_PASSAGES: Final = 100
"""How many passages of one page are remembered, from its beginning."""

_PARAGRAPH: Final = re.compile(r"\n\s*\n")
_BREAK: Final = re.compile(r"(?<=[.!?。！？])\s*|\s+")


def passages_of(text: str) -> list[str]:
    """A text in passages, in order: paragraphs together while they fit, long ones cut between sentences or words."""
    passages: list[str] = []
    for piece in _pieces(text):
        if passages and len(passages[-1]) + len(piece) + 2 <= PASSAGE_CHARACTERS:
            passages[-1] = f"{passages[-1]}\n\n{piece}"
        elif len(passages) < MOST_PASSAGES:
            passages.append(piece)
        else:
            break
    return passages


def _pieces(text: str) -> list[str]:
    return [
        piece
        for paragraph in _PARAGRAPH.split(text)
        if paragraph.strip()
        for piece in _cut(paragraph.strip())
    ]


def _cut(paragraph: str) -> list[str]:
    pieces: list[str] = []
    rest = paragraph
    while len(rest) > PASSAGE_CHARACTERS:
        at = _last_break(rest)
        pieces.append(rest[:at].strip())
        rest = rest[at:].strip()
    return [piece for piece in (*pieces, rest) if piece]


def _last_break(text: str) -> int:
    """Where the first passage of a text ends: after a sentence in its second half, else after a word, else anywhere."""
    half = PASSAGE_CHARACTERS // 2
    breaks = [found for found in _BREAK.finditer(text, half, PASSAGE_CHARACTERS) if found.start() > half]
    ends = [found.end() for found in breaks if text[found.start() - 1] in ".!?。！？"]
    if ends:
        return ends[-1]
    return breaks[-1].end() if breaks else PASSAGE_CHARACTERS
