"""What every embedder promises, as tests to inherit.

class TestMyEmbedder(EmbedderContract):
    @pytest.fixture
    async def embedder(self) -> AsyncIterator[Embedder]:
        ...
"""

from __future__ import annotations

import asyncio
import math

import pytest

from outlast.domain.memory import Vector
from outlast.ports.embedder import Embedder

ODD_TEXTS = ("\x00", "\ud800", "a" * 100_000, "word " * 20_000, "<script>", "\u200b", "ﷺ", "\u0301" * 50)


def nearness(one: Vector | None, other: Vector | None) -> float:
    """The cosine of two vectors that are there."""
    assert one is not None
    assert other is not None
    return sum(left * right for left, right in zip(one.values(), other.values(), strict=True))


class EmbedderContract:
    """Inherit, and give a fixture `embedder`."""

    async def test_every_vector_is_of_its_space_and_of_length_one(self, embedder: Embedder) -> None:
        [vector] = await embedder.embed(["The window is on Thursday evening."], "passage")
        assert vector is not None
        assert vector.space == await embedder.space()
        assert math.isclose(sum(value * value for value in vector.values()), 1.0, rel_tol=1e-4)

    async def test_there_is_an_answer_for_each_text_in_order(self, embedder: Embedder) -> None:
        texts = ["apples and pears", "", "the court ruled", "apples and pears", " \n"]
        vectors = await embedder.embed(texts, "passage")
        assert [vector is None for vector in vectors] == [False, True, False, False, True]
        assert nearness(vectors[0], vectors[3]) == pytest.approx(1.0, abs=1e-3)
        assert await embedder.embed([], "passage") == []

    async def test_a_text_has_the_same_vector_in_any_company(self, embedder: Embedder) -> None:
        text = "The ferry leaves at nine."
        [alone] = await embedder.embed([text], "passage")
        *_, last = await embedder.embed(["a " * 300, "numbers 1 2 3", text], "passage")
        assert nearness(alone, last) == pytest.approx(1.0, abs=1e-3)

    async def test_what_is_asked_is_nearer_to_its_answer_than_to_others(self, embedder: Embedder) -> None:
        [asked] = await embedder.embed(["When does the ferry leave?"], "query")
        answer, other = await embedder.embed(
            ["The ferry leaves at nine.", "Bake the bread for an hour."], "passage"
        )
        assert nearness(asked, answer) > nearness(asked, other)

    @pytest.mark.parametrize("text", ODD_TEXTS)
    async def test_any_text_is_taken(self, embedder: Embedder, text: str) -> None:
        assert len(await embedder.embed([text], "query")) == 1

    async def test_callers_of_other_loops_are_served(self, embedder: Embedder) -> None:
        [here] = await embedder.embed(["The ferry leaves at nine."], "passage")
        [there] = await asyncio.to_thread(
            lambda: asyncio.run(embedder.embed(["The ferry leaves at nine."], "passage"))
        )
        assert nearness(here, there) == pytest.approx(1.0, abs=1e-3)

    async def test_closing_twice_is_harmless(self, embedder: Embedder) -> None:
        await embedder.close()
        await embedder.close()
