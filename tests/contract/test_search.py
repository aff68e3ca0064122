"""The local corpus and the web fetch keep the contracts of search and fetch."""

from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from outlast.adapters.search.corpus import CorpusSearch
from outlast.adapters.search.routing import FetchRouter
from outlast.adapters.search.web_fetch import HttpFetch
from outlast.testing.contracts.search import FetchContract, FetchSubject, SearchContract, SearchSubject
from tests.unit.adapters.search.making import write
from tests.unit.adapters.search.serving import answer, serving

FILES: dict[str, str | bytes] = {
    "a.md": "# Lagoons\n\nA lagoon holds the sea.",
    "b.txt": "Notes\n\nThe lagoon is full.",
    "c.md": "# Wind\n\nNo water here.",
}


class TestCorpusSearch(SearchContract):
    @pytest.fixture(params=["in a file", "in memory"])
    async def subject(self, tmp_path: Path, request: pytest.FixtureRequest) -> AsyncIterator[SearchSubject]:
        index = tmp_path / "corpus.db" if request.param == "in a file" else None
        corpus = CorpusSearch(write(tmp_path / "docs", FILES), index)
        yield SearchSubject(search=corpus, known_query="lagoon", unknown_query="zeppelin")
        await corpus.close()


class TestCorpusFetch(FetchContract):
    @pytest.fixture
    async def subject(self, tmp_path: Path) -> AsyncIterator[FetchSubject]:
        corpus = CorpusSearch(write(tmp_path, FILES), None)
        yield FetchSubject(fetch=corpus, known_url="corpus://a.md", missing_url="corpus://z.md")
        await corpus.close()


class TestWebFetch(FetchContract):
    @pytest.fixture
    async def subject(self) -> AsyncIterator[FetchSubject]:
        async with serving() as site:
            site.answers["/a"] = answer("A lagoon.", Content_Type="text/plain")
            fetch = HttpFetch(timeout_seconds=10, allow_hosts=(f"127.0.0.1:{site.port}",))
            yield FetchSubject(fetch=fetch, known_url=site.url("/a"), missing_url=site.url("/z"))
            await fetch.close()


class TestRoutedFetch(FetchContract):
    @pytest.fixture
    async def subject(self, tmp_path: Path) -> AsyncIterator[FetchSubject]:
        router = FetchRouter(CorpusSearch(write(tmp_path, FILES), None), HttpFetch(timeout_seconds=10))
        yield FetchSubject(fetch=router, known_url="corpus://a.md", missing_url="corpus://z.md")
        await router.close()
