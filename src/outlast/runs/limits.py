"""Limits of a run, checked before the call that would cross them."""

from __future__ import annotations

from datetime import datetime

from outlast.domain.events import LimitReached
from outlast.domain.run import RunState

LIMIT_NAMES = ("max_steps", "max_wall_seconds", "max_tokens_total", "max_cost_usd", "max_replans")
"""The limits a person may change while a run lives."""


def limit_crossed(state: RunState, now: datetime, tokens: int = 0, usd: float = 0.0) -> LimitReached | None:
    """The first limit that one more model call, reserving `tokens` and `usd`, would cross."""
    limits, counters = state.limits, state.counters
    if counters.steps >= limits.max_steps:
        return LimitReached("max_steps", counters.steps, limits.max_steps)
    if state.working_seconds_at(now) >= limits.max_wall_seconds:
        return LimitReached(
            "max_wall_seconds", round(state.working_seconds_at(now), 3), limits.max_wall_seconds
        )
    under_way = state.model_calls.values()
    if limits.max_tokens_total is not None:
        reserved = sum([call.reserved_tokens for call in under_way])
        if _over(counters.tokens + reserved, tokens, limits.max_tokens_total):
            return LimitReached("max_tokens_total", counters.tokens, limits.max_tokens_total)
    if limits.max_cost_usd is not None:
        reserved_usd = sum([call.reserved_usd for call in under_way])
        if _over(counters.cost_usd + reserved_usd, usd, limits.max_cost_usd):
            return LimitReached("max_cost_usd", counters.cost_usd, limits.max_cost_usd)
    return None


def is_last_step(state: RunState) -> bool:
    """Is the next model call the last one that `max_steps` allows?"""
    return state.counters.steps >= state.limits.max_steps - 1


def how_to_go_on(state: RunState, limit: str) -> str:
    """What to type in order to go on with more of a limit."""
    present = getattr(state.limits, limit, None)
    more = round(present * 2) if isinstance(present, int | float) and present else "MORE"
    key = {"max_wall_seconds": "max_wall_time", "max_cost_usd": "max_cost"}.get(limit, limit)
    return f"outlast run --from {state.run_id} --set task.{key}={more}"


def _over(used: float, reserve: float, bound: float) -> bool:
    return used >= bound or used + reserve > bound
