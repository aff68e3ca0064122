"""What is said about claims and sources beside their text, as plain words for every form."""

from __future__ import annotations

from outlast.domain.report import Citation, Claim, Report
from outlast.service.reports.address import moment, shown
from outlast.service.reports.labels import Labels


def about_claim(claim: Claim, labels: Labels) -> str:
    """Whether a claim is new, how sure it is, and which steps it came from."""
    parts = [labels.new] if claim.is_new else []
    parts.append(labels.confidence.format(percent=round(100 * claim.confidence)))
    if claim.steps:
        form = labels.step if len(claim.steps) == 1 else labels.steps
        parts.append(form.format(steps=", ".join(map(str, claim.steps))))
    return labels.between.join(parts)


def about_source(source: Citation, labels: Labels) -> str:
    """When a source was read and which search led to it."""
    read = labels.read if source.step else labels.read_earlier
    parts = [read.format(at=moment(shown(source.fetched_at)), step=source.step)]
    if source.found_by is not None:
        query = labels.quoted.format(quote=shown(source.found_by.query))
        found = labels.found_by if source.found_by.step else labels.found_earlier
        parts.append(found.format(step=source.found_by.step, query=query))
    return labels.between.join(parts)


def cited_by(report: Report) -> dict[str, list[tuple[int, int]]]:
    """For each source id, the places of the claims that cite it: section and claim, both from 1."""
    places: dict[str, list[tuple[int, int]]] = {source.id: [] for source in report.sources}
    for section_at, section in enumerate(report.sections, 1):
        for claim_at, claim in enumerate(section.claims, 1):
            for source_id in dict.fromkeys(claim.sources):
                places.setdefault(source_id, []).append((section_at, claim_at))
    return places


def anchor_of(source_id: str) -> str:
    """The name of a source's place in a page: ASCII letters and digits only."""
    return "source-" + "".join(mark for mark in source_id.casefold() if mark.isascii() and mark.isalnum())
