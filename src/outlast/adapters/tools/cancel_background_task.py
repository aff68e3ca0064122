"""`cancel_background_task`: ask that a background task of this conversation be cancelled."""

from __future__ import annotations

from typing import ClassVar

from outlast.ports.tool import BaseTool, ToolContext, ToolResult


class CancelBackgroundTask(BaseTool):
    """Stores the wish; a worker carries it out, and what comes of it is told."""

    name = "cancel_background_task"
    description = "Ask that a background task of this conversation be cancelled, by its name or id. It may still end otherwise."
    input_schema: ClassVar = {
        "type": "object",
        "properties": {"task": {"type": "string", "minLength": 1, "description": "Its name or id."}},
        "required": ["task"],
        "additionalProperties": False,
    }
    effect = "idempotent"

    async def execute(self, task: str, context: ToolContext) -> ToolResult:
        """How the task stands now; fails for a task that is not of this conversation, or has ended."""
        if context.background is None:
            return ToolResult(success=False, error="This conversation has no background tasks.")
        return ToolResult(success=True, data=await context.background.cancel(task))
