"""The contract of embedders, over those that need no network."""

from collections.abc import AsyncIterator

import pytest

from outlast.adapters.embedders.offline.minilm import MiniLm
from outlast.adapters.embedders.offline.ngrams import LetterNgrams
from outlast.ports.embedder import Embedder
from outlast.testing.contracts.embedder import EmbedderContract, nearness
from tests.law import law


@law("MEM-4.a")
class TestMiniLm(EmbedderContract):
    @pytest.fixture
    async def embedder(self) -> AsyncIterator[Embedder]:
        embedder = MiniLm()
        yield embedder
        await embedder.close()

    async def test_other_words_for_the_same_are_near(self, embedder: Embedder) -> None:
        [asked] = await embedder.embed(["How do I get my money back?"], "query")
        refund, other = await embedder.embed(
            ["Refunds are paid within ten days.", "The road is closed for repairs."], "passage"
        )
        assert nearness(asked, refund) > nearness(asked, other) + 0.2

    async def test_a_script_it_does_not_know_has_no_vector(self, embedder: Embedder) -> None:
        texts = [
            "我们把部署窗口改到周四晚上",
            "nginx 和 OpenSSL versions",
        ]
        assert [vector is None for vector in await embedder.embed(texts, "passage")] == [True, False]


@law("MEM-4.a")
class TestLetterNgrams(EmbedderContract):
    @pytest.fixture
    async def embedder(self) -> Embedder:
        return LetterNgrams()

    async def test_misspellings_and_parts_are_bridged_in_any_script(self, embedder: Embedder) -> None:
        asked = await embedder.embed(["deployement windows", "部署窗口"], "query")
        found = await embedder.embed(
            ["the deployment window", "我们把部署窗口改了", "gardening tips"], "passage"
        )
        assert nearness(asked[0], found[0]) > nearness(asked[0], found[2]) + 0.3
        assert nearness(asked[1], found[1]) > nearness(asked[1], found[2]) + 0.3
