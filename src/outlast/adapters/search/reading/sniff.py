"""What a file is, told by its bytes; names and labels only break ties between kinds of text."""

from __future__ import annotations

import re
from pathlib import PurePosixPath
from typing import Final, Literal

Kind = Literal["pdf", "html", "markdown", "text", "binary", "empty"]

HEAD_BYTES: Final = 8192
"""How much of a file is looked at."""

_MAGIC: Final = (
    (b"\x89PNG\r\n\x1a\n", "a PNG image"),
    (b"\xff\xd8\xff", "a JPEG image"),
    (b"GIF8", "a GIF image"),
    (b"PK\x03\x04", "a zip archive or office file"),
    (b"PK\x05\x06", "an empty zip archive"),
    (b"\x1f\x8b", "gzip data"),
    (b"BZh", "bzip2 data"),
    (b"\xfd7zXZ\x00", "xz data"),
    (b"\x28\xb5\x2f\xfd", "zstd data"),
    (b"7z\xbc\xaf\x27\x1c", "a 7z archive"),
    (b"Rar!\x1a\x07", "a rar archive"),
    (b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1", "an old office file"),
    (b"\x7fELF", "a program"),
    (b"OggS", "audio or video"),
    (b"ID3", "audio"),
    (b"II*\x00", "a TIFF image"),
    (b"MM\x00*", "a TIFF image"),
    (b"wOFF", "a font"),
    (b"wOF2", "a font"),
    (b"\x00asm", "a WebAssembly module"),
    (b"SQLite format 3\x00", "a SQLite database"),
    (b"{\\rtf", "an RTF file"),
    (b"%!PS", "a PostScript file"),
)
_BOMS: Final = (b"\xef\xbb\xbf", b"\xff\xfe", b"\xfe\xff", b"\x00\x00\xfe\xff")
_MARKDOWN_SUFFIXES: Final = frozenset({".md", ".markdown", ".mdown", ".mkd"})
_HTML_SUFFIXES: Final = frozenset({".html", ".htm", ".xhtml"})
_HTML_OPENING = re.compile(
    rb"(?:<\?xml[^>]*>|<!--.*?-->|\s)*<(?:!doctype\s+html|html|head|body)\b", re.DOTALL | re.IGNORECASE
)
_ANY_TAG = re.compile(
    rb"<(?:p|div|h[1-6]|title|meta|table|article|main|section|ul|br)\b[^>]*>", re.IGNORECASE
)
_CONTROLS: Final = bytes(set(range(32)) - {9, 10, 12, 13, 27})


def sniff(data: bytes, name: str = "", media_type: str = "") -> tuple[Kind, str]:
    """What `data` is, and for binary data a few words that name it.

    `name` (a file name or path) and `media_type` (a server's word) are believed only where the bytes leave a choice: between
    HTML, Markdown and plain text.
    """
    head = data[:HEAD_BYTES]
    if not head.strip():
        return "empty", ""
    if b"%PDF-" in head[:1024]:
        return "pdf", ""
    label = _binary_label(head)
    if label:
        return "binary", label
    return _kind_of_text(head, PurePosixPath(name).suffix.lower(), media_type), ""


def _binary_label(head: bytes) -> str:
    for magic, label in _MAGIC:
        if head.startswith(magic):
            return label
    if head[:4] == b"RIFF" or head[4:8] == b"ftyp":
        return "audio, video or an image"
    if head.startswith(_BOMS):
        return ""
    if b"\x00" in head:
        return "binary data"
    controls = len(head) - len(head.translate(None, _CONTROLS))
    return "binary data" if controls * 20 > len(head) else ""


def _kind_of_text(head: bytes, suffix: str, media_type: str) -> Kind:
    # UTF-16 markup has a NUL in every other byte; without them its tags can be recognised.
    plain = head.lstrip(b"\xef\xbb\xbf\xff\xfe").replace(b"\x00", b"")
    if _HTML_OPENING.match(plain):
        return "html"
    if suffix in _MARKDOWN_SUFFIXES or "markdown" in media_type:
        return "markdown"
    if (suffix in _HTML_SUFFIXES or "html" in media_type) and _ANY_TAG.search(plain):
        return "html"
    return "text"
