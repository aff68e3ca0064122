"""The `research` workflow: plan, execute, review, report.

    INIT -> PLANNING -> EXECUTING <-> REVIEWING -> COMPLETED
                ^____________|____________|   (a refused plan, bounded)

A planner makes a plan of subtasks; executors work on them in parallel, each in a conversation of its own; a reviewer judges each
and the report; a writer hands the report in. A task that leaves states out skips what is done in them.

May import: `runs`, `domain`.
To add one: a stage is one file with one `decide`.
"""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime

from outlast.domain.commands import Command, ComposeReport
from outlast.domain.run import RunState
from outlast.domain.states import State
from outlast.runs.converse import failure_of, has_failed
from outlast.runs.cut_short import cut_short, limit_in_words
from outlast.runs.decide import is_busy
from outlast.runs.moves import enter
from outlast.runs.transitions import working_states
from outlast.runs.workflows.research import planning, reporting, subtasks


def decide(state: RunState, now: datetime) -> Sequence[Command]:
    """What a research run does next."""
    if state.state is State.INIT:
        first = State.PLANNING if State.PLANNING in working_states(state) else State.EXECUTING
        return [enter(state, first, "begin")]
    if state.reached:
        return _cut_short(state, now)
    failed = next((branch for branch in state.branches.values() if has_failed(branch)), None)
    if failed is not None:
        return [] if is_busy(state) else [failure_of(state, failed)]
    if state.state is State.PLANNING:
        return planning.decide(state, now)
    return subtasks.decide(state, now) or reporting.decide(state, now)


def _cut_short(state: RunState, now: datetime) -> Sequence[Command]:
    """A limit is reached: calls in flight may end, then the report is made from what there is."""
    if is_busy(state):
        return []
    if taken := subtasks.last_conclusions(state):
        return taken
    if state.report_outcome != "partial":
        return [ComposeReport("partial", limit_in_words(state))]
    return [cut_short(state)]
