"""How recall changes the state of a run: what memory has to be asked before a model speaks next, and that it was asked."""

from __future__ import annotations

from dataclasses import replace
from typing import assert_never

from outlast.domain.apply_conversation import to_branch
from outlast.domain.events import MemoryRecalled, Recall, RecallFailed, RecallRequested
from outlast.domain.evolve import Changes
from outlast.domain.run import RecallCall, RunState


def apply_recall(state: RunState, event: Recall) -> Changes:
    """What an event of recall changes."""
    match event:
        case RecallRequested():
            return _requested(state, event)
        case MemoryRecalled(branch=branch, recall=recall) | RecallFailed(branch=branch, recall=recall):
            return _ended(state, branch, recall)
        case _:
            assert_never(event)


def _requested(state: RunState, event: RecallRequested) -> Changes:
    branch = state.branches.get(event.branch)
    if branch is None or branch.recall is None:
        return {}
    asked = replace(
        branch.recall, id=event.recall, generation=event.generation, attempts=branch.recall.attempts + 1
    )
    return to_branch(state, event.branch, recall=asked)


def _ended(state: RunState, name: str, recall: str) -> Changes:
    """What a person said while memory was being asked for something else is to be asked for next."""
    branch = state.branches.get(name)
    if branch is None or branch.recall is None or branch.recall.id != recall:
        return {"idle_claims": 0}
    next_one = RecallCall(branch.recall.then) if branch.recall.then else None
    return {"idle_claims": 0, **to_branch(state, name, recall=next_one)}
