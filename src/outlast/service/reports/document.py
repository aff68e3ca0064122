"""The report as a JSON document."""

from __future__ import annotations

from outlast.domain.door import Json
from outlast.domain.report import Citation, Claim, Report, Section


def to_document(report: Report) -> dict[str, Json]:
    """The report as programs read it. Confidences are from 0 to 1; `found_by` is null for a source no search led to;
    `is_new` is there, and true, for what the run that this one continues had not found."""
    return {
        "title": report.title,
        "question": report.question,
        "summary": report.summary,
        "sections": [_section(section) for section in report.sections],
        "sources": [_source(source) for source in report.sources],
        "limits": list(report.limits),
        "outcome": report.outcome,
    }


def _section(section: Section) -> Json:
    return {"heading": section.heading, "claims": [_claim(claim) for claim in section.claims]}


def _claim(claim: Claim) -> Json:
    return {
        "text": claim.text,
        "sources": list(claim.sources),
        "steps": list(claim.steps),
        "confidence": claim.confidence,
        **({"is_new": True} if claim.is_new else {}),
    }


def _source(source: Citation) -> Json:
    found_by = source.found_by
    return {
        "id": source.id,
        "title": source.title,
        "url": source.url,
        "quote": source.quote,
        "fetched_at": source.fetched_at,
        "step": source.step,
        "found_by": {"step": found_by.step, "query": found_by.query} if found_by is not None else None,
    }
