"""What runs have used and how they went."""

from __future__ import annotations

from typing import Literal

from pydantic import JsonValue

from outlast.gateway.shapes.shape import Shape
from outlast.gateway.shapes.trace import TraceError


class Answers(Shape):
    """Answers that models owed in a form: how many, how many fitted as they came, and how many with those that were repaired."""

    structured_answers: int
    fit_before_repair: int
    fit_after_repair: int


class Figures(Answers):
    """Sums over some runs. `duration_ms` is the time from start to end of those that have ended, waiting included.

    `completed` holds the `partial` ones; `loop_stops` are conversations that were stopped for going round in circles.
    """

    runs: int
    completed: int
    partial: int
    failed: int
    cancelled: int
    steps: int
    tokens: int
    cost_usd: float
    duration_ms: int
    tool_calls: int
    tool_failures: int
    loop_steers: int
    loop_stops: int


class DayFigures(Figures):
    """The runs that began on one day (UTC)."""

    day: str


class TaskFigures(Figures):
    """The runs of one task."""

    task: str


class ModelFigures(Answers):
    """The calls of one model."""

    model: str
    calls: int
    failed: int
    tokens: int
    cost_usd: float
    duration_ms: int


class ReasonCount(Shape):
    """How often a tool's calls failed of one reason."""

    code: str
    count: int


class ToolFigures(Shape):
    """The calls of one tool that have a result; `cached` ones were answered without another call."""

    tool: str
    calls: int
    failed: int
    cached: int
    duration_ms: int
    failures: list[ReasonCount]


class FailureCount(ReasonCount):
    """How often runs, models or tools failed of one reason, or a limit was reached."""

    of: Literal["run", "limit", "model", "tool"]


class StatsDocument(Shape):
    """Sums over the runs that began in a period; `is_whole` is false where there were more than are counted."""

    since: str
    is_whole: bool
    total: Figures
    by_day: list[DayFigures]
    by_task: list[TaskFigures]
    by_model: list[ModelFigures]
    by_tool: list[ToolFigures]
    failures: list[FailureCount]


class FailedCall(Shape):
    """A call that failed, and what was asked; `raw` is what a model sent that was no JSON object."""

    run_id: str
    seq: int
    at: str
    tool: str
    arguments: dict[str, JsonValue]
    raw: str | None
    error: TraceError


class FailedCalls(Shape):
    """The calls of a period that failed, newest run first."""

    calls: list[FailedCall]
