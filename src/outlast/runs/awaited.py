"""What a run still waits for: whether a call may begin, and whether what it came to is still wanted."""

from __future__ import annotations

from collections.abc import Sequence

from outlast.domain.apply_tooling import hook_key
from outlast.domain.events import (
    AnyEvent,
    HookRan,
    HookRequested,
    MemoryRecalled,
    ModelAnswered,
    ModelFailed,
    ModelRequested,
    QuestionAsked,
    RecallFailed,
    RecallRequested,
    RunClaimed,
    ToolAnswered,
    ToolRequested,
)
from outlast.domain.run import RunState
from outlast.runs.drafting import Intent


def is_intended(state: RunState, intent: Intent) -> bool:
    """Does the journal hold this intent of the present claim, its result still to come?"""
    match intent:
        case ModelRequested():
            return intent.call in state.model_calls
        case ToolRequested():
            known = state.calls.get(intent.call)
            return known is not None and (known.generation, known.attempt) == (
                intent.generation,
                intent.attempt,
            )
        case HookRequested(hook=hook, subject=subject):
            asked = state.hooks.get(hook_key(hook, subject))
            return asked is not None and not asked.is_done and asked.generation == intent.generation
        case RecallRequested(recall=recall, branch=branch):
            return _is_recalling(state, branch, recall)


def is_awaited(state: RunState, events: Sequence[AnyEvent]) -> bool:
    """Does the run still wait for what a call came to? Not when an earlier commit, thought lost, has recorded it after all.

    Answers of models and claims stand first in what they bring with them, results of tools last.
    """
    first, last = events[0], events[-1]
    if isinstance(first, ModelAnswered | ModelFailed):
        return first.call in state.model_calls
    if isinstance(first, RunClaimed):
        return first.generation != state.generation
    match last:
        case ToolAnswered():
            return last.call in state.calls
        case MemoryRecalled(branch=branch, recall=recall) | RecallFailed(branch=branch, recall=recall):
            return _is_recalling(state, branch, recall)
        case QuestionAsked(question=question):
            return question not in state.questions
        case HookRan(hook=hook, subject=subject):
            known = state.hooks.get(hook_key(hook, subject))
            return known is not None and not known.is_done
        case _:
            return True


def _is_recalling(state: RunState, name: str, recall: str) -> bool:
    branch = state.branches.get(name)
    return branch is not None and branch.recall is not None and branch.recall.id == recall
