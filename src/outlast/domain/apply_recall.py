"""How recall changes the state of a run: what memory has to be asked before a model speaks next, and that it was asked."""

from __future__ import annotations

from dataclasses import replace
from typing import assert_never

from outlast.domain.apply_conversation import with_branch
from outlast.domain.events import MemoryRecalled, Recall, RecallFailed, RecallRequested
from outlast.domain.evolve import evolve
from outlast.domain.run import RecallCall, RunState


def apply_recall(state: RunState, event: Recall) -> RunState:
    """The state after an event of recall."""
    match event:
        case RecallRequested():
            return _requested(state, event)
        case MemoryRecalled(branch=branch, recall=recall) | RecallFailed(branch=branch, recall=recall):
            return _ended(state, branch, recall)
        case _:
            assert_never(event)


def _requested(state: RunState, event: RecallRequested) -> RunState:
    branch = state.branches.get(event.branch)
    if branch is None or branch.recall is None:
        return state
    asked = replace(
        branch.recall, id=event.recall, generation=event.generation, attempts=branch.recall.attempts + 1
    )
    return with_branch(state, event.branch, recall=asked)


def _ended(state: RunState, name: str, recall: str) -> RunState:
    """What a person said while memory was being asked for something else is to be asked for next."""
    ended = evolve(state, idle_claims=0)
    branch = state.branches.get(name)
    if branch is None or branch.recall is None or branch.recall.id != recall:
        return ended
    return with_branch(ended, name, recall=RecallCall(branch.recall.then) if branch.recall.then else None)
