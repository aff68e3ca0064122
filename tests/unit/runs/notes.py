"""A model that takes notes one after another, and what it says when it is asked for a summary of them."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

from outlast.domain.errors import ModelCallFailed
from outlast.domain.message import Usage
from outlast.domain.task import Limits
from outlast.ports.provider import ModelAnswer, ModelRequest
from outlast.ports.tool import tool
from tests.unit.runs.parts import ask_for, call, give, say, turn
from tests.unit.runs.stage import staged

NOTES: dict[str, Any] = {
    "goal": "to know what there is",
    "decisions": ["read the pages one by one"],
    "facts": [{"claim": "The first page says so.", "sources": ["s-0123456789"]}],
    "open_questions": ["What of the last page?"],
}

Summariser = Callable[[ModelRequest], ModelAnswer]


@tool(effect="read", cache_seconds=0)
async def note(n: int) -> str:
    """Take a note."""
    return f"note {n}: " + f"fact {n} " * 40


@tool(effect="read", cache_seconds=0)
async def long_page(url: str) -> str:
    """Read a long page."""
    return f"{url} says " + "word " * 500


def reader(rounds: int, summarise: Summariser = lambda request: give(NOTES)) -> Callable[[ModelRequest], Any]:
    """A model that takes so many notes one after another, then answers; asked for a summary it gives one."""

    def model(request: ModelRequest) -> ModelAnswer:
        if request.purpose == "compress":
            return summarise(request)
        n = turn(request)
        return ask_for(call("note", n=n), usage=Usage()) if n < rounds else say("Done.", usage=Usage())

    return model


def text_of(request: ModelRequest) -> str:
    return "\n".join(message.text for message in request.messages)


def failing(request: ModelRequest) -> ModelAnswer:
    raise ModelCallFailed("overload", "503")


def staged_for(tmp_path: Path, model: Any, **task: Any) -> Any:
    return staged(
        tmp_path, model, note, **{"limits": Limits(max_steps=100), "compression_threshold": 5, **task}
    )
