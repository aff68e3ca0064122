"""What runs have used and how they went: read from their rows, and for tools from their journals."""

from __future__ import annotations

from collections import Counter
from collections.abc import AsyncIterator, Iterable
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any, Final

from outlast.domain.states import State
from outlast.ports.run_rows import RunFilter
from outlast.ports.store import Store
from outlast.service.show import as_listed
from outlast.service.trace import Follower

MOST_RUNS: Final = 5_000
"""How many runs of a period are counted, the newest first."""

MOST_JOURNALS: Final = 500
"""How many journals are read for what is said of tools, the newest first."""

_MOST_KEPT: Final = 5_000


@dataclass(frozen=True, slots=True)
class Period:
    """What is counted: runs of a user (None: everybody's) that began since a time, of one task if it is named."""

    user_id: str | None
    since: datetime
    task: str | None = None


@dataclass(slots=True)
class Figures:
    """Sums over some runs. `duration_ms` is the time from start to end of those that have ended, waiting included."""

    runs: int = 0
    completed: int = 0
    failed: int = 0
    steps: int = 0
    tokens: int = 0
    cost_usd: float = 0.0
    duration_ms: int = 0

    def add(self, run: dict[str, Any]) -> None:
        """One more run, as lists have it."""
        self.runs += 1
        self.completed += run["state"] == State.COMPLETED
        self.failed += run["state"] == State.FAILED
        self.steps += run["steps"]
        self.tokens += run["tokens"]
        self.cost_usd += run["cost_usd"]
        if run["ended_at"] is not None:
            took = datetime.fromisoformat(run["ended_at"]) - datetime.fromisoformat(run["started_at"])
            self.duration_ms += round(took.total_seconds() * 1000)

    def as_document(self) -> dict[str, Any]:
        """The sums by name."""
        return {
            "runs": self.runs,
            "completed": self.completed,
            "failed": self.failed,
            "steps": self.steps,
            "tokens": self.tokens,
            "cost_usd": round(self.cost_usd, 6),
            "duration_ms": self.duration_ms,
        }


@dataclass(frozen=True, slots=True)
class Call:
    """A call of a tool that has a result, as its run's journal has it."""

    run_id: str
    seq: int
    at: str
    tool: str
    arguments: dict[str, Any]
    error: dict[str, Any] | None
    duration_ms: int


@dataclass(slots=True)
class _Used:
    calls: int = 0
    failed: int = 0
    duration_ms: int = 0


@dataclass(slots=True)
class Statistics:
    """Counts over one store. What an ended run did is read once and kept."""

    store: Store
    _calls: dict[tuple[str, str | None], list[Call]] = field(default_factory=dict)

    async def of(self, period: Period) -> dict[str, Any]:
        """The sums of a period: altogether, by day, by task, by tool, and what runs and calls failed of, the most frequent first.

        Counts the newest MOST_RUNS runs of it, and for tools the newest MOST_JOURNALS.
        """
        runs = await self._runs(period)
        total, days, tasks = Figures(), dict[str, Figures](), dict[str, Figures]()
        for run in runs:
            for figures in (
                total,
                days.setdefault(run["started_at"][:10], Figures()),
                tasks.setdefault(run["task"], Figures()),
            ):
                figures.add(run)
        calls = [call async for call in self._calls_in(runs)]
        return {
            "since": period.since.isoformat(),
            "total": total.as_document(),
            "by_day": [{"day": day, **days[day].as_document()} for day in sorted(days)],
            "by_task": [{"task": task, **tasks[task].as_document()} for task in sorted(tasks)],
            "by_tool": _by_tool(calls),
            "failures": _failures(runs, calls),
        }

    async def failed_calls(self, period: Period, tool: str | None = None) -> list[dict[str, Any]]:
        """The calls of a period that failed, of one tool if it is named, newest run first, with their arguments."""
        return [
            {
                "run_id": call.run_id,
                "seq": call.seq,
                "at": call.at,
                "tool": call.tool,
                "arguments": call.arguments,
                "error": call.error,
            }
            async for call in self._calls_in(await self._runs(period))
            if call.error is not None and tool in (None, call.tool)
        ]

    async def _runs(self, period: Period) -> list[dict[str, Any]]:
        wanted = RunFilter(user_id=period.user_id, task=period.task, limit=MOST_RUNS)
        rows = [row for row in await self.store.list_runs(wanted) if row.created_at >= period.since]
        return await as_listed(self.store, rows)

    async def _calls_in(self, runs: list[dict[str, Any]]) -> AsyncIterator[Call]:
        for run in runs[:MOST_JOURNALS]:
            for call in await self._calls_of(run):
                yield call

    async def _calls_of(self, run: dict[str, Any]) -> list[Call]:
        key = (run["run_id"], run["ended_at"])
        kept = self._calls.get(key)
        if kept is not None:
            return kept
        follower, found = Follower(self.store, run["run_id"]), list[Call]()
        while lines := await follower.more():
            found += [_call(run["run_id"], line) for line in lines if line["kind"] == "ToolAnswered"]
        if run["ended_at"] is not None:
            if len(self._calls) >= _MOST_KEPT:
                self._calls.clear()
            self._calls[key] = found
        return found


def _call(run_id: str, line: dict[str, Any]) -> Call:
    """A call that has a result; what was asked is kept where it failed."""
    error = line["error"]
    return Call(
        run_id=run_id,
        seq=line["seq"],
        at=line["at"],
        tool=line["tool"] or "",
        arguments=(line["arguments"] or {}) if error is not None else {},
        error=error,
        duration_ms=line["duration_ms"] or 0,
    )


def _by_tool(calls: Iterable[Call]) -> list[dict[str, Any]]:
    used: dict[str, _Used] = {}
    for call in calls:
        figures = used.setdefault(call.tool, _Used())
        figures.calls += 1
        figures.failed += call.error is not None
        figures.duration_ms += call.duration_ms
    return [
        {"tool": tool, "calls": one.calls, "failed": one.failed, "duration_ms": one.duration_ms}
        for tool, one in sorted(used.items())
    ]


def _failures(runs: Iterable[dict[str, Any]], calls: Iterable[Call]) -> list[dict[str, Any]]:
    codes = Counter(run["error"]["code"] for run in runs if run["error"] is not None)
    codes.update(call.error["code"] for call in calls if call.error is not None)
    return [{"code": code, "count": count} for code, count in codes.most_common()]
