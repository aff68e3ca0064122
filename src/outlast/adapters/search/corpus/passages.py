"""A document cut into passages of about a screenful, at headings and paragraphs."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final

from outlast.domain.dataclass import dataclass

PASSAGE_CHARS: Final = 1200

_BREAK = re.compile(r"\n\s*\n|\n(?=\s{0,3}#{1,6}\s)")
_HEADING = re.compile(r"\s{0,3}#{1,6}\s+(.*)")
_LONE_HEADING = re.compile(r"\s{0,3}#{1,6}\s[^\n]*")
_SENTENCE_END = re.compile(r"[.!?]['\")\]]*\s+|[。！？；]['\"”’」』）]*|\n")


@dataclass(frozen=True, slots=True)
class Passage:
    """A piece of a document: where it begins and ends in the text, in characters, and the heading it stands under."""

    start: int
    end: int
    heading: str


def passages_of(text: str, limit_chars: int = PASSAGE_CHARS) -> list[Passage]:
    """Passages that cover all of `text` in order, none longer than `limit_chars`.

    A heading begins a new passage; paragraphs are kept whole where they fit, else cut after a sentence.
    """
    passages: list[Passage] = []
    heading = ""
    start = end = 0
    for piece_start, piece_end in _pieces(text, limit_chars):
        found = _HEADING.match(text, piece_start, piece_end)
        if (found or piece_end - start > limit_chars) and end > start:
            passages.append(Passage(start, end, heading))
            start = piece_start
        if found:
            heading = found.group(1).split("\n", 1)[0].strip(" #")
        end = piece_end
    if end > start:
        passages.append(Passage(start, end, heading))
    return passages


def _pieces(text: str, limit_chars: int) -> Iterator[tuple[int, int]]:
    """Paragraphs, the long ones cut, each with the heading right above it; together they are the whole text."""
    start = 0
    for found in _BREAK.finditer(text):
        if not _LONE_HEADING.fullmatch(text, start, found.start()):
            yield from _cut(text, start, found.end(), limit_chars)
            start = found.end()
    yield from _cut(text, start, len(text), limit_chars)


def _cut(text: str, start: int, end: int, limit_chars: int) -> Iterator[tuple[int, int]]:
    while end - start > limit_chars:
        middle = start + limit_chars // 2
        sentence_ends = [found.end() for found in _SENTENCE_END.finditer(text, middle, start + limit_chars)]
        stop = sentence_ends[-1] if sentence_ends else start + limit_chars
        yield start, stop
        start = stop
    if end > start:
        yield start, end
