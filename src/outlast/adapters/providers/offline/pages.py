"""Pages that were read: whole, in parts, or cut in the middle."""

from __future__ import annotations

import re
from dataclasses import replace

from outlast.adapters.providers.offline.json_texts import parse_loosely, text_field
from outlast.adapters.providers.offline.sentences import CUT
from outlast.domain.dataclass import dataclass

_FIELD = '"{name}"\\s*:\\s*"((?:[^"\\\\\\n]|\\\\.)*)"'
_SOURCE, _URL, _TITLE = (re.compile(_FIELD.format(name=name)) for name in ("source", "url", "title"))
_TEXT_BEGINS = re.compile(r'"text"\s*:\s*"')
_TEXT_ENDS = re.compile(r'(?<!\\)"\s*(?:,\s*"|\}\s*$)')


@dataclass(frozen=True, slots=True)
class Page:
    """A text that can be cited by its key. `next_offset` is where the rest begins, when only a part was shown."""

    source: str
    url: str
    title: str
    text: str
    is_snippet: bool = False
    next_offset: int | None = None

    def with_part(self, part: Page) -> Page:
        """This page and another part of it. What stands at the seam is not quoted, since it may be torn."""
        if part.text in self.text:
            return self
        if self.text in part.text:
            return part
        return replace(self, text=f"{self.text} {CUT} {part.text}", next_offset=part.next_offset)


def page_in(entry: dict[str, object]) -> Page | None:
    """The page an object of a result holds, if it holds one."""
    source, text, following = text_field(entry, "source"), text_field(entry, "text"), entry.get("next_offset")
    if not source or not text:
        return None
    next_offset = following if isinstance(following, int) and not isinstance(following, bool) else None
    shown = f"{text} {CUT}" if next_offset is not None else text
    return Page(source, text_field(entry, "url"), text_field(entry, "title"), shown, next_offset=next_offset)


def page_from_cut(payload: str) -> Page | None:
    """The page of a fetch whose JSON was cut: what stands before the cut and what stands after it."""
    source, begins = _SOURCE.search(payload), _TEXT_BEGINS.search(payload)
    if source is None or begins is None:
        return None
    head, _, rest = payload[begins.end() :].partition("\n")
    ends = _TEXT_ENDS.search(head)
    if ends is not None:
        return _made_page(payload, source.group(1), _unescaped(head[: ends.start()]))
    tail = rest.rpartition("\n")[2] if rest else ""
    closing = _TEXT_ENDS.search(tail)
    kept = _unescaped(tail[: closing.start()], from_end=True) if closing is not None else ""
    return _made_page(payload, source.group(1), f"{_unescaped(head)} {CUT} {kept}")


def _made_page(payload: str, source: str, text: str) -> Page:
    url, title = _URL.search(payload), _TITLE.search(payload)
    return Page(
        source, _unescaped(url.group(1)) if url else "", _unescaped(title.group(1)) if title else "", text
    )


def _unescaped(raw: str, *, from_end: bool = False) -> str:
    """The text of a piece of a JSON string; a broken escape at the cut is left out."""
    for trim in range(13):
        piece = raw[trim:] if from_end else raw[: len(raw) - trim]
        value = parse_loosely(f'"{piece}"')
        if isinstance(value, str):
            return value
    return ""
