"""The states of a run and the one table of transitions between them."""

from __future__ import annotations

from enum import StrEnum
from typing import Final


class State(StrEnum):
    """Where a run stands, in steps that mean something to a person: when it is entered; what is done in it; when it is left.

    INIT: when the run is created; nothing yet; as soon as a worker begins.
    PLANNING: for the first plan, or when one was refused; a planner plans, hooks and people may refuse; when a plan is adopted.
    EXECUTING: with a plan, or with the input alone; models and tools work; when work is to be judged, planned anew or finished.
    REVIEWING: when a subtask or the report is to be judged; a reviewer judges, other subtasks go on; with the verdict.
    WAITING: when nothing can advance without a person or a task; nothing, and no time counts; to where it was, once it can go on.
    PAUSED: when a person asked, and calls in flight have ended; nothing, and no time counts; to where it was, when resumed.
    COMPLETED: when the workflow is done, or a limit is reached; the result is kept, full or partial; never.
    FAILED: when the run cannot go on; nothing, what was done is kept; to where it was, when resumed.
    CANCELLED: when a person cancelled; nothing, calls in flight were killed; never.
    """

    INIT = "INIT"
    PLANNING = "PLANNING"
    EXECUTING = "EXECUTING"
    REVIEWING = "REVIEWING"
    WAITING = "WAITING"
    PAUSED = "PAUSED"
    COMPLETED = "COMPLETED"
    FAILED = "FAILED"
    CANCELLED = "CANCELLED"


WORKING: Final = frozenset({State.INIT, State.PLANNING, State.EXECUTING, State.REVIEWING})
"""States in which a worker acts and in which time counts against the run."""

HELD: Final = frozenset({State.WAITING, State.PAUSED})
"""States in which a run stands still until somebody acts."""

REMEMBERING: Final = HELD | {State.FAILED}
"""States that remember the working state to go back to."""

ENDED: Final = frozenset({State.COMPLETED, State.FAILED, State.CANCELLED})
"""States in which the run is no longer active."""

_FORWARD: Final[dict[State, frozenset[State]]] = {
    State.INIT: frozenset({State.PLANNING, State.EXECUTING}),
    State.PLANNING: frozenset({State.EXECUTING, State.COMPLETED}),
    State.EXECUTING: frozenset({State.PLANNING, State.REVIEWING, State.COMPLETED}),
    State.REVIEWING: frozenset({State.PLANNING, State.EXECUTING, State.COMPLETED}),
}

TRANSITIONS: Final[dict[State, frozenset[State]]] = {
    **{state: forward | HELD | {State.FAILED, State.CANCELLED} for state, forward in _FORWARD.items()},
    State.WAITING: WORKING | {State.PAUSED, State.COMPLETED, State.FAILED, State.CANCELLED},
    State.PAUSED: WORKING | {State.WAITING, State.CANCELLED},
    State.FAILED: WORKING,
    State.COMPLETED: frozenset(),
    State.CANCELLED: frozenset(),
}
"""From each state, the states that may follow. Going back from WAITING, PAUSED or FAILED leads only to the state remembered."""


def may_follow(source: State, target: State) -> bool:
    """May a run go from `source` to `target`?"""
    return target in TRANSITIONS[source]


def table_as_markdown() -> str:
    """The table of transitions as Markdown, for the docs."""
    order = list(State)
    lines = ["| from | to |", "| --- | --- |"]
    for state in order:
        targets = [target.value for target in order if target in TRANSITIONS[state]]
        lines.append(f"| `{state}` | {', '.join(f'`{target}`' for target in targets) or 'the end'} |")
    return "\n".join(lines)
