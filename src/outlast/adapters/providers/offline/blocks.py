"""The prose of a Markdown or plain text, block by block, as spans of the text itself.

Code, comments, scripts and front matter are passed over; headings become the context of what follows; each list item and each
table row is a block of its own.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import field
from typing import Final

from outlast.domain.dataclass import dataclass

MAX_TEXT_CHARACTERS: Final = 400_000
"""How much of one text is read."""

_MASKED = re.compile(
    r"\A---[ \t]*\n.*?\n---[ \t]*$|^[ \t]*(?P<mark>```+|~~~+).*?(?:^[ \t]*(?P=mark)|\Z)|<!--.*?(?:-->|\Z)"
    r"|<(?P<tag>script|style|svg)\b.*?(?:</(?P=tag)\s*>|\Z)",
    re.DOTALL | re.MULTILINE | re.IGNORECASE,
)
_NOT_NEWLINE = re.compile(r"[^\n]")
_HEADING = re.compile(r"[ \t]{0,3}#{1,6}[ \t]+(.*)")
_UNDERLINE = re.compile(r"[ \t]{0,3}(?:=+|-{2,}|\*{3,}|_{3,})[ \t]*")
_RULE_CHARACTERS = frozenset(" \t:|-")
_TAG_LINE = re.compile(r"[ \t]*(?:</?[A-Za-z][^<>]*>[ \t]*)+")
_LEAD = re.compile(
    r"[ \t]*(?:>[ \t]?)*[ \t]*(?P<item>(?:[-*+•·◦▪]|\(?\d{1,3}[.)、．]|[（(]?[一二三四五六七八九十]{1,3}[、)）])[ \t]*(?=\S))?"
    r"(?:\[[ xX]\][ \t]+)?"
)
_ITEM_NEEDS_SPACE = re.compile(r"[-*+]\S|\d+\.\S")


@dataclass(frozen=True, slots=True)
class Block:
    """A piece of prose or a table row: `text[start:end]`, under `heading`, with the cells of its table's header."""

    start: int
    end: int
    heading: str
    is_row: bool = False
    header: tuple[str, ...] = ()


@dataclass(slots=True)
class _Walk:
    text: str
    heading: str = ""
    start: int | None = None
    end: int = 0
    line_count: int = 0
    header: tuple[str, ...] = ()
    rows: int = 0
    done: list[Block] = field(default_factory=list)

    def flush(self) -> None:
        if self.start is not None:
            self.done.append(Block(self.start, self.end, self.heading))
        self.start, self.line_count = None, 0


def blocks_of(text: str) -> list[Block]:
    """The blocks of `text` in order; only its first MAX_TEXT_CHARACTERS are read."""
    masked = _MASKED.sub(lambda match: _NOT_NEWLINE.sub(" ", match.group()), text[:MAX_TEXT_CHARACTERS])
    walk = _Walk(masked)
    for start, line in _lines(masked):
        if not _take_structure(walk, start, line):
            _take_prose(walk, start, line)
    walk.flush()
    return walk.done


def cells_of(row: str) -> tuple[str, ...]:
    """The cells of a table row without its outer bars."""
    return tuple(cell.strip() for cell in row.split("|"))


def _lines(text: str) -> Iterator[tuple[int, str]]:
    start = 0
    for line in text.split("\n"):
        yield start, line
        start += len(line) + 1


def _take_structure(walk: _Walk, start: int, line: str) -> bool:
    """Take a line that is no prose: blank, heading, underline, table row, bare tags."""
    if _is_row(line) or (walk.rows and _is_row_rule(line)):
        walk.flush()
        _take_row(walk, start, line)
        return True
    walk.rows = 0
    if not line.strip() or _TAG_LINE.fullmatch(line):
        walk.flush()
        return True
    heading = _HEADING.fullmatch(line)
    if heading is not None:
        walk.flush()
        walk.heading = heading.group(1).rstrip(" \t#")
        return True
    if _UNDERLINE.fullmatch(line):
        _take_underline(walk)
        return True
    return False


def _take_underline(walk: _Walk) -> None:
    """A line drawn under a single line of prose makes that line a heading."""
    if walk.start is not None and walk.line_count == 1:
        walk.heading = walk.text[walk.start : walk.end]
        walk.start = None
    walk.flush()


def _is_row(line: str) -> bool:
    bare = line.strip()
    return bare.startswith("|") and bare.count("|") >= 2


def _is_row_rule(line: str) -> bool:
    return "|" in line and "-" in line and _RULE_CHARACTERS.issuperset(line)


def _take_row(walk: _Walk, start: int, line: str) -> None:
    """The row above the rule is the header of the table and states nothing by itself."""
    if _is_row_rule(line):
        if walk.rows == 1:
            walk.done.pop()
        return
    inner = line.strip().removeprefix("|").removesuffix("|")
    walk.rows += 1
    if walk.rows == 1:
        walk.header = cells_of(inner)
    first = start + line.index("|") + 1 + len(inner) - len(inner.lstrip())
    walk.done.append(Block(first, first + len(inner.strip()), walk.heading, is_row=True, header=walk.header))


def _take_prose(walk: _Walk, start: int, line: str) -> None:
    lead = _LEAD.match(line)
    skipped = lead.end() if lead is not None else 0
    item = lead.group("item") if lead is not None else None
    if item is not None and _ITEM_NEEDS_SPACE.match(line.lstrip("> \t")):
        item, skipped = None, len(line) - len(line.lstrip("> \t"))
    if item is not None:
        walk.flush()
    if walk.start is None:
        walk.start = start + skipped
    walk.end = start + len(line.rstrip())
    walk.line_count += 1
