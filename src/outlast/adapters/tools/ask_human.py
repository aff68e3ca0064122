"""`ask_human`: put a question to the person the run works for."""

from __future__ import annotations

from typing import ClassVar

from outlast.ports.tool import Ask, BaseTool


class AskHuman(BaseTool):
    """Makes the run wait for an answer."""

    name = "ask_human"
    description = (
        "Ask the person you work for, when only they can decide or know. The work waits until they answer, "
        "so ask one clear question that can be answered without more context."
    )
    input_schema: ClassVar = {
        "type": "object",
        "properties": {"question": {"type": "string", "minLength": 1, "pattern": r"\S"}},
        "required": ["question"],
        "additionalProperties": False,
    }
    effect = "read"

    async def execute(self, question: str) -> Ask:
        """The question, for the engine to put to a person."""
        return Ask(question.strip())
