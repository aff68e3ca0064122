"""`list_background_tasks`: what goes on in the background of this conversation, or what one of it came to."""

from __future__ import annotations

from typing import ClassVar

from outlast.ports.tool import BaseTool, ToolContext, ToolResult


class ListBackgroundTasks(BaseTool):
    """Shows the newest tasks of the thread, or one with a part of its result."""

    name = "list_background_tasks"
    description = (
        "List the background tasks of this conversation, newest first. With `task`, its name or id, tell how that one stands "
        "and show a part of its result, from `offset` on. You are told of every end without asking, so do not poll."
    )
    input_schema: ClassVar = {
        "type": "object",
        "properties": {
            "task": {"type": "string", "description": "Name or id of one task."},
            "offset": {"type": "integer", "minimum": 0, "default": 0},
            "limit": {"type": "integer", "minimum": 1, "maximum": 8000, "default": 4000},
        },
        "additionalProperties": False,
    }
    effect = "read"
    cache_seconds = 0.0

    async def execute(
        self, context: ToolContext, task: str | None = None, offset: int = 0, limit: int = 4000
    ) -> ToolResult:
        """The tasks in four fields each, or one task with its message, result and questions."""
        if context.background is None:
            return ToolResult(success=True, data=[])
        if task is None:
            return ToolResult(success=True, data=await context.background.list())
        return ToolResult(success=True, data=await context.background.show(task, offset, limit))
