"""The trace of a run."""

from __future__ import annotations

from pydantic import JsonValue

from outlast.domain.states import State
from outlast.gateway.shapes.shape import Shape


class TraceError(Shape):
    """Why something did not go well. A call that was refused for its arguments says which fields, and shows a valid example."""

    code: str
    detail: str
    problems: list[str] | None = None
    example: dict[str, JsonValue] | None = None


class TraceLine(Shape):
    """One event of a run: what happened, in which state and step, at what cost. `data` is the event itself."""

    seq: int
    at: str
    kind: str
    state: State
    step: int | None
    subtask: str | None
    role: str | None
    tool: str | None
    arguments: dict[str, JsonValue] | None
    result: JsonValue
    error: TraceError | None
    tokens: int | None
    cost_usd: float | None
    duration_ms: int | None
    data: dict[str, JsonValue]


class TracePage(Shape):
    """Some lines of a trace; `next` is the position to ask on from, null at the end."""

    lines: list[TraceLine]
    next: int | None
