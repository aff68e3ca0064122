"""What was added to the figures of all runs since one last looked, for counters that only grow."""

from __future__ import annotations

import json
from collections import Counter
from dataclasses import field
from datetime import datetime, timedelta
from typing import Final

from outlast.domain.dataclass import dataclass
from outlast.domain.states import ENDED, State
from outlast.ports.run_rows import RunFilter, RunRow
from outlast.ports.store import Store
from outlast.runs.tally import OfModel, OfTool, Tally, tally_in
from outlast.service.periods import began_since
from outlast.service.stats import MOST_RUNS, failures_of, lasted_ms
from outlast.service.tallies import Tallied

Name = tuple[str, ...]
"""A figure and the values of its labels."""

MOST_FOLLOWED: Final = 1_000
"""How many runs that may still go on are looked at again; of more than these the oldest are given up."""

_LATE: Final = timedelta(minutes=1)
"""How long after it began a run may become visible."""


@dataclass(frozen=True, slots=True)
class _Followed:
    """A run that may go on, and the figures it had."""

    began_at: datetime
    figures: Counter[Name]


@dataclass(slots=True)
class Growth:
    """Remembers what was counted. The first look counts the newest MOST_RUNS runs there are, as their rows have them.

    Runs that are deleted take nothing away. Rows are written whenever a run changes its state and after every few hundred events.
    """

    store: Store
    _open: dict[str, _Followed] = field(default_factory=dict)
    _done: dict[str, datetime] = field(default_factory=dict)
    _since: datetime | None = None

    async def more(self) -> Counter[Name]:
        """What was added since the last time. One look at a time."""
        grown: Counter[Name] = Counter()
        fresh = await self._fresh()
        for row in [*await self._followed({row.run_id for row in fresh}), *fresh]:
            if row.run_id not in self._done:
                grown += self._of(row)
        self._forget(max((row.created_at for row in fresh), default=None))
        return grown

    async def _followed(self, but: set[str]) -> list[RunRow]:
        """The rows of older runs that may have gone on, those that are still there."""
        rows = []
        for run_id in [run_id for run_id in self._open if run_id not in but]:
            row = await self.store.read_run(run_id)
            if row is None:
                del self._open[run_id]
            else:
                rows.append(row)
        return rows

    async def _fresh(self) -> list[RunRow]:
        """The rows that may be new, oldest first."""
        rows, _ = await began_since(self.store, RunFilter(), self._since, MOST_RUNS)
        return rows[::-1]

    def _of(self, row: RunRow) -> Counter[Name]:
        """What a run has more than it had; what has become less, like the state it is in no longer, takes nothing away."""
        known = self._open.pop(row.run_id, None)
        now = figures_of(row)
        if row.state in (State.COMPLETED, State.CANCELLED):
            self._done[row.run_id] = row.created_at
        else:
            self._open[row.run_id] = _Followed(row.created_at, now)
        return now - known.figures if known is not None else +now

    def _forget(self, newest: datetime | None) -> None:
        """Give up what is too much to follow, and the names of runs that will not come up again as new."""
        for run_id in list(self._open)[:-MOST_FOLLOWED]:
            self._done[run_id] = self._open.pop(run_id).began_at
        if newest is not None:
            self._since = since = newest - _LATE
            self._done = {run_id: at for run_id, at in self._done.items() if at >= since}


def figures_of(row: RunRow) -> Counter[Name]:
    """The figures of a run by name and labels. Times are in milliseconds, money in millionths of a dollar, so that they add up."""
    summary = json.loads(row.summary)
    run = Tallied(row, summary, tally_in(summary.get("tally")))
    used = run.tally.total()
    found: Counter[Name] = Counter(
        {
            ("runs", row.task): 1,
            ("run_ms", row.task): lasted_ms(row),
            ("steps", row.task): used.steps,
            ("tokens", row.task): used.tokens,
            ("cost_micros", row.task): _micros(used.cost_usd),
        }
    )
    if row.state in ENDED:
        found["runs_ended", row.task, row.state, row.outcome or ""] = 1
    found.update({("failures", *what): count for what, count in failures_of(run).items()})
    found.update(_calls(run.tally))
    found.update({("loops", row.task, action): count for action, count in run.tally.loops.items()})
    return found


def _calls(tally: Tally) -> dict[Name, int]:
    found: dict[Name, int] = {}
    for name, model in tally.models.items():
        found |= _of_model(name, model)
    for name, tool in tally.tools.items():
        found |= _of_tool(name, tool)
    return found


def _of_model(name: str, model: OfModel) -> dict[Name, int]:
    return {
        ("model_calls", name, "failed"): model.failed,
        ("model_calls", name, "ok"): model.calls - model.failed,
        ("model_tokens", name): model.tokens,
        ("model_cost_micros", name): _micros(model.cost_usd),
        ("model_ms", name): model.duration_ms,
        ("structured_answers", name, "fitted"): model.fitted,
        ("structured_answers", name, "repaired"): model.repaired,
        ("structured_answers", name, "unusable"): model.unusable,
    }


def _of_tool(name: str, tool: OfTool) -> dict[Name, int]:
    return {
        ("tool_calls", name, "failed"): tool.failed,
        ("tool_calls", name, "ok"): tool.calls - tool.failed,
        ("tool_ms", name): tool.duration_ms,
    }


def _micros(usd: float) -> int:
    return round(usd * 1_000_000)
