"""`write_report`: hand in the report of the run."""

from __future__ import annotations

from typing import Any, ClassVar

from outlast.ports.tool import BaseTool, Draft

_STRINGS: dict[str, Any] = {"type": "array", "items": {"type": "string"}, "default": []}
_CLAIM: dict[str, Any] = {
    "type": "object",
    "properties": {
        "text": {"type": "string", "minLength": 1, "description": "One statement."},
        "sources": {**_STRINGS, "description": "Source keys (s-...) or addresses of pages that were read."},
        "conclusions": {**_STRINGS, "description": "Ids of conclusions of this run it rests on."},
        "confidence": {"type": "number", "minimum": 0, "maximum": 1, "default": 0.5},
    },
    "required": ["text"],
    "additionalProperties": False,
}
_SECTION: dict[str, Any] = {
    "type": "object",
    "properties": {
        "heading": {"type": "string", "minLength": 1},
        "claims": {"type": "array", "items": _CLAIM, "minItems": 1},
    },
    "required": ["heading", "claims"],
    "additionalProperties": False,
}


class WriteReport(BaseTool):
    """Hands in a draft; whether its claims are supported is decided against the ledger of sources."""

    name = "write_report"
    description = (
        "Hand in the final report: sections of claims, each with the sources it rests on. "
        "Only pages that were read can be cited; a claim without a source is marked as such or dropped. "
        "Say under limits what is not covered."
    )
    input_schema: ClassVar = {
        "type": "object",
        "properties": {
            "title": {"type": "string", "minLength": 1},
            "summary": {"type": "string"},
            "sections": {"type": "array", "items": _SECTION, "description": "Empty when nothing was found."},
            "limits": {**_STRINGS, "description": "What the report does not cover, in plain words."},
        },
        "required": ["title", "summary", "sections"],
        "additionalProperties": False,
    }
    effect = "idempotent"

    async def execute(
        self, title: str, summary: str, sections: list[dict[str, Any]], limits: list[str] | None = None
    ) -> Draft:
        """The draft as it was given."""
        return Draft(
            {"title": title, "summary": summary, "sections": [*sections], "limits": [*(limits or [])]}
        )
