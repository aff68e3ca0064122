"""What runs have used and how they went."""

from __future__ import annotations

from pydantic import JsonValue

from outlast.gateway.shapes.shape import Shape
from outlast.gateway.shapes.trace import TraceError


class Figures(Shape):
    """Sums over some runs. `duration_ms` is the time from start to end of those that have ended, waiting included."""

    runs: int
    completed: int
    failed: int
    steps: int
    tokens: int
    cost_usd: float
    duration_ms: int


class DayFigures(Figures):
    """The runs that began on one day (UTC)."""

    day: str


class TaskFigures(Figures):
    """The runs of one task."""

    task: str


class ToolFigures(Shape):
    """The calls of one tool that have a result."""

    tool: str
    calls: int
    failed: int
    duration_ms: int


class FailureCount(Shape):
    """How often runs and calls failed of one reason."""

    code: str
    count: int


class StatsDocument(Shape):
    """Sums over the runs that began in a period."""

    since: str
    total: Figures
    by_day: list[DayFigures]
    by_task: list[TaskFigures]
    by_tool: list[ToolFigures]
    failures: list[FailureCount]


class FailedCall(Shape):
    """A call that failed, and what was asked."""

    run_id: str
    seq: int
    at: str
    tool: str
    arguments: dict[str, JsonValue]
    error: TraceError


class FailedCalls(Shape):
    """The calls of a period that failed, newest run first."""

    calls: list[FailedCall]
