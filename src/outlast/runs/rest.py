"""Why and until when a run at work is given back."""

from __future__ import annotations

from datetime import datetime, timedelta
from typing import Final

from outlast.domain.dataclass import dataclass
from outlast.domain.run import RunState
from outlast.domain.states import HELD
from outlast.runs.decide import next_timer

LONGEST_WAIT_SECONDS: Final = 60.0
"""A worker sits out shorter waits; for longer ones it gives the run back until it is due."""


@dataclass(frozen=True, slots=True)
class Rest:
    """A run is given back for `reason`, due again at `due_at` (None: when somebody asks for it)."""

    reason: str
    due_at: datetime | None


def rest_of(state: RunState, decided_at: datetime, now: datetime, *, is_draining: bool) -> Rest | None:
    """Why and until when to give back a run that has no calls in flight; None while a timer is soon due."""
    timer = next_timer(state, decided_at)
    if state.has_ended:
        return Rest("ended", None)
    if state.state in HELD:
        return Rest(str(state.state).lower(), timer)
    if is_draining:
        return Rest("shutdown", now)
    if timer is None:
        return Rest("nothing to do", None)
    return (
        Rest("waiting to try again", timer) if timer - now > timedelta(seconds=LONGEST_WAIT_SECONDS) else None
    )
