"""How what people and other runs ask of a run changes its state. Signals only record wishes; decisions act on them."""

from __future__ import annotations

from typing import Any, assert_never

from outlast.domain.apply_asking import with_ticket
from outlast.domain.events import (
    Answered,
    Approved,
    CancelRequested,
    LimitsChanged,
    PauseRequested,
    Rejected,
    ResumeRequested,
    Said,
    Signal,
)
from outlast.domain.evolve import evolve
from outlast.domain.run import MAIN_BRANCH, RunState
from outlast.domain.states import State


def apply_signal(state: RunState, event: Signal) -> RunState:
    """The state after a signal."""
    match event:
        case PauseRequested():
            return state if state.has_ended else evolve(state, wants_pause=True, wants_resume=False)
        case ResumeRequested():
            return evolve(state, wants_pause=False, wants_resume=state.state in _RESUMABLE)
        case CancelRequested(by=by, reason=reason):
            return state if state.has_ended else evolve(state, wants_cancel=reason or f"cancelled by {by}")
        case Said():
            return _heard(state)
        case Approved(ticket=ticket, edit=edit):
            return with_ticket(state, ticket, status="approved", edit=edit)
        case Rejected(ticket=ticket, comment=comment):
            return with_ticket(state, ticket, status="rejected", comment=comment)
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


def _heard(state: RunState) -> RunState:
    branches = {
        name: evolve(branch, told_since=True, answer=None) if hears_people(name, branch.purpose) else branch
        for name, branch in state.branches.items()
    }
    return evolve(state, branches=branches)


def _answered(state: RunState, name: str, text: str, by: str) -> RunState:
    question = state.questions.get(name)
    if question is None or question.answer is not None:
        return state
    return evolve(state, questions={**state.questions, name: evolve(question, answer=text, by=by)})


def _relimited(state: RunState, changes: dict[str, Any]) -> RunState:
    known = {name: value for name, value in changes.items() if hasattr(state.limits, name)}
    reached = tuple(name for name in state.reached if name not in known)
    return evolve(state, limits=evolve(state.limits, **known), reached=reached)
