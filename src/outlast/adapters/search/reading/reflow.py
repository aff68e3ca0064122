"""Lines of a printed page back into paragraphs."""

from __future__ import annotations

import re
from itertools import pairwise

_WIDE = r"[\u2e80-\u9fff\uac00-\ud7af\uf900-\ufaff\uff00-\uffef]"
_ENDS_SENTENCE = re.compile(r"[.!?:;。！？：；…][\"'”’」』）)]*$")
_ENDS_WIDE = re.compile(_WIDE + "$")
_BEGINS_WIDE = re.compile(_WIDE)
_BEGINS_ITEM = re.compile(r"(?:[-*•‣–]|\d{1,2}[.)])\s")


def reflow(text: str) -> str:
    """`text` with the lines of each paragraph joined and paragraphs set apart by a blank line.

    A line ends its paragraph when it is clearly shorter than the widest lines; a short line between the end of one sentence and the
    beginning of another is a heading. A hyphen at a line end is taken as a division of the word when lower case goes on.
    """
    lines = [" ".join(line.split()) for line in text.replace("\r\n", "\n").replace("\r", "\n").split("\n")]
    full_width = _full_width(lines)
    paragraphs: list[str] = []
    is_open = False
    for line, following in pairwise([*lines, ""]):
        if not line:
            is_open = False
            continue
        is_heading = _is_heading(line, paragraphs[-1] if paragraphs else "", following, full_width)
        if is_open and not is_heading and not _BEGINS_ITEM.match(line):
            paragraphs[-1] = _join(paragraphs[-1], line)
        else:
            paragraphs.append(line)
        is_open = not is_heading and _goes_on(line, full_width)
    return "\n\n".join(paragraphs)


def _full_width(lines: list[str]) -> int:
    widths = sorted(len(line) for line in lines if line)
    return widths[(len(widths) * 9) // 10] if widths else 0


def _is_heading(line: str, before: str, following: str, full_width: int) -> bool:
    is_short = len(line) * 10 < full_width * 6 and not _ENDS_SENTENCE.search(line)
    return (
        is_short
        and (not before or bool(_ENDS_SENTENCE.search(before)))
        and _begins_anew(line)
        and _begins_anew(following)
    )


def _begins_anew(line: str) -> bool:
    return bool(line) and (line[0].isupper() or bool(_BEGINS_WIDE.match(line)))


def _goes_on(line: str, full_width: int) -> bool:
    if len(line) * 10 >= full_width * 8:
        return True
    return len(line) * 10 >= full_width * 6 and not _ENDS_SENTENCE.search(line)


def _join(paragraph: str, line: str) -> str:
    if paragraph.endswith("-") and paragraph[-2:-1].isalpha() and line[:1].islower():
        return paragraph[:-1] + line
    is_wide = _ENDS_WIDE.search(paragraph) or _BEGINS_WIDE.match(line)
    return paragraph + line if is_wide else f"{paragraph} {line}"
