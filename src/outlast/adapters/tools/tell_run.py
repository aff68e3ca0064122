"""`tell_run`: tell another run of the same conversation something."""

from __future__ import annotations

from typing import ClassVar

from outlast.domain.errors import CallerMistake, ToolTrouble
from outlast.ports.tool import BaseTool, ToolContext, ToolResult


class TellRun(BaseTool):
    """Sends a message to a run of the same thread that has not ended; it hears it before it speaks next."""

    name = "tell_run"
    description = (
        "Tell another run of this conversation, one that waits its turn, what it should know. "
        "It hears it before it speaks next. Without `run`, the next one."
    )
    input_schema: ClassVar = {
        "type": "object",
        "properties": {
            "text": {"type": "string", "minLength": 1, "pattern": r"\S"},
            "run": {"type": "string", "description": "Its id, where several wait."},
        },
        "required": ["text"],
        "additionalProperties": False,
    }
    effect = "idempotent"

    async def execute(self, text: str, context: ToolContext, run: str | None = None) -> ToolResult:
        """Whom it was told; fails when no other run of the conversation is there, or not that one."""
        others = await context.mates.names() if context.mates is not None else []
        if context.mates is None or not others or (run is not None and run not in others):
            there = f"They are: {', '.join(others)}." if others else "There is none."
            return ToolResult(success=False, error=f"No such run of this conversation waits. {there}")
        try:
            await context.mates.tell(run or others[0], text)
        except CallerMistake as mistake:
            raise ToolTrouble(mistake.code, mistake.detail, mistake.next_step) from mistake
        return ToolResult(success=True, data={"told": run or others[0]})
