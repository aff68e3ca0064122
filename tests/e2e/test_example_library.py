"""The library of the research example can be read whole and answers the questions it was written for."""

from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from outlast.adapters.search.corpus import CorpusSearch
from tests.law import law

DOCS = Path(__file__).parents[2] / "examples" / "research" / "docs"


@pytest.fixture
async def library() -> AsyncIterator[CorpusSearch]:
    corpus = CorpusSearch(DOCS, None)
    yield corpus
    await corpus.close()


@law("TOOL-8.a")
@pytest.mark.parametrize(
    ("question", "best", "also"),
    [
        (
            "How do tidal lagoons compare with offshore wind on cost and reliability?",
            "reliability-offshore-wind.md",
            {"maintenance-of-marine-plants.pdf", "grid-integration.html", "levelised-costs-2030.md"},
        ),
        (
            "潮汐潟湖与海上风电在成本和可靠性方面相比如何？",
            "潮汐潟湖与海上风电比较.pdf",
            {"海上风电成本与可靠性.md", "潮汐潟湖概述.md", "潮流能机组运维.html"},
        ),
        (
            "levelised cost of electricity from a tidal lagoon",
            "levelised-costs-2030.md",
            {"lagoon-programme-review.md"},
        ),
    ],
)
async def test_the_questions_of_the_example_find_their_documents(
    library: CorpusSearch, question: str, best: str, also: set[str]
) -> None:
    hits = await library.search(question, 8)
    found = [hit.url.removeprefix("corpus://") for hit in hits]
    assert found[0] == best
    assert set(found) >= also
    assert "tower-clock-care.md" not in found


async def test_words_that_stand_everywhere_still_count(library: CorpusSearch) -> None:
    found = [hit.url.removeprefix("corpus://") for hit in await library.search("tidal lagoon cost", 20)]
    assert found.index("lagoon-programme-review.md") < found.index("tidal-stream-turbines.md")
    assert found.index("tidal-lagoons-overview.md") < found.index("offshore-wind-overview.md")


async def test_every_document_of_the_example_is_read_without_loss(library: CorpusSearch) -> None:
    await library.refresh()
    assert library.problems() == []
    for file in sorted(DOCS.iterdir()):
        page = await library.fetch(f"corpus://{file.name}")
        assert len(page.text) > 500
        assert page.title
        assert not any(
            junk in page.text for junk in ("newsletter", "cookies", "cheap watches", "dataLayer", "登录")
        )
