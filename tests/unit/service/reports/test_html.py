"""The HTML form of a report, read back by an HTML parser."""

from dataclasses import replace
from html.parser import HTMLParser

import pytest
from hypothesis import given
from hypothesis import strategies as st

from outlast.service.reports.address import shown
from outlast.service.reports.html import to_html
from tests.law import law
from tests.unit.service.reports.hostile import HOSTILE
from tests.unit.service.reports.samples import REPORT, report_of

TAGS = {
    *(
        "html",
        "head",
        "meta",
        "title",
        "style",
        "body",
        "main",
        "h1",
        "h2",
        "p",
        "strong",
        "bdi",
        "ul",
        "ol",
        "li",
        "a",
        "span",
    ),
    *("blockquote", "details", "summary"),
}
ATTRIBUTES = {"lang", "charset", "http-equiv", "content", "name", "class", "dir", "role", "id", "href", "rel"}


class Page(HTMLParser):
    """The tags, attributes and texts of a page."""

    def __init__(self, html: str) -> None:
        super().__init__(convert_charrefs=True)
        self.tags: list[str] = []
        self.attributes: list[tuple[str, str]] = []
        self.texts: list[str] = []
        self.feed(html)
        self.close()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append(tag)
        self.attributes += [(name, value or "") for name, value in attrs]

    def handle_data(self, data: str) -> None:
        self.texts.append(data)

    def values(self, attribute: str) -> list[str]:
        return [value for name, value in self.attributes if name == attribute]


@law("PLAN-4.b", "PLAN-4.e")
def test_citations_lead_to_sources_and_back() -> None:
    page = Page(to_html(REPORT))
    ids, links = page.values("id"), page.values("href")
    inner = {link[1:] for link in links if link.startswith("#")}
    assert inner <= set(ids)
    assert {"source-s1", "source-s2", "claim-1-1", "claim-1-2"} <= inner
    assert len(ids) == len(set(ids))
    assert "https://a.example/x?a=1&b=2" in links
    assert not any(link.startswith("corpus") for link in links)


def test_the_page_stands_alone() -> None:
    page = Page(to_html(REPORT))
    assert not {"script", "link", "img", "iframe"} & set(page.tags)
    assert not page.values("src")
    assert "default-src 'none'" in page.values("content")[0]
    assert "@import" not in to_html(REPORT)
    assert "url(" not in to_html(REPORT)


@law("PLAN-4.c")
def test_the_page_is_in_the_language_of_the_report() -> None:
    page = Page(to_html(replace(REPORT, language="zh", outcome="partial")))
    assert page.values("lang") == ["zh"]
    assert "来源" in page.texts
    assert any("部分结果" in text for text in page.texts)


def test_the_words_of_a_claim_are_shown_when_they_differ() -> None:
    claim = replace(REPORT.sections[0].claims[0], quote="It costs **168** euros.")
    section = replace(REPORT.sections[0], claims=(claim,))
    assert "It costs **168** euros." in Page(to_html(replace(REPORT, sections=(section,)))).texts


def assert_only_text(text: str) -> None:
    page = Page(to_html(report_of(text)))
    assert set(page.tags) <= TAGS
    assert {name for name, _ in page.attributes} <= ATTRIBUTES
    assert all(link.startswith(("#", "http://", "https://", "mailto:")) for link in page.values("href"))
    assert page.tags.count("h1") == 1
    if shown(text):
        assert page.texts.count(shown(text)) >= 5


@law("PLAN-4.b")
@pytest.mark.parametrize("text", HOSTILE)
def test_g11_06_hostile_text_stays_text_in_html(text: str) -> None:
    assert_only_text(text)


@given(
    st.text(
        alphabet=st.one_of(st.characters(exclude_categories=("Cs",)), st.sampled_from("<>&\"'/=:!-# ")),
        max_size=60,
    )
)
def test_any_text_stays_text(text: str) -> None:
    assert_only_text(text)


def test_a_link_says_where_it_leads() -> None:
    source = replace(
        REPORT.sources[0], title="https://bank.example", url="https://bank.example@evil.example/x"
    )
    assert "evil.example" in Page(to_html(replace(REPORT, sources=(source,)))).texts
