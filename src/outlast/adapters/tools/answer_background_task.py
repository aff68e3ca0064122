"""`answer_background_task`: hand on what the user answers to a question of a background task."""

from __future__ import annotations

from typing import Any, ClassVar

from outlast.ports.tool import BaseTool, ToolContext, ToolResult


class AnswerBackgroundTask(BaseTool):
    """Stores the answer; a worker sends it. Only a user's own turn may answer."""

    name = "answer_background_task"
    description = (
        "Hand on the answer the user has just given to what a background task asks. Use only what the user said; never answer "
        "for the user. `answer` is a text, or an object with the fields that are asked for."
    )
    input_schema: ClassVar = {
        "type": "object",
        "properties": {
            "task": {"type": "string", "minLength": 1, "description": "Its name or id."},
            "answer": {"anyOf": [{"type": "string"}, {"type": "object"}]},
            "question": {"type": "string", "description": "The key of the question, where it asks several."},
        },
        "required": ["task", "answer"],
        "additionalProperties": False,
    }
    effect = "idempotent"

    async def execute(
        self, task: str, answer: Any, context: ToolContext, question: str | None = None
    ) -> ToolResult:
        """How the task stands now; fails with what is wrong with the answer."""
        if context.background is None:
            return ToolResult(success=False, error="This conversation has no background tasks.")
        return ToolResult(success=True, data=await context.background.answer(task, answer, question))
