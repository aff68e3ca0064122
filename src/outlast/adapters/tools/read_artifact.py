"""`read_artifact`: read on in output that was too long to be shown."""

from __future__ import annotations

from typing import ClassVar

from outlast.adapters.tools.text_window import WINDOW_PROPERTIES, is_binary, window
from outlast.ports.tool import BaseTool, ToolContext, ToolResult


class ReadArtifact(BaseTool):
    """Shows a window of an artifact of this run."""

    name = "read_artifact"
    description = (
        "Read more of an output that was cut, by the digest and offset its note names. "
        "Call again with the next_offset of the last answer to go on."
    )
    input_schema: ClassVar = {
        "type": "object",
        "properties": {
            "digest": {"type": "string", "pattern": "^[0-9a-f]{64}$", "description": "As the note names it."},
            **WINDOW_PROPERTIES,
        },
        "required": ["digest"],
        "additionalProperties": False,
    }
    effect = "read"

    async def execute(self, digest: str, offset: int, limit: int, context: ToolContext) -> ToolResult:
        """The window as text; fails for a digest that this run does not hold, and for binary content."""
        content = await context.artifacts.get(digest)
        if content is None:
            return ToolResult(
                success=False, error="This run has no artifact with that digest; copy it from the note."
            )
        if is_binary(content):
            return ToolResult(
                success=False, error=f"The artifact is binary, {len(content)} bytes, and has no text."
            )
        part = content[offset : offset + limit + 4]
        return ToolResult(success=True, data=window(part, offset, limit, len(content)))
