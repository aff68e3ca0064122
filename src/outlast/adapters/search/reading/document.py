"""A whole document read: what it is, in which charset, and what it says."""

from __future__ import annotations

import re
from pathlib import PurePosixPath
from typing import Final

from outlast.adapters.search.reading.charset import declared_in_html, decode
from outlast.adapters.search.reading.reader_process import ReaderProcess
from outlast.adapters.search.reading.reading import MAX_TEXT_CHARS, MEDIA_TYPES, Reading, Unreadable
from outlast.adapters.search.reading.sniff import Kind, sniff
from outlast.domain.door import clean_text

MAX_HTML_BYTES: Final = 2 * 1024 * 1024
"""More of a page is not parsed: the time to find its article grows faster than the page."""

_HEADING = re.compile(r"^\s{0,3}#{1,6}\s+(.+?)\s*#*\s*$", re.MULTILINE)
_MAX_TITLE_CHARS: Final = 160


def read_document(
    data: bytes,
    reader: ReaderProcess,
    *,
    name: str = "",
    url: str = "",
    media_type: str = "",
    charset: str = "",
) -> Reading:
    """The text of a document of unknown kind. Blocking, for at most the reader's time limit.

    `name`, `media_type` and `charset` are claims and are checked against the bytes; `url` makes links absolute. Raises Unreadable
    for what is binary, empty, encrypted, damaged or too slow to read.
    """
    kind, label = sniff(data, name, media_type)
    if kind == "empty":
        raise Unreadable("it is empty")
    if kind == "binary":
        raise Unreadable(f"{label}, not text", is_binary=True)
    title, text, notes = _convert(kind, data, reader, url, charset)
    if not text.strip():
        raise Unreadable("there is no text in it")
    is_cut = len(text) > MAX_TEXT_CHARS or any(note.startswith("only the first") for note in notes)
    if len(text) > MAX_TEXT_CHARS:
        notes.append(f"only the first {MAX_TEXT_CHARS:,} characters were kept")
    text = clean_text(text[:MAX_TEXT_CHARS])
    return Reading(
        _title(title, kind, text, name), text, MEDIA_TYPES[kind], is_cut, "; ".join(filter(None, notes))
    )


def _convert(
    kind: Kind, data: bytes, reader: ReaderProcess, url: str, charset: str
) -> tuple[str, str, list[str]]:
    if kind == "pdf":
        title, text, note = reader.convert("pdf", data)
        return title, text, [note]
    if kind != "html":
        text, note = decode(data, charset)
        return "", text, [note]
    page, note = decode(data[:MAX_HTML_BYTES], charset or declared_in_html(data))
    cut = f"only the first {MAX_HTML_BYTES // 1024:,} KiB were read" if len(data) > MAX_HTML_BYTES else ""
    title, text, _ = reader.convert("html", page.encode("utf-8", "replace"), url)
    return title, text, [note, cut]


def _title(found: str, kind: Kind, text: str, name: str) -> str:
    if kind == "markdown" and (heading := _HEADING.search(text[:20_000])):
        found = heading.group(1)
    if not found and kind in {"text", "pdf"}:
        first = text.lstrip().split("\n", 1)[0]
        found = first if len(first) <= _MAX_TITLE_CHARS else ""
    found = " ".join(found.split()) or PurePosixPath(name).stem
    return clean_text(found[:_MAX_TITLE_CHARS])
