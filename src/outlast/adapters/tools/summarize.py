"""`summarize`: reduce a long text to its points with the run's model."""

from __future__ import annotations

from typing import ClassVar

from outlast.ports.tool import BaseTool, ToolContext, ToolResult


class Summarize(BaseTool):
    """Asks the side model for the points of a text."""

    name = "summarize"
    description = "Reduce a long text to its points"
    input_schema: ClassVar = {
        "type": "object",
        "properties": {"text": {"type": "string"}, "max_points": {"type": "integer", "default": 5}},
        "required": ["text"],
    }
    effect = "read"

    async def execute(self, text: str, context: ToolContext, max_points: int = 5) -> ToolResult:
        """The points as one text.

        Fails when no model can be asked; raises ToolTrouble when the budget is spent.
        """
        if context.model is None:
            return ToolResult(
                success=False, error="No model is available to summarize with; quote the text instead."
            )
        if max_points < 1 or not text.strip():
            return ToolResult(
                success=False, error="Give a text that is not empty and max_points of at least 1."
            )
        prompt = (
            "Reduce the text to its points, one a line, each a statement that the text itself makes. "
            f"Keep names and numbers as they are and add nothing. MAX POINTS: {max_points}"
        )
        return ToolResult(success=True, data=await context.model.ask("summarize", prompt, text))
