"""What every search and every fetch promises, as tests to inherit.

class TestMySearch(SearchContract):
    @pytest.fixture
    async def subject(self) -> AsyncIterator[SearchSubject]:
        ...
        yield SearchSubject(search=..., known_query=..., unknown_query=...)
"""

from __future__ import annotations

import pytest

from outlast.domain.dataclass import dataclass
from outlast.domain.door import clean_text, stored_form
from outlast.domain.errors import ToolTrouble
from outlast.ports.search import Fetch, Page, Search

ODD_QUERIES = (
    *(
        "",
        " ",
        "C++",
        "pre-edit",
        "TODO: fix",
        "don't",
        "AND",
        "a OR",
        '"open',
        "NEAR(",
        "*",
        "100%",
        "a_b",
        "部署",
    ),
    *("site:x -y", "\x00", "\ud800", "🙂", "x" * 10_000, "<script>", "'; drop table document; --"),
)
FETCH_CODES = frozenset({"fetch_refused", "fetch_failed", "not_found"})


@dataclass(frozen=True, slots=True, kw_only=True)
class SearchSubject:
    """The search under test. `known_query` finds at least two documents, `unknown_query` none."""

    search: Search
    known_query: str
    unknown_query: str


@dataclass(frozen=True, slots=True, kw_only=True)
class FetchSubject:
    """The fetch under test: an address that can be read and one of the same kind that names nothing."""

    fetch: Fetch
    known_url: str
    missing_url: str


class SearchContract:
    """Inherit, and give a fixture `subject`."""

    pytestmark = pytest.mark.asyncio

    async def test_hits_come_best_first_and_can_be_stored(self, subject: SearchSubject) -> None:
        hits = await subject.search.search(subject.known_query, 10)
        assert len(hits) >= 2
        assert [hit.score for hit in hits] == sorted((hit.score for hit in hits), reverse=True)
        for hit in hits:
            assert hit.score >= 0
            assert hit.url
            assert hit.title
            fields = [hit.url, hit.title, hit.snippet, hit.score]
            assert stored_form(fields) == fields

    async def test_a_document_is_named_once(self, subject: SearchSubject) -> None:
        urls = [hit.url for hit in await subject.search.search(subject.known_query, 10)]
        assert len(urls) == len(set(urls))

    async def test_the_limit_holds(self, subject: SearchSubject) -> None:
        first, *_ = await subject.search.search(subject.known_query, 10)
        assert await subject.search.search(subject.known_query, 1) == [first]
        assert await subject.search.search(subject.known_query, 0) == []

    async def test_asking_again_gives_the_same_answer(self, subject: SearchSubject) -> None:
        first = await subject.search.search(subject.known_query, 10)
        assert await subject.search.search(subject.known_query, 10) == first

    async def test_what_matches_nothing_gives_nothing(self, subject: SearchSubject) -> None:
        assert await subject.search.search(subject.unknown_query, 10) == []

    @pytest.mark.parametrize("query", ODD_QUERIES)
    async def test_any_text_is_a_query(self, subject: SearchSubject, query: str) -> None:
        assert isinstance(await subject.search.search(query, 3), list)

    async def test_closing_twice_is_safe(self, subject: SearchSubject) -> None:
        await subject.search.close()
        await subject.search.close()


class FetchContract:
    """Inherit, and give a fixture `subject`."""

    pytestmark = pytest.mark.asyncio

    async def test_a_page_has_text_that_can_be_stored(self, subject: FetchSubject) -> None:
        page = await subject.fetch.fetch(subject.known_url)
        assert isinstance(page, Page)
        assert page.text.strip()
        assert page.size_bytes > 0
        assert "/" in page.media_type
        for text in (page.url, page.title, page.text, page.note):
            assert clean_text(text) == text

    async def test_what_is_not_there_is_not_found(self, subject: FetchSubject) -> None:
        with pytest.raises(ToolTrouble) as caught:
            await subject.fetch.fetch(subject.missing_url)
        assert caught.value.code == "not_found"
        assert caught.value.next_step

    @pytest.mark.parametrize(
        "address",
        ["", "x", "file:///etc/passwd", "http://127.0.0.1/", "http://[", "\x00", "\ud800", "a" * 9999],
    )
    async def test_other_addresses_are_told_apart_from_surprises(
        self, subject: FetchSubject, address: str
    ) -> None:
        with pytest.raises(ToolTrouble) as caught:
            await subject.fetch.fetch(address)
        assert caught.value.code in FETCH_CODES
        assert clean_text(caught.value.detail) == caught.value.detail

    async def test_closing_twice_is_safe(self, subject: FetchSubject) -> None:
        await subject.fetch.close()
        await subject.fetch.close()
