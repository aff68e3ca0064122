"""`recall`: ask memory."""

from __future__ import annotations

from typing import Any, ClassVar

from outlast.domain.recalled import Recalled
from outlast.ports.tool import BaseTool, ToolContext, ToolResult


class Recall(BaseTool):
    """Asks what this run has found so far, then what is remembered from before."""

    name = "recall"
    description = (
        "Ask memory: what this work has found so far, then what is remembered from earlier conversations and runs. Give a query, or "
        "the id of an entry to read the whole of it. What it brings back may be out of date, and is no source: to cite a page, read "
        "it again."
    )
    input_schema: ClassVar = {
        "type": "object",
        "properties": {
            "query": {"type": "string", "default": "", "maxLength": 1000},
            "id": {
                "type": "string",
                "default": "",
                "maxLength": 80,
                "description": "An entry, as recall named it.",
            },
            "limit": {"type": "integer", "minimum": 1, "maximum": 20, "default": 8},
        },
        "additionalProperties": False,
    }
    effect = "read"
    cache_seconds = 0.0

    async def execute(self, query: str, id: str, limit: int, context: ToolContext) -> ToolResult:  # noqa: A002 - the word a model reads
        """The entries, best first, or the whole of one. Fails without query and id, and for an id that is not there."""
        if context.memory is None:
            return ToolResult(success=False, error="Nothing is remembered here: memory is turned off.")
        if id:
            entry = await context.memory.read(id)
            if entry is None:
                return ToolResult(success=False, error=f"Memory has no entry {id}; copy the id from recall.")
            return ToolResult(success=True, data=_as_data(entry))
        if not query.strip():
            return ToolResult(success=False, error="Give a query, or the id of an entry.")
        found = await context.memory.recall(query.strip(), limit)
        return ToolResult(success=True, data={"entries": [_as_data(one) for one in found]})


def _as_data(entry: Recalled) -> dict[str, Any]:
    data: dict[str, Any] = {"id": entry.id, "kind": entry.kind, "text": entry.text}
    told = {
        "title": entry.title,
        "address": entry.source,
        "about": entry.topic,
        "known_at": entry.known_at[:10],
    }
    data |= {name: value for name, value in told.items() if value}
    if entry.is_outdated:
        data["outdated"] = True
    if entry.is_cut:
        data["more"] = "Only the beginning; give the id to read the whole."
    return data
