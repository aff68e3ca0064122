"""Lines of a printed page back into paragraphs."""

from __future__ import annotations

import re

_ENDS_SENTENCE = re.compile(r"[.!?:;。！？：；…][\"'”’」』）)]*$")
_ENDS_WIDE = re.compile(r"[\u2e80-\u9fff\uac00-\ud7af\uf900-\ufaff\uff00-\uffef]$")
_BEGINS_WIDE = re.compile(r"^[\u2e80-\u9fff\uac00-\ud7af\uf900-\ufaff\uff00-\uffef]")
_BEGINS_ITEM = re.compile(r"^(?:[-*•‣–]|\d{1,2}[.)])\s")


def reflow(text: str) -> str:
    """`text` with the lines of each paragraph joined and paragraphs set apart by a blank line.

    A line ends its paragraph when it is clearly shorter than the widest lines; a hyphen at a line end is taken as a division of
    the word when lower case goes on.
    """
    lines = [" ".join(line.split()) for line in text.replace("\r\n", "\n").replace("\r", "\n").split("\n")]
    full_width = _full_width(lines)
    paragraphs: list[str] = []
    is_open = False
    for line in lines:
        if not line:
            is_open = False
            continue
        if is_open and not _BEGINS_ITEM.match(line):
            paragraphs[-1] = _join(paragraphs[-1], line)
        else:
            paragraphs.append(line)
        is_open = _goes_on(line, full_width)
    return "\n\n".join(paragraphs)


def _full_width(lines: list[str]) -> int:
    widths = sorted(len(line) for line in lines if line)
    return widths[(len(widths) * 9) // 10] if widths else 0


def _goes_on(line: str, full_width: int) -> bool:
    if len(line) * 10 >= full_width * 8:
        return True
    return len(line) * 10 >= full_width * 6 and not _ENDS_SENTENCE.search(line)


def _join(paragraph: str, line: str) -> str:
    if paragraph.endswith("-") and paragraph[-2:-1].isalpha() and line[:1].islower():
        return paragraph[:-1] + line
    if _ENDS_WIDE.search(paragraph) and _BEGINS_WIDE.match(line):
        return paragraph + line
    return f"{paragraph} {line}"
