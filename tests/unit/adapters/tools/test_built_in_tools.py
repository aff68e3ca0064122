"""What the built-in tools of search, reading, summaries and reports do."""

from dataclasses import replace
from pathlib import Path
from typing import Any, cast

import pytest

from outlast.adapters.tools.ask_human import AskHuman
from outlast.adapters.tools.read_artifact import ReadArtifact
from outlast.adapters.tools.summarize import Summarize
from outlast.adapters.tools.web_fetch import WebFetch
from outlast.adapters.tools.web_search import WebSearch
from outlast.adapters.tools.write_report import WriteReport
from outlast.domain.ids import source_key
from outlast.domain.source import Found
from outlast.ports.search import Page, SearchHit
from outlast.ports.tool import Artifacts, Ask, Draft, ReadSource, ToolContext

URL = "https://example.org/a"


class Library:
    def __init__(self, text: str = "", note: str = "", *, is_cut: bool = False) -> None:
        self.page = Page(URL, "A", text, "text/markdown", len(text.encode()), is_cut=is_cut, note=note)
        self.asked: list[tuple[str, str, str]] = []

    async def search(self, query: str, limit: int) -> list[SearchHit]:
        return [SearchHit(f"{URL}{number}", f"T{number}", "…", 1.0) for number in range(limit)]

    async def fetch(self, url: str) -> Page:
        return self.page

    async def ask(self, purpose: str, prompt: str, text: str) -> str:
        self.asked.append((purpose, prompt, text))
        return "- one"

    async def get(self, digest: str) -> bytes | None:
        return {"a" * 64: "🙂".encode() * 10_000, "b" * 64: b"\x7fELF\0"}.get(digest)

    async def close(self) -> None: ...


def context_with(library: Library, **services: Any) -> ToolContext:
    bare = ToolContext("local", "t-1", "r-1", "c1-0", "k", None, Path(), cast(Artifacts, library))
    return replace(bare, **services)


async def test_search_names_source_keys_and_records_the_query() -> None:
    library = Library()
    result = await WebSearch().execute("tea", context_with(library, search=library), limit=2)
    assert result.data["results"][0] == {
        "url": f"{URL}0",
        "title": "T0",
        "snippet": "…",
        "source": source_key(f"{URL}0"),
    }
    assert result.found == [Found(f"{URL}0", "T0", "tea"), Found(f"{URL}1", "T1", "tea")]


async def test_tools_without_their_service_fail_with_what_to_do() -> None:
    bare = context_with(Library())
    for result in (
        await WebSearch().execute("tea", bare),
        await WebFetch().execute(URL, bare),
        await Summarize().execute("text", bare),
    ):
        assert not result.success
        assert result.error


async def test_fetch_reads_a_page_in_parts_and_enters_all_of_it() -> None:
    text = "雪" * 20_000
    library = Library(text, "robots.txt was not there", is_cut=True)
    context = context_with(library, fetch=library)
    parts, offset = [], 0
    while True:
        result = await WebFetch().execute(URL, context, offset=offset)
        assert result.read == [ReadSource(URL, "A", text, "text/markdown")]
        assert len(result.data["text"].encode()) <= 16_000
        parts.append(result.data["text"])
        if "next_offset" not in result.data:
            break
        offset = result.data["next_offset"]
    assert "".join(parts) == text
    assert result.data["source"] == source_key(URL)
    assert result.data["note"] == "robots.txt was not there Only the first part of 60000 bytes was read."
    assert not (await WebFetch().execute(URL, context, offset=20_000)).success


async def test_summarize_asks_the_model_for_so_many_points() -> None:
    library = Library()
    result = await Summarize().execute("long text", context_with(library, model=library), max_points=3)
    assert result.data == "- one"
    ((purpose, prompt, text),) = library.asked
    assert (purpose, text) == ("summarize", "long text")
    assert prompt.endswith("MAX POINTS: 3")


async def test_report_and_question_go_to_the_engine() -> None:
    section = {"heading": "H", "claims": [{"text": "It is."}]}
    assert await WriteReport().execute("T", "S", [section]) == Draft(
        {"title": "T", "summary": "S", "sections": [section], "limits": []}
    )
    assert await AskHuman().execute(" Which? ") == Ask("Which?")


async def test_artifact_is_read_in_parts_that_split_no_character() -> None:
    context = context_with(Library())
    first = (await ReadArtifact().execute("a" * 64, 0, 1_001, context)).data
    assert first == {"text": "🙂" * 250, "size_bytes": 40_000, "next_offset": 1_000}
    last = (await ReadArtifact().execute("a" * 64, 39_996, 1_001, context)).data
    assert last == {"text": "🙂", "size_bytes": 40_000}


@pytest.mark.parametrize(("digest", "words"), [("b" * 64, "binary, 5 bytes"), ("c" * 64, "no artifact")])
async def test_artifact_that_cannot_be_shown_is_a_failure(digest: str, words: str) -> None:
    result = await ReadArtifact().execute(digest, 0, 100, context_with(Library()))
    assert words in str(result.error)
