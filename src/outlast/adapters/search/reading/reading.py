"""What reading gives: a text with what is known of it, or the reason why there is none."""

from __future__ import annotations

from typing import Final

from outlast.domain.dataclass import dataclass

MAX_TEXT_CHARS: Final = 2_000_000
"""Longer texts are cut here, and say so."""

MEDIA_TYPES: Final = {
    "pdf": "application/pdf",
    "html": "text/html",
    "markdown": "text/markdown",
    "text": "text/plain",
}


@dataclass(frozen=True, slots=True)
class Reading:
    """A document as text. `note` says what was lost or guessed; `is_cut` that a limit ended it early."""

    title: str
    text: str
    media_type: str
    is_cut: bool = False
    note: str = ""


class Unreadable(Exception):
    """There is no text to be had from this document; `reason` says why, in words that follow its name and a colon.

    `is_binary` tells data that is no text at all from a document that could not be read; `is_passing` says that another try may
    succeed.
    """

    def __init__(self, reason: str, *, is_binary: bool = False, is_passing: bool = False) -> None:
        super().__init__(reason)
        self.reason = reason
        self.is_binary = is_binary
        self.is_passing = is_passing
