"""Long-term memory: what is remembered of a user."""

from __future__ import annotations

from typing import Literal

from pydantic import Field

from outlast.domain.memory import MemoryKind
from outlast.gateway.shapes.shape import Shape


class RememberedEntry(Shape):
    """An entry and where it comes from. `holds` is false once something newer took its place; answers to a query have a `score`."""

    id: str
    kind: MemoryKind
    text: str
    title: str
    source: str
    thread_id: str | None
    run_id: str | None
    position: int | None
    subtasks: list[str]
    for_: Literal["thread", "user"] = Field(alias="for")
    known_at: str
    holds: bool
    superseded_by: str | None
    expires_at: str | None
    archived_at: str | None
    score: float | None = None


class MemoryList(Shape):
    """Entries of memory."""

    memories: list[RememberedEntry]
