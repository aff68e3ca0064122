"""The JSON form of a report."""

import json

from outlast.service.reports.document import to_document
from tests.law import law
from tests.unit.service.reports.samples import REPORT


@law("PLAN-4.a", "PLAN-4.f")
def test_the_document_has_the_pinned_shape() -> None:
    document = to_document(REPORT)
    assert json.loads(json.dumps(document)) == {
        "title": "Tidal lagoons and offshore wind",
        "question": "How do they compare?",
        "summary": "Lagoons cost more. Wind varies more.",
        "sections": [
            {
                "heading": "Cost",
                "claims": [
                    {
                        "text": "A lagoon costs 168 euros.",
                        "sources": ["S1", "S2"],
                        "steps": [4, 7],
                        "confidence": 0.7,
                    },
                    {"text": "It may fall.", "sources": ["S2"], "steps": [], "confidence": 0.5},
                ],
            },
            {"heading": "Nothing", "claims": []},
        ],
        "sources": [
            {
                "id": "S1",
                "title": "Costs",
                "url": "https://a.example/x?a=1&b=2",
                "quote": "costs 168 euros",
                "fetched_at": "2026-01-02T03:04:05Z",
                "step": 4,
                "found_by": {"step": 3, "query": "cost"},
            },
            {
                "id": "S2",
                "title": "Notes",
                "url": "corpus://notes.md",
                "quote": "may fall",
                "fetched_at": "2026-01-02T03:05:00Z",
                "step": 7,
                "found_by": None,
            },
        ],
        "limits": ["Prices differ by country."],
        "outcome": "full",
    }
