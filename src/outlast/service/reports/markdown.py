"""The report as Markdown (CommonMark)."""

from __future__ import annotations

import re
from collections.abc import Iterator

from outlast.domain.report import Citation, Claim, Report
from outlast.service.reports.address import link_to, shown
from outlast.service.reports.labels import Labels, labels_in
from outlast.service.reports.remarks import about_claim, about_source, anchor_of

_SPECIAL = re.compile(r"[\\`*\[\]#|~$]|(?<![^\W_])_|_(?![^\W_])")
_LIST_MARK = re.compile(r"(?:[-+=:]|\d{1,9}(?=[.)]))")
_ENTITIES = str.maketrans({"&": "&amp;", "<": "&lt;", ">": "&gt;"})


def to_markdown(report: Report) -> str:
    """The report as Markdown, in its own language; nothing in it can become markup, HTML or a link that is not http or mailto."""
    return "\n".join(_lines(report, labels_in(report.language))) + "\n"


def escaped(text: str) -> str:
    """`text` on one line, so that Markdown shows it as it is wherever it stands."""
    line = _SPECIAL.sub(r"\\\g<0>", shown(text)).translate(_ENTITIES)
    mark = _LIST_MARK.match(line)
    if mark is None:
        return line
    return f"\\{line}" if not mark.group()[0].isdigit() else f"{mark.group()}\\{line[mark.end() :]}"


def _lines(report: Report, labels: Labels) -> Iterator[str]:
    known = {source.id for source in report.sources}
    yield f"# {escaped(report.title)}"
    if report.outcome == "partial":
        yield from ("", f"> **{labels.partial if report.sections else labels.without_findings}**")
    yield from ("", f"**{labels.question}** {escaped(report.question)}")
    yield from ("", escaped(report.summary))
    for section in report.sections:
        yield from ("", f"## {escaped(section.heading)}", "")
        yield from (_claim(claim, known, labels) for claim in section.claims)
        if not section.claims:
            yield f"*{labels.nothing}*"
    if report.sources:
        yield from ("", f"## {labels.sources}", "")
        yield from (_source(source, labels) for source in report.sources)
    if report.limits:
        yield from ("", f"## {labels.limits}", "")
        yield from (f"- {escaped(limit)}" for limit in report.limits)


def _claim(claim: Claim, known: set[str], labels: Labels) -> str:
    citations = [
        f"[{escaped(key)}](#{anchor_of(key)})" for key in dict.fromkeys(claim.sources) if key in known
    ]
    marks = " ".join(citations) or f"({labels.no_source})"
    return f"- {escaped(claim.text)} {marks} *({escaped(about_claim(claim, labels))})*"


def _source(source: Citation, labels: Labels) -> str:
    target = link_to(source.url)
    title = escaped(source.title or source.url)
    place = f"[{title}](<{target}>)" if target is not None else f"{title}, {escaped(source.url)}"
    quote = f" {escaped(labels.quoted.format(quote=source.quote))}" if source.quote else ""
    anchor = f'<a id="{anchor_of(source.id)}"></a>'
    return f"- {anchor}**{escaped(source.id)}** {place}{quote} *({escaped(about_source(source, labels))})*"
