"""`web_search`: find documents with the configured search."""

from __future__ import annotations

from typing import ClassVar

from outlast.domain.ids import source_key
from outlast.domain.source import Found
from outlast.ports.tool import BaseTool, ToolContext, ToolResult


class WebSearch(BaseTool):
    """Searches, and records which query found which address."""

    name = "web_search"
    description = (
        "Search for documents. Returns title, address, a matching snippet and a source key for each result. "
        "A snippet is not a source: read the page with web_fetch before you cite it."
    )
    input_schema: ClassVar = {
        "type": "object",
        "properties": {
            "query": {"type": "string", "minLength": 1, "description": "What to look for."},
            "limit": {
                "type": "integer",
                "minimum": 1,
                "maximum": 20,
                "default": 5,
                "description": "How many results.",
            },
        },
        "required": ["query"],
        "additionalProperties": False,
    }
    effect = "read"

    async def execute(self, query: str, context: ToolContext, limit: int = 5) -> ToolResult:
        """The hits for `query`, best first. Fails when no search is configured."""
        if context.search is None:
            return ToolResult(
                success=False, error="No search is configured. Set search.provider in the config."
            )
        hits = await context.search.search(query, limit)
        results = [
            {"url": hit.url, "title": hit.title, "snippet": hit.snippet, "source": source_key(hit.url)}
            for hit in hits
        ]
        found = [Found(hit.url, hit.title, query) for hit in hits]
        return ToolResult(success=True, data={"results": results}, found=found)
