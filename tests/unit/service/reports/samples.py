"""A small report for the tests of its forms."""

from dataclasses import replace
from typing import Any

from outlast.domain.report import Citation, Claim, FoundBy, Report, Section

REPORT = Report(
    title="Tidal lagoons and offshore wind",
    question="How do they compare?",
    summary="Lagoons cost more. Wind varies more.",
    sections=(
        Section(
            "Cost",
            (Claim("A lagoon costs 168 euros.", ("S1", "S2"), (4, 7), 0.7), Claim("It may fall.", ("S2",))),
        ),
        Section("Nothing", ()),
    ),
    sources=(
        Citation(
            "S1",
            "Costs",
            "https://a.example/x?a=1&b=2",
            "costs 168 euros",
            "2026-01-02T03:04:05Z",
            4,
            FoundBy(3, "cost"),
        ),
        Citation("S2", "Notes", "corpus://notes.md", "may fall", "2026-01-02T03:05:00Z", 7),
    ),
    limits=("Prices differ by country.",),
)


def report_of(text: str, **changes: Any) -> Report:
    """A report in which every free text is `text`."""
    source = Citation("S1", text, text, text, text, 1, FoundBy(1, text))
    section = Section(text, (Claim(text, ("S1",), (1,), 0.5, text),))
    made = Report(text, text, text, (section,), (source,), (text,))
    return replace(made, **changes)
