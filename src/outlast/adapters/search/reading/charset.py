"""Bytes to text: by byte order mark, by what they say of themselves, by what they can be."""

from __future__ import annotations

import codecs
import re
from typing import Final

_BOMS: Final = (
    (codecs.BOM_UTF8, "utf-8-sig"),
    (codecs.BOM_UTF32_LE, "utf-32"),
    (codecs.BOM_UTF32_BE, "utf-32"),
    (codecs.BOM_UTF16_LE, "utf-16"),
    (codecs.BOM_UTF16_BE, "utf-16"),
)
_META_CHARSET = re.compile(rb"<meta[^>]{0,200}?charset\s*=\s*[\"']?\s*([A-Za-z0-9_.:-]{2,40})", re.IGNORECASE)
_DOUBLE_BYTE = re.compile(rb"[\x81-\xfe][\x40-\x7e\x80-\xfe]")
_SUPERSETS: Final = {
    "gb2312": "gb18030",
    "gbk": "gb18030",
    "iso-8859-1": "windows-1252",
    "ascii": "windows-1252",
}
"""Labels that name less than what is really used under them (as browsers read them)."""


def decode(data: bytes, declared: str = "") -> tuple[str, str]:
    """The text of `data`, and a note when bytes were lost or the charset had to be guessed (else an empty string).

    `declared` is a charset a server or file name claims; it is used only if the bytes fit it. Never raises: what fits nothing is
    read as UTF-8 with U+FFFD for broken bytes when it is mostly UTF-8, else as windows-1252. Line ends become `\\n`.
    """
    text, note = _decode(data, declared)
    return text.removeprefix("\ufeff").replace("\r\n", "\n").replace("\r", "\n"), note


def declared_in_html(data: bytes) -> str:
    """The charset that the first 2 KiB of an HTML page declare, or an empty string."""
    found = _META_CHARSET.search(data[:2048])
    return found.group(1).decode("ascii") if found else ""


def _decode(data: bytes, declared: str) -> tuple[str, str]:
    for mark, encoding in _BOMS:
        if data.startswith(mark):
            text = data.decode(encoding, "replace")
            return text, _loss_note(text.count("\ufffd"), encoding.removesuffix("-sig"))
    for encoding in ("utf-8", declared):
        text_or_none = _strictly(data, encoding)
        if text_or_none is not None:
            return text_or_none, ""
    if _looks_like_chinese(data):
        text_or_none = _strictly(data, "gb18030")
        if text_or_none is not None:
            return text_or_none, "read as gb18030, guessed from its bytes"
    return _with_losses(data)


def _strictly(data: bytes, encoding: str) -> str | None:
    name = encoding.strip().lower()
    if not name:
        return None
    try:
        is_text = codecs.lookup(name)._is_text_encoding  # noqa: SLF001 - the only way to tell a charset from a transform
        return data.decode(_SUPERSETS.get(name, name)) if is_text else None
    except (LookupError, ValueError):
        return None


def _looks_like_chinese(data: bytes) -> bool:
    """Do most double bytes lie where everyday Chinese does (GB 2312)? Western text hits that range only by accident."""
    pairs = _DOUBLE_BYTE.findall(data[:65536])
    everyday = sum(1 for pair in pairs if pair[0] >= 0xA1 and pair[1] >= 0xA1)
    return everyday >= 2 and everyday * 4 >= len(pairs) * 3


def _with_losses(data: bytes) -> tuple[str, str]:
    text = data.decode("utf-8", "replace")
    lost = text.count("\ufffd")
    read = sum(1 for character in text if character > "\x7f") - lost
    if read > 10 * lost:
        return text, _loss_note(lost, "utf-8")
    try:
        return data.decode("windows-1252"), "read as windows-1252, guessed from its bytes"
    except UnicodeDecodeError:
        return data.decode("latin-1"), "read as latin-1, guessed from its bytes"


def _loss_note(lost: int, encoding: str) -> str:
    return f"{lost} characters are not valid {encoding} and were replaced" if lost else ""
