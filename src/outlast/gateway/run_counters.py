"""Figures about runs for Prometheus: counters of what all runs in the store have used and how they went."""

from __future__ import annotations

import asyncio
from typing import Final

from prometheus_client import CollectorRegistry, Counter

from outlast.gateway.aside import Aside
from outlast.ports.store import Store
from outlast.service.growth import Growth

REFRESH_SECONDS: Final = 10.0
"""How old the counters may be: however often they are asked for, the store is read no more often."""

_COUNTERS: Final[dict[str, tuple[str, str, tuple[str, ...], float]]] = {
    "runs": ("runs", "Runs that were started.", ("task",), 1),
    "runs_ended": ("runs_ended", "Runs that ended.", ("task", "state", "outcome"), 1),
    "run_ms": ("run_seconds", "Time from start to end of runs that ended.", ("task",), 0.001),
    "steps": ("steps", "Model calls of runs.", ("task",), 1),
    "tokens": ("tokens", "Tokens that runs used.", ("task",), 1),
    "cost_micros": ("cost_usd", "Money that runs used.", ("task",), 0.000001),
    "loops": (
        "loops",
        "Conversations that went round in circles: told so (steer) or stopped.",
        ("task", "action"),
        1,
    ),
    "failures": (
        "failures",
        "What runs, models and tools failed of, and limits reached.",
        ("of", "code"),
        1,
    ),
    "model_calls": ("model_calls", "Calls of models.", ("model", "result"), 1),
    "model_tokens": ("model_tokens", "Tokens of models.", ("model",), 1),
    "model_cost_micros": ("model_cost_usd", "Money for models.", ("model",), 0.000001),
    "model_ms": ("model_seconds", "Time that models took.", ("model",), 0.001),
    "structured_answers": (
        "structured_answers",
        "Answers that models owed in a form: fitted as they came, repaired, or unusable.",
        ("model", "result"),
        1,
    ),
    "tool_calls": ("tool_calls", "Calls of tools that have a result.", ("tool", "result"), 1),
    "tool_ms": ("tool_seconds", "Time that tools took.", ("tool",), 0.001),
}
"""Of each figure the name of its counter, what it says, its labels, and the factor to its unit."""


class RunCounters:
    """The counters of one gateway. Every gateway on a store counts the same runs: take one of them, or the greatest."""

    def __init__(self, registry: CollectorRegistry) -> None:
        self._counters = {
            figure: (Counter(f"outlast_{name}", text, labels, registry=registry), factor)
            for figure, (name, text, labels, factor) in _COUNTERS.items()
        }
        self._growth: Growth | None = None
        self._lock = asyncio.Lock()
        self._read_at = 0.0

    async def refresh(self, store: Store, aside: Aside) -> None:
        """Count what was added, unless that was done a moment ago."""
        async with self._lock:
            now = asyncio.get_running_loop().time()
            if self._growth is None:
                self._growth = Growth(store)
            elif now - self._read_at < REFRESH_SECONDS:
                return
            grown = await aside.do(self._growth.more())
            self._read_at = now
        for (figure, *labels), count in grown.items():
            counter, factor = self._counters[figure]
            counter.labels(*labels).inc(count * factor)
