"""A PDF file as text."""

from __future__ import annotations

import contextlib
from typing import TYPE_CHECKING

from outlast.adapters.search.reading.reading import MAX_TEXT_CHARS, Unreadable
from outlast.adapters.search.reading.reflow import reflow

if TYPE_CHECKING:
    import pypdfium2


def pdf_to_text(data: bytes, max_pages: int) -> tuple[str, str, str]:
    """The title, the text, and a note if only the first `max_pages` pages were read.

    Raises Unreadable for a file that is encrypted, damaged, or has no text in it.
    """
    import pypdfium2

    try:
        document = pypdfium2.PdfDocument(data)
    except pypdfium2.PdfiumError as error:
        raise Unreadable(_reason(str(error))) from error
    with contextlib.closing(document):
        pages = len(document)
        text = _pages_text(document, min(pages, max_pages))
        title = str(document.get_metadata_value("Title") or "").strip()
    if not text.strip():
        raise Unreadable("a PDF without any text in it (perhaps a scan)")
    note = f"only the first {max_pages} of {pages} pages were read" if pages > max_pages else ""
    return title, text, note


def _pages_text(document: pypdfium2.PdfDocument, pages: int) -> str:
    texts: list[str] = []
    total = 0
    for number in range(pages):
        # pypdfium2's own error is a RuntimeError: a page that cannot be read does not lose the others.
        with contextlib.suppress(RuntimeError):
            page = document[number]
            textpage = page.get_textpage()
            # pdfium marks a hyphen that it took for a division of a word with U+FFFE or U+0002.
            texts.append(reflow(_undivided(textpage.get_text_bounded())))
            textpage.close()
            page.close()
            total += len(texts[-1])
        if total > MAX_TEXT_CHARS:
            break
    return "\n\n".join(text for text in texts if text)


def _undivided(text: str) -> str:
    for mark in ("\ufffe", "\x02"):
        text = text.replace(f"{mark}\r\n", "").replace(f"{mark}\n", "").replace(mark, "-")
    return text.replace("\x00", "")


def _reason(error: str) -> str:
    if "password" in error.lower():
        return "an encrypted PDF; save a copy without a password"
    return f"a PDF that cannot be opened ({error})"
