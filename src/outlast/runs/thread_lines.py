"""What was said in a thread before, as lines of a context. What comes from background tasks is fenced."""

from __future__ import annotations

from typing import Final, assert_never

from outlast.domain.message import Message
from outlast.domain.thread import ThreadSaid
from outlast.runs.fences import fence
from outlast.runs.lines import Kind

TASKS_KEY: Final = "background tasks"

TASKS_SHOWN: Final = "[The background tasks of this conversation, as they stand:]"


def line_of(said: ThreadSaid, secret: str, position: int) -> tuple[Kind, Message, str]:
    """The kind, message and key of the line that words of the thread are in a run's context."""
    match said.speaker:
        case "user":
            return Kind.SAID, Message("user", said.text), ""
        case "assistant":
            return Kind.EARLIER, Message("assistant", said.text), ""
        case "note":
            return Kind.DELIVERED, Message("user", fence(secret, position, "background tasks", said.text)), ""
        case "tasks":
            shown = fence(secret, position, "background tasks", said.text)
            return Kind.TASK, Message("user", f"{TASKS_SHOWN}\n{shown}"), TASKS_KEY
        case _:
            assert_never(said.speaker)
