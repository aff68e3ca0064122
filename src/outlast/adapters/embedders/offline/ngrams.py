"""Vectors of the letters of a text, for where no model is installed: they know spelling, not meaning.

Pieces of three and four letters of each word, and pairs of characters of scripts without spaces, are hashed into 256 dimensions.
Texts that share pieces are near: endings, misspellings and parts of words are bridged in any language; other words for the same are
not.
"""

from __future__ import annotations

import math
import zlib
from collections import Counter
from collections.abc import Iterator, Sequence
from typing import Final

from outlast.domain.memory import Vector
from outlast.domain.words import SPACED_WORD, STOP_WORDS, UNSPACED_RUN, normalised
from outlast.ports.embedder import EmbeddingPurpose

NAME: Final = "letter-ngrams-1"
DIMENSIONS: Final = 256
MAX_CHARS: Final = 2000
"""Of a longer text only the beginning counts."""

_PLACES_A_PIECE: Final = 4


class LetterNgrams:
    """Embeds by the letters of a text, about a millisecond of CPU each."""

    async def space(self) -> str:
        """See `Embedder.space`."""
        return f"{NAME}/{DIMENSIONS}"

    async def embed(self, texts: Sequence[str], purpose: EmbeddingPurpose) -> list[Vector | None]:
        """See `Embedder.embed`."""
        return [_embedded(text) for text in texts]

    async def close(self) -> None:
        """See `Embedder.close`. There is nothing to give up."""


def _embedded(text: str) -> Vector | None:
    values = [0.0] * DIMENSIONS
    for piece, count in Counter(_pieces(text[:MAX_CHARS])).items():
        mark, weight = zlib.crc32(piece.encode()), 1 + math.log(count)
        for _ in range(_PLACES_A_PIECE):
            mark = (mark * 1_103_515_245 + 12_345) & 0x7FFFFFFF
            values[(mark >> 8) % DIMENSIONS] += weight if mark & (1 << 20) else -weight
    return Vector.of(NAME, values) if any(values) else None


def _pieces(text: str) -> Iterator[str]:
    plain = normalised(text)
    for word in SPACED_WORD.findall(UNSPACED_RUN.sub(" ", plain)):
        if word not in STOP_WORDS:
            framed = f"<{word}>"
            yield from (framed[at : at + size] for size in (3, 4) for at in range(len(framed) - size + 1))
    for run in UNSPACED_RUN.findall(plain):
        yield from ([run] if len(run) == 1 else (run[at : at + 2] for at in range(len(run) - 1)))
