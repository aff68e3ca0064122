"""Any text is a query, and what is written in a document is found."""

import asyncio
import re
import string
import unicodedata
from collections.abc import AsyncIterator, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from outlast.adapters.search.corpus import CorpusSearch
from outlast.adapters.search.corpus.index import CorpusIndex, Document
from outlast.adapters.search.corpus.ranking import best_documents
from tests.law import law
from tests.unit.adapters.search.making import write

EVERY_QUERY = [
    "C++", "pre-edit", "TODO: fix", "don't", "ubuntu 20.04", "AND", '"open', "NEAR(", "*", "100%", "a_b",
    "OR", "NOT", "title:", "^", "{x}", "'", '""', "a AND", "(", "-", "body : x", "a + b", "NEAR(a b, 3)",
]  # fmt: skip


@pytest.fixture
async def library(tmp_path: Path) -> AsyncIterator[CorpusSearch]:
    write(
        tmp_path,
        {
            f"literal-{number}.md": f"Here is {query} as it stands."
            for number, query in enumerate(EVERY_QUERY)
        },
    )
    write(
        tmp_path,
        {
            "zh.md": "# 值班\n\n我们把部署窗口改到周四晚上。",
            "ja.txt": "週末にしりとりをした。サーバーは元気だ。",
            "ko.txt": "우리는 서울에서 회의를 했다.",
            "th.txt": "พลังงานลมนอกชายฝั่ง",
            "en.md": "# Ship logs\n\nThe cranes were deployed at night. Deploying took long.",
        },
    )
    corpus = CorpusSearch(tmp_path, None)
    yield corpus
    await corpus.close()


async def addresses(corpus: CorpusSearch, query: str, limit: int = 50) -> list[str]:
    return [hit.url for hit in await corpus.search(query, limit)]


@law("TOOL-8.a")
async def test_g10_01_words_of_two_characters_are_found_inside_a_sentence(library: CorpusSearch) -> None:
    for query in ("部署", "部署窗口", "周四"):
        assert (await addresses(library, query))[0] == "corpus://zh.md"
    for query in ("しりとり", "しり", "サーバー"):
        assert (await addresses(library, query))[0] == "corpus://ja.txt"
    for query in ("서울", "회의"):
        assert (await addresses(library, query))[0] == "corpus://ko.txt"
    assert (await addresses(library, "ลมนอก"))[0] == "corpus://th.txt"


async def test_g10_01_english_is_found_by_its_stem(library: CorpusSearch) -> None:
    assert (await addresses(library, "deploy crane"))[0] == "corpus://en.md"


async def test_a_query_may_mix_scripts(library: CorpusSearch) -> None:
    assert set(await addresses(library, "deployed 部署窗口")) >= {"corpus://zh.md", "corpus://en.md"}


async def test_full_width_letters_and_case_do_not_matter(library: CorpusSearch) -> None:
    assert "corpus://en.md" in await addresses(library, "ＣＲＡＮＥＳ")


@pytest.mark.parametrize("query", EVERY_QUERY)
async def test_g10_03_operators_have_no_meaning_and_literals_are_found(
    library: CorpusSearch, query: str
) -> None:
    wanted = f"corpus://literal-{EVERY_QUERY.index(query)}.md"
    hits = await library.search(query, 50)
    assert wanted in [hit.url for hit in hits]
    assert all(query.casefold() in hit.snippet.casefold() for hit in hits if hit.score == hits[0].score)


async def test_a_literal_is_found_first_among_many_documents_that_share_its_letters(tmp_path: Path) -> None:
    write(tmp_path, {f"{number}.md": f"# The letter C\n\nC is letter {number}." for number in range(80)})
    write(tmp_path, {"z.txt": "Of languages\n\n" + "many words stand here " * 40 + "C++ is one"})
    corpus = CorpusSearch(tmp_path, None)
    assert [hit.url for hit in await corpus.search("C++", 1)] == ["corpus://z.txt"]
    await corpus.close()


async def test_percent_and_underscore_are_no_wildcards(library: CorpusSearch) -> None:
    assert "corpus://literal-0.md" not in await addresses(library, "_%_")


async def test_nothing_matches_nothing(library: CorpusSearch) -> None:
    assert await library.search("zebrafish", 5) == []
    assert await library.search("", 5) == []
    assert await library.search("crane", 0) == []


async def test_a_word_in_the_title_weighs_more_than_one_in_the_text(tmp_path: Path) -> None:
    filler = " ".join(["wind water stone"] * 30)
    write(
        tmp_path,
        {
            "a.md": f"# Notes\n\nBarrage {filler}",
            "b.md": f"# The barrage\n\nBarrage {filler}",
            "c.md": f"# Other\n\n{filler}",
            "d.md": f"# More\n\n{filler}",
            "e.md": f"# Yet more\n\n{filler}",
        },
    )
    corpus = CorpusSearch(tmp_path, None)
    hits = await corpus.search("barrage", 5)
    await corpus.close()
    assert [hit.title for hit in hits] == ["The barrage", "Notes"]
    assert hits[0].score > hits[1].score > 0


async def test_a_hit_is_a_document_with_its_best_passage(tmp_path: Path) -> None:
    sections = [f"# Part {number}\n\n{'Sand and gravel. ' * 60}" for number in range(8)]
    sections[5] += "\n\nThe turbine hall floods. The turbine stops."
    write(tmp_path, {"long.md": "\n\n".join(sections), "other.md": "# Other\n\nNothing here."})
    corpus = CorpusSearch(tmp_path, None)
    hits = await corpus.search("turbine hall", 5)
    await corpus.close()
    assert [hit.url for hit in hits] == ["corpus://long.md"]
    assert "turbine hall floods" in hits[0].snippet
    assert len(hits[0].snippet) <= 1200


async def test_searching_does_not_hold_up_the_event_loop(library: CorpusSearch) -> None:
    async def tick() -> int:
        ticks = 0
        while not searching.done():
            ticks += 1
            await asyncio.sleep(0)
        return ticks

    searching = asyncio.ensure_future(library.search("部署", 5))
    assert await tick() > 1
    assert await searching


HAN = st.text(alphabet=st.characters(min_codepoint=0x4E00, max_codepoint=0x9FFF), min_size=2, max_size=30)
WORD = st.text(alphabet=string.ascii_letters + string.digits + "éßñøЖдλ", min_size=1, max_size=12)
RUNS = st.lists(st.one_of(HAN, WORD), min_size=1, max_size=12)
QUICK = settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])


def indexed(text: str) -> CorpusIndex:
    index = CorpusIndex(None)
    index.put([Document("doc.txt", "s", "d", "Title", "text/plain", len(text), text=text)])
    index.put([Document("other.txt", "s", "d", "Other", "text/plain", 4, text="quiet water")])
    return index


@QUICK
@given(query=st.text(max_size=80))
def test_any_text_is_a_query(query: str) -> None:
    index = indexed("The cost is 100% C++ (open)")
    assert isinstance(best_documents(index, query, 3), list)
    index.close()


@QUICK
@given(runs=RUNS)
def test_every_word_of_a_text_finds_it(runs: list[str]) -> None:
    text = "，".join(runs)
    index = indexed(text)
    for run in runs:
        plain = unicodedata.normalize("NFKC", run)
        queries = (
            [plain[at : at + 2] for at in range(len(plain) - 1)]
            if re.match(r"[\u4e00-\u9fff]", run)
            else [run]
        )
        for query in queries:
            assert "corpus://doc.txt" in [hit.url for hit in best_documents(index, query, 5)], query
    index.close()


def titled(title: str, text: str) -> Document:
    return Document(f"{title}.txt", "s", f"{title} {text}", title, "text/plain", len(text), text=text)


class Disturbed(CorpusIndex):
    """An index in which another process enters a document again between any two questions."""

    def __init__(self, file: Path) -> None:
        super().__init__(file)
        self._other, self._times = CorpusIndex(file), 0

    def select(self, sql: str, parameters: Mapping[str, object]) -> list[tuple[Any, ...]]:
        rows = super().select(sql, parameters)
        self._times += 1
        self._other.put([titled("one", f"salt marsh {self._times}")])
        return rows


def test_a_search_finds_what_another_process_enters_anew_meanwhile(tmp_path: Path) -> None:
    index = Disturbed(tmp_path / "index.db")
    index.put([titled("one", "salt marsh"), titled("two", "salt works")])
    for _ in range(2):
        hits = best_documents(index, "salt", 5)
        assert {hit.title for hit in hits} == {"one", "two"}


def test_a_document_that_is_there_as_it_was_read_is_not_entered_again(tmp_path: Path) -> None:
    first, second = CorpusIndex(tmp_path / "index.db"), CorpusIndex(tmp_path / "index.db")
    first.put([titled("one", "salt marsh"), titled("two", "salt works")])
    passages = first.select("select id from passage", {})
    second.put([replace(titled("one", "salt marsh"), stamp="later")])
    assert first.select("select id from passage", {}) == passages
    assert first.known()["one.txt"][0] == "later"
    second.put([titled("one", "fresh water")])
    assert [hit.title for hit in best_documents(first, "fresh", 5)] == ["one"]
