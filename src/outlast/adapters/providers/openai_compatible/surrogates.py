"""Characters that a server cut in pieces are joined here: those outside the basic plane when it cuts its text by UTF-16, all but
ASCII when it cuts the bytes of UTF-8. Bytes that are no UTF-8 by themselves come in as `surrogateescape` spells them."""

from __future__ import annotations

import re
from typing import Final

from outlast.domain.door import clean_text

_PAIR: Final = re.compile("[\ud800-\udbff][\udc00-\udfff]")
_BYTES: Final = re.compile("[\udc80-\udcff]+")
_BEGUN: Final = re.compile(
    "(?:[\ud800-\udbff]|[\udcc2-\udcdf]|[\udce0-\udcef][\udc80-\udcbf]?|[\udcf0-\udcf4][\udc80-\udcbf]{0,2})\\Z"
)
"""A first half, or the first bytes of a character, at the end of a text."""


def joined(text: str) -> str:
    """`text` with the parts of each character made one, and each part left alone made U+FFFD."""
    if text.isascii():
        return text
    return clean_text(_BYTES.sub(_characters, _PAIR.sub(_one_character, text)))


class HalfKeeper:
    """Gives text on piece by piece, keeping the first part of a character back until the rest comes.

    The pieces given, with `rest` at the end, add up to `joined` of everything taken.
    """

    def __init__(self) -> None:
        self._kept = ""

    def take(self, piece: str) -> str:
        """What can be given on once `piece` has come."""
        if not self._kept and piece.isascii():
            return piece
        text = _PAIR.sub(_one_character, self._kept + piece)
        begun = _BEGUN.search(text, max(0, len(text) - 3))
        cut = begun.start() if begun else len(text)
        self._kept = text[cut:]
        return joined(text[:cut])

    def rest(self) -> str:
        """What was kept back for a rest that never came."""
        kept, self._kept = self._kept, ""
        return joined(kept)


def _one_character(pair: re.Match[str]) -> str:
    return pair.group().encode("utf-16", "surrogatepass").decode("utf-16")


def _characters(found: re.Match[str]) -> str:
    return found.group().encode("utf-8", "surrogateescape").decode("utf-8", "replace")
