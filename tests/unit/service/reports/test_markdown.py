"""The Markdown form of a report, read back by a CommonMark parser."""

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st
from markdown_it import MarkdownIt
from markdown_it.token import Token

from outlast.service.reports.address import shown
from outlast.service.reports.markdown import escaped, to_markdown
from tests.law import law
from tests.unit.service.reports.hostile import HOSTILE
from tests.unit.service.reports.samples import REPORT, report_of

PARSER = MarkdownIt("gfm-like", {"linkify": False}).enable("table")


def inline_text(tokens: list[Token]) -> str:
    return "".join(token.content for token in tokens if token.type in ("text", "text_special"))


def links_in(markdown: str) -> list[str]:
    return [
        str(child.attrs["href"])
        for token in PARSER.parse(markdown)
        for child in token.children or ()
        if child.type == "link_open"
    ]


@law("PLAN-4.b", "PLAN-4.e")
def test_claims_lead_to_sources_and_name_steps() -> None:
    text = to_markdown(REPORT)
    assert (
        "- A lagoon costs 168 euros. [S1](#source-s1) [S2](#source-s2) *(confidence 70%, steps 4, 7)*" in text
    )
    assert '- <a id="source-s1"></a>**S1** [Costs](<https://a.example/x?a=1&b=2>) “costs 168 euros”' in text
    assert "*(read 2026-01-02 03:04 UTC in step 4, found in step 3 by searching for “cost”)*" in text
    assert "**S2** Notes, corpus://notes.md" in text
    assert "*Nothing was found on this.*" in text


@law("PLAN-4.c")
def test_labels_are_in_the_language_of_the_report() -> None:
    text = to_markdown(replace(REPORT, language="zh-CN", outcome="partial"))
    assert "## 来源" in text
    assert "**问题：** How" in text
    assert "部分结果" in text


def test_a_claim_without_a_known_source_is_marked() -> None:
    assert "(no source)" in to_markdown(replace(REPORT, sources=()))


@law("PLAN-4.b")
@pytest.mark.parametrize("text", HOSTILE)
def test_g11_06_hostile_text_stays_text_in_markdown(text: str) -> None:
    tokens = PARSER.parse(to_markdown(report_of(text)))
    headings = [token for token in tokens if token.type == "heading_open"]
    assert [token.tag for token in headings] == ["h1", "h2", "h2", "h2"]
    assert not [
        token for token in tokens if token.type in ("html_block", "fence", "code_block", "table_open", "hr")
    ]
    raw = [child.content for token in tokens for child in token.children or () if child.type == "html_inline"]
    assert raw == ['<a id="source-s1">', "</a>"]
    assert not [child for token in tokens for child in token.children or () if child.type == "image"]
    assert all(
        link.startswith(("#source-s1", "http://", "https://", "mailto:"))
        for link in links_in(to_markdown(report_of(text)))
    )


def assert_read_back(text: str) -> None:
    tokens = PARSER.parse(f"- {escaped(text)} end")
    opened = [token.type for token in tokens if token.nesting == 1]
    assert opened == ["bullet_list_open", "list_item_open", "paragraph_open"]
    [inline] = [token for token in tokens if token.type == "inline"]
    assert inline_text(inline.children or []).split() == f"{shown(text)} end".split()


@pytest.mark.parametrize(
    "mark", ["-", "+", "*", "1.", "12)", "#", ">", "=", "~~~", "```", "[ ]", "|", ":", "&amp;", "\\"]
)
def test_a_mark_at_the_beginning_is_text(mark: str) -> None:
    assert_read_back(f"{mark} one")


ANY = st.one_of(st.characters(exclude_categories=("Cs",)), st.sampled_from("*_`[]()<>#|~\\-+=1.!&\n\t "))


@given(st.text(alphabet=ANY, max_size=40))
def test_any_text_is_read_back_as_it_was(text: str) -> None:
    assert_read_back(text)
