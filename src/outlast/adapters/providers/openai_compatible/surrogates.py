"""Characters outside the basic plane arrive as two halves when a server cuts its text by UTF-16; here they
are joined."""

from __future__ import annotations

import re
from typing import Final

from outlast.domain.door import clean_text

_PAIR: Final = re.compile("[\ud800-\udbff][\udc00-\udfff]")


def joined(text: str) -> str:
    """`text` with each pair of halves made one character, and each half left alone made U+FFFD."""
    return text if text.isascii() else clean_text(_PAIR.sub(_one_character, text))


class HalfKeeper:
    """Gives text on piece by piece, keeping a first half back until its second half comes.

    The pieces given, with `rest` at the end, add up to `joined` of everything taken.
    """

    def __init__(self) -> None:
        self._kept = ""

    def take(self, piece: str) -> str:
        """What can be given on once `piece` has come."""
        if not self._kept and piece.isascii():
            return piece
        text = self._kept + piece
        cut = len(text) - ("\ud800" <= text[-1:] <= "\udbff")
        self._kept = text[cut:]
        return joined(text[:cut])

    def rest(self) -> str:
        """What was kept back for a second half that never came."""
        kept, self._kept = self._kept, ""
        return joined(kept)


def _one_character(pair: re.Match[str]) -> str:
    return pair.group().encode("utf-16", "surrogatepass").decode("utf-16")
