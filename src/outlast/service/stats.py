"""What runs have used and how they went: sums over the tallies in their rows."""

from __future__ import annotations

from collections import Counter
from dataclasses import asdict, field
from typing import Any, Final

from outlast.domain.dataclass import dataclass
from outlast.domain.states import ENDED, State
from outlast.ports.run_rows import RunRow
from outlast.ports.store import Store
from outlast.runs.tally import OfModel, OfTool, Tally
from outlast.service.failed_calls import failed_calls_in
from outlast.service.periods import Period, rows_of
from outlast.service.tallies import Tallied, Tallies

MOST_RUNS: Final = 10_000
"""How many runs of a period are counted, the newest first."""


@dataclass(slots=True)
class Answers:
    """Answers that models owed in a form: how many there were, how many fitted as they came, and how many with those repaired."""

    structured_answers: int = 0
    fit_before_repair: int = 0
    fit_after_repair: int = 0

    def count(self, model: OfModel) -> None:
        """Add those of a model."""
        self.structured_answers += model.fitted + model.repaired + model.unusable
        self.fit_before_repair += model.fitted
        self.fit_after_repair += model.fitted + model.repaired


@dataclass(slots=True)
class Figures(Answers):
    """Sums over some runs. `duration_ms` is the time from start to end of those that have ended, waiting included.

    `completed` holds the `partial` ones. A fork counts with what it did itself.
    """

    runs: int = 0
    completed: int = 0
    partial: int = 0
    failed: int = 0
    cancelled: int = 0
    steps: int = 0
    tokens: int = 0
    cost_usd: float = 0.0
    duration_ms: int = 0
    tool_calls: int = 0
    tool_failures: int = 0
    loop_steers: int = 0
    loop_stops: int = 0

    def add(self, run: Tallied) -> None:
        """One more run."""
        row, tally = run.row, run.tally
        self.runs += 1
        self.completed += row.state == State.COMPLETED
        self.partial += row.outcome == "partial"
        self.failed += row.state == State.FAILED
        self.cancelled += row.state == State.CANCELLED
        self.duration_ms += lasted_ms(row)
        used = tally.total()
        # A run that was not counted event by event has only what its row has.
        self.steps += used.steps if tally.position else run.summary.get("steps", 0)
        self.tokens += used.tokens if tally.position else run.summary.get("tokens", 0)
        self.cost_usd += used.cost_usd if tally.position else run.summary.get("cost_usd", 0.0)
        self._add_calls(tally)

    def _add_calls(self, tally: Tally) -> None:
        for model in tally.models.values():
            self.count(model)
        for tool in tally.tools.values():
            self.tool_calls += tool.calls
            self.tool_failures += tool.failed
        self.loop_steers += tally.loops.get("steer", 0)
        self.loop_stops += tally.loops.get("stop", 0)

    def as_document(self) -> dict[str, Any]:
        """The sums by name."""
        return {**asdict(self), "cost_usd": round(self.cost_usd, 6)}


@dataclass(slots=True)
class ModelFigures(Answers):
    """Sums over the calls of one model."""

    calls: int = 0
    failed: int = 0
    tokens: int = 0
    cost_usd: float = 0.0
    duration_ms: int = 0

    def add(self, model: OfModel) -> None:
        """Its calls in one more run."""
        self.calls += model.calls
        self.failed += model.failed
        self.tokens += model.tokens
        self.cost_usd += model.cost_usd
        self.duration_ms += model.duration_ms
        self.count(model)

    def as_document(self) -> dict[str, Any]:
        """The sums by name."""
        return {**asdict(self), "cost_usd": round(self.cost_usd, 6)}


@dataclass(slots=True)
class ToolFigures:
    """Sums over the calls of one tool that have a result; `cached` ones were answered without another call."""

    calls: int = 0
    failed: int = 0
    cached: int = 0
    duration_ms: int = 0
    failures: Counter[str] = field(default_factory=Counter)

    def add(self, tool: OfTool) -> None:
        """Its calls in one more run."""
        self.calls += tool.calls
        self.failed += tool.failed
        self.cached += tool.cached
        self.duration_ms += tool.duration_ms
        self.failures.update(tool.errors)

    def as_document(self) -> dict[str, Any]:
        """The sums by name, and what calls failed of, the most frequent first."""
        ranked = [{"code": code, "count": count} for code, count in self.failures.most_common()]
        return {**asdict(self), "failures": ranked}


@dataclass(slots=True)
class Statistics:
    """Counts over one store. Takes time that grows with the runs of a period, not with what they did."""

    store: Store
    tallies: Tallies = field(init=False)

    def __post_init__(self) -> None:
        self.tallies = Tallies(self.store)

    async def of(self, period: Period) -> dict[str, Any]:
        """The sums of a period: altogether, by day, task, model and tool, and what runs and calls failed of, most frequent first.

        Counts the newest MOST_RUNS runs of it; `is_whole` says whether these are all.
        """
        rows, is_whole = await rows_of(self.store, period, MOST_RUNS)
        sums = Sums()
        async for run in self.tallies.of(rows):
            sums.add(run)
        return {"since": period.since.isoformat(), "is_whole": is_whole, **sums.as_document()}

    async def failed_calls(
        self, period: Period, tool: str | None = None, limit: int = 100
    ) -> list[dict[str, Any]]:
        """The calls of a period that failed, of one tool if it is named, newest run first, with their arguments."""
        rows, _ = await rows_of(self.store, period, MOST_RUNS)
        found: list[dict[str, Any]] = []
        async for run in self.tallies.of(rows):
            tools = run.tally.tools
            suspects = tools.values() if tool is None else [tools[tool]] if tool in tools else []
            if any(suspect.failed for suspect in suspects):
                found += await failed_calls_in(self.store, run.row.run_id, tool)
            if len(found) >= limit:
                break
        return found[:limit]


@dataclass(slots=True)
class Sums:
    """The sums over some runs, in every way they are grouped."""

    total: Figures = field(default_factory=Figures)
    days: dict[str, Figures] = field(default_factory=dict)
    tasks: dict[str, Figures] = field(default_factory=dict)
    models: dict[str, ModelFigures] = field(default_factory=dict)
    tools: dict[str, ToolFigures] = field(default_factory=dict)
    failures: Counter[tuple[str, str]] = field(default_factory=Counter)

    def add(self, run: Tallied) -> None:
        """One more run."""
        day = self.days.setdefault(run.row.created_at.date().isoformat(), Figures())
        for figures in (self.total, day, self.tasks.setdefault(run.row.task, Figures())):
            figures.add(run)
        for name, model in run.tally.models.items():
            self.models.setdefault(name, ModelFigures()).add(model)
        for name, tool in run.tally.tools.items():
            self.tools.setdefault(name, ToolFigures()).add(tool)
        self.failures.update(failures_of(run))

    def as_document(self) -> dict[str, Any]:
        """The sums, by name where they are grouped, failures the most frequent first."""
        return {
            "total": self.total.as_document(),
            "by_day": [{"day": day, **self.days[day].as_document()} for day in sorted(self.days)],
            "by_task": [{"task": task, **self.tasks[task].as_document()} for task in sorted(self.tasks)],
            "by_model": [{"model": name, **self.models[name].as_document()} for name in sorted(self.models)],
            "by_tool": [{"tool": name, **self.tools[name].as_document()} for name in sorted(self.tools)],
            "failures": [
                {"of": of, "code": code, "count": count} for (of, code), count in self.failures.most_common()
            ],
        }


def failures_of(run: Tallied) -> Counter[tuple[str, str]]:
    """What a run, its models and its tools failed of and which limits it reached: how often, by what failed and the code."""
    found: Counter[tuple[str, str]] = Counter()
    error = run.summary.get("error")
    if error is not None:
        found["run", error["code"]] += 1
    for limit, count in run.tally.limits.items():
        found["limit", limit] += count
    for model in run.tally.models.values():
        found.update({("model", fault): count for fault, count in model.faults.items()})
    for tool in run.tally.tools.values():
        found.update({("tool", code): count for code, count in tool.errors.items()})
    return found


def lasted_ms(row: RunRow) -> int:
    """The time from a run's start to its end; 0 until it has ended."""
    return round((row.updated_at - row.created_at).total_seconds() * 1000) if row.state in ENDED else 0
