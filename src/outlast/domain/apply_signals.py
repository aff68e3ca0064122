"""How what people and other runs ask of a run changes its state. Signals only record wishes; decisions act on them."""

from __future__ import annotations

from dataclasses import replace
from typing import Any, assert_never

from outlast.domain.apply_asking import to_ticket
from outlast.domain.apply_conversation import recall_for, to_branch
from outlast.domain.events import (
    Answered,
    Approved,
    CancelRequested,
    EndAwaited,
    LimitsChanged,
    MessageReceived,
    MessageSent,
    PauseRequested,
    Rejected,
    ResumeRequested,
    Said,
    Signal,
    TaskReported,
)
from outlast.domain.evolve import Changes, evolve, without
from outlast.domain.run import MAIN_BRANCH, RecallCall, RunState, Waiter
from outlast.domain.states import State


def apply_signal(state: RunState, event: Signal) -> Changes:  # noqa: C901 - one case a signal
    """What a signal changes."""
    match event:
        case PauseRequested():
            return {} if state.has_ended else {"wants_pause": True, "wants_resume": False}
        case ResumeRequested():
            return {"wants_pause": False, "wants_resume": state.state in _RESUMABLE}
        case CancelRequested(by=by, reason=reason):
            return {} if state.has_ended else {"wants_cancel": reason or f"cancelled by {by}"}
        case Said(text=text):
            return _heard(state, text)
        case MessageReceived():
            return _heard(state)
        case MessageSent():
            return {}
        case TaskReported(task=task, is_open=is_open):
            return {} if is_open else _without_task(state, task)
        case EndAwaited(queue=queue, item=item):
            waiter = Waiter(queue, item)
            return {} if waiter in state.waiters else {"waiters": (*state.waiters, waiter)}
        case Approved(ticket=ticket, edit=edit):
            return to_ticket(state, ticket, status="approved", edit=edit)
        case Rejected(ticket=ticket, comment=comment):
            return to_ticket(state, ticket, status="rejected", comment=comment)
        case Answered(question=name, text=text, by=by):
            return _answered(state, name, text, by)
        case LimitsChanged(changes=changes):
            return _relimited(state, changes)
        case _:
            assert_never(event)


_RESUMABLE = frozenset({State.PAUSED, State.FAILED, State.WAITING})


def hears_people(branch: str, purpose: str) -> bool:
    """Does what a person says to the run reach a branch of this name and purpose?"""
    return branch == MAIN_BRANCH or purpose in ("plan", "execute", "report")


def _heard(state: RunState, text: str = "") -> Changes:
    """What is said to the run is heard by whoever hears people; in a conversation memory is asked for a person's `text` first."""
    branches = {
        name: evolve(branch, told_since=True, answer=None) if hears_people(name, branch.purpose) else branch
        for name, branch in state.branches.items()
    }
    talk = branches.get(MAIN_BRANCH)
    if talk is not None and text:
        branches[MAIN_BRANCH] = evolve(talk, recall=_asked_too(talk.recall, recall_for(state, text)))
    return {"branches": branches}


def _without_task(state: RunState, task: str) -> Changes:
    """A background task has ended; the branch that stood still for it goes on once it has no other."""
    awaited = state.background.get(task)
    if awaited is None:
        return {}
    left = {"background": without(state.background, task)}
    branch = state.branches.get(awaited.branch)
    if branch is None or not state.awaits(branch):
        return left
    return {**left, **to_branch(state, branch.id, told_since=True, answer=None)}


def _asked_too(before: RecallCall | None, asked: RecallCall | None) -> RecallCall | None:
    """What memory is asked for when a person said something while it was being asked for something else."""
    if before is None or asked is None:
        return before or asked
    return replace(before, then=asked.query)


def _answered(state: RunState, name: str, text: str, by: str) -> Changes:
    question = state.questions.get(name)
    if question is None or question.answer is not None:
        return {}
    return {"questions": {**state.questions, name: evolve(question, answer=text, by=by)}}


def _relimited(state: RunState, changes: dict[str, Any]) -> Changes:
    known = {name: value for name, value in changes.items() if hasattr(state.limits, name)}
    reached = tuple(name for name in state.reached if name not in known)
    return {"limits": evolve(state.limits, **known), "reached": reached}
