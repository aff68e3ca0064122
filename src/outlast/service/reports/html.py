"""The report as one HTML page: no script, nothing loaded from anywhere."""

from __future__ import annotations

import base64
import hashlib
from collections.abc import Iterator
from html import escape

from outlast.domain.report import Citation, Claim, Report, Section
from outlast.service.reports.address import host_of, link_to, shown
from outlast.service.reports.labels import Labels, labels_in
from outlast.service.reports.remarks import about_claim, about_source, anchor_of, cited_by
from outlast.service.reports.style import STYLE


def to_html(report: Report) -> str:
    """The report as a page that stands alone, in its own language, light or dark as the reader's system is.

    All text is escaped; only http, https and mailto addresses become links. Citations lead to their sources and back. A policy in
    the page forbids scripts and every load, whatever it may hold.
    """
    labels = labels_in(report.language)
    return (
        "\n".join([*_head(report, labels), "<main>", *_body(report, labels), "</main>", "</body>", "</html>"])
        + "\n"
    )


def _head(report: Report, labels: Labels) -> Iterator[str]:
    digest = base64.b64encode(hashlib.sha256(STYLE.encode()).digest()).decode()
    policy = f"default-src 'none'; style-src 'sha256-{digest}'; base-uri 'none'; form-action 'none'"
    yield "<!doctype html>"
    yield f'<html lang="{labels.code}">'
    yield "<head>"
    yield '<meta charset="utf-8">'
    yield f'<meta http-equiv="Content-Security-Policy" content="{policy}">'
    yield '<meta name="viewport" content="width=device-width, initial-scale=1">'
    yield '<meta name="referrer" content="no-referrer">'
    yield f"<title>{_text(report.title)}</title>"
    yield f"<style>{STYLE}</style>"
    yield "</head>"
    yield "<body>"


def _body(report: Report, labels: Labels) -> Iterator[str]:
    known = {source.id for source in report.sources}
    yield f'<h1 dir="auto">{_text(report.title)}</h1>'
    if report.outcome == "partial":
        why = labels.partial if report.sections else labels.without_findings
        yield f'<p class="partial" role="note">{_text(why)}</p>'
    yield f'<p class="question"><strong>{_text(labels.question)}</strong> <bdi>{_text(report.question)}</bdi></p>'
    yield f'<p class="summary" dir="auto">{_text(report.summary)}</p>'
    for at, section in enumerate(report.sections, 1):
        yield from _section(section, at, known, labels)
    if report.sources:
        yield f'<h2 id="sources">{_text(labels.sources)}</h2>'
        yield '<ol role="list">'
        places = cited_by(report)
        for source in report.sources:
            yield from _source(source, places[source.id], labels)
        yield "</ol>"
    if report.limits:
        yield f'<h2 id="limits">{_text(labels.limits)}</h2>'
        yield '<ul class="limits" role="list">'
        yield from (f'<li dir="auto">{_text(limit)}</li>' for limit in report.limits)
        yield "</ul>"


def _section(section: Section, at: int, known: set[str], labels: Labels) -> Iterator[str]:
    yield f'<h2 dir="auto">{_text(section.heading)}</h2>'
    if not section.claims:
        yield f'<p class="nothing">{_text(labels.nothing)}</p>'
        return
    yield '<ul role="list">'
    for claim_at, claim in enumerate(section.claims, 1):
        yield f'<li id="claim-{at}-{claim_at}"><span class="number">{at}.{claim_at}</span>'
        yield from _claim(claim, known, labels)
        yield "</li>"
    yield "</ul>"


def _claim(claim: Claim, known: set[str], labels: Labels) -> Iterator[str]:
    cited = [key for key in dict.fromkeys(claim.sources) if key in known]
    marks = " ".join(f'<a class="cite" href="#{anchor_of(key)}">{_text(key)}</a>' for key in cited)
    if not marks:
        marks = f'<span class="unsupported">({_text(labels.no_source)})</span>'
    yield f"<bdi>{_text(claim.text)}</bdi> {marks}"
    yield f'<span class="about">{_text(about_claim(claim, labels))}</span>'
    if claim.quote and shown(claim.quote) != shown(claim.text):
        yield f"<details><summary>{_text(labels.quote)}</summary>"
        yield f'<blockquote dir="auto">{_text(claim.quote)}</blockquote></details>'


def _source(source: Citation, places: list[tuple[int, int]], labels: Labels) -> Iterator[str]:
    yield f'<li id="{anchor_of(source.id)}"><span class="id">{_text(source.id)}</span>{_place(source)}'
    if source.quote:
        yield f'<blockquote dir="auto">{_text(source.quote)}</blockquote>'
    yield f'<span class="about">{_text(about_source(source, labels))}</span>'
    if places:
        back = " ".join(f'<a href="#claim-{at}-{claim_at}">{at}.{claim_at}</a>' for at, claim_at in places)
        yield f'<span class="about">{_text(labels.cited_in)} {back}</span>'
    yield "</li>"


def _place(source: Citation) -> str:
    """A link says beside its title where it leads, since a title can say anything."""
    target = link_to(source.url)
    title = f"<bdi>{_text(source.title or source.url)}</bdi>"
    if target is None:
        return (
            f'{title} <span class="address"><bdi>{_text(source.url)}</bdi></span>' if source.title else title
        )
    link = f'<a href="{escape(target)}" rel="noopener noreferrer nofollow ugc">{title}</a>'
    return f'{link} <span class="address"><bdi>{_text(host_of(target))}</bdi></span>'


def _text(text: str) -> str:
    return escape(shown(text))
