"""`remember`: keep something for later runs."""

from __future__ import annotations

from typing import Any, ClassVar

from outlast.ports.tool import BaseTool, ToolContext, ToolResult


class Remember(BaseTool):
    """Keeps a note in the memory of the user the run works for."""

    name = "remember"
    description = (
        "Keep something for later conversations and runs: a fact, a decision, a preference. Write one thing that can be "
        "understood alone. When it corrects what memory brought back, name the ids it replaces; they are kept as outdated. "
        "Pages you read and conclusions you come to are remembered without this."
    )
    input_schema: ClassVar = {
        "type": "object",
        "properties": {
            "text": {"type": "string", "minLength": 1, "maxLength": 2000, "pattern": r"\S"},
            "replaces": {
                "type": "array",
                "items": {"type": "string", "pattern": "^m-[0-9a-f]+$"},
                "maxItems": 20,
                "default": [],
                "description": "Ids of entries that this takes the place of, as recall named them.",
            },
        },
        "required": ["text"],
        "additionalProperties": False,
    }
    effect = "idempotent"

    async def execute(self, text: str, replaces: list[str], context: ToolContext) -> ToolResult:
        """Keep the text; fails where nothing is remembered, and for an id that memory does not hold for this user."""
        if context.memory is None:
            return ToolResult(success=False, error="Nothing is remembered here: memory is turned off.")
        kept = await context.memory.remember(text.strip(), replaces)
        data: dict[str, Any] = {"remembered": kept}
        if replaces:
            data["replaced"] = replaces
        return ToolResult(success=True, data=data)
