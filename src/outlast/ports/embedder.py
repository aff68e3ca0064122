"""The seam to embedders: text in, vectors out, each vector knowing who made it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal, Protocol

from outlast.domain.memory import Vector

EmbeddingPurpose = Literal["query", "passage"]
"""What a text is: something asked, or something to be found. Some models embed the two differently."""


class Embedder(Protocol):
    """Turns texts into vectors of one space. Its methods may be called from any event loop of the process.

    Raises Passing (`embedder_unavailable`) for what may go better when tried again, Broken (`embedder_broken`) for what will not.
    """

    async def space(self) -> str:
        """The space of its vectors, `EMBEDDER/DIMENSIONS`; an endpoint is asked once."""
        ...

    async def embed(self, texts: Sequence[str], purpose: EmbeddingPurpose) -> list[Vector | None]:
        """A vector for each text, in order; None for one that says nothing to it (no words). Of a text that is longer than the
        model takes, only the beginning counts."""
        ...

    async def close(self) -> None:
        """Give up threads and connections. Safe to call twice."""
        ...
