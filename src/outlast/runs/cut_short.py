"""Ending a run at a limit: a partial result that says which limit, and what to type in order to go on with more."""

from __future__ import annotations

from outlast.domain.commands import Record
from outlast.domain.events import StateEntered
from outlast.domain.run import RunState
from outlast.domain.states import State
from outlast.runs.limits import how_to_go_on
from outlast.runs.report_words import words_for


def cut_short(state: RunState) -> Record:
    """Complete the run with what there is, because of the first limit it reached."""
    limit = state.reached[0]
    detail = f"The run stopped at its limit {limit}{_why(state, limit)}."
    return ended_in_part(state, "limit_reached", detail, how_to_go_on(state, limit), f"limit {limit} reached")


def ended_in_part(state: RunState, code: str, detail: str, next_step: str, reason: str = "") -> Record:
    """Complete the run with what there is, and say why it is not all."""
    return Record(
        StateEntered(
            state.state,
            State.COMPLETED,
            reason or code,
            "partial",
            code=code,
            detail=detail,
            next_step=next_step,
        )
    )


def limit_in_words(state: RunState) -> str:
    """The limit a run stopped at, and how to go on, in the language of its input."""
    limit = state.reached[0]
    command = how_to_go_on(state, limit)
    return words_for(state)["limit"].format(limit=limit, why=_why(state, limit), command=command)


def _why(state: RunState, limit: str) -> str:
    return f" ({'; '.join(state.replan_reasons)})" if limit == "max_replans" and state.replan_reasons else ""
