"""How lifecycle events change the state of a run."""

from __future__ import annotations

from dataclasses import replace
from typing import assert_never

from outlast.domain.events import (
    FoldDiverged,
    Lifecycle,
    LimitReached,
    RunClaimed,
    RunForked,
    RunReleased,
    RunStarted,
    StateEntered,
    ToolsChanged,
    TurnTaken,
)
from outlast.domain.evolve import Changes, evolve
from outlast.domain.run import FORKED, Branch, Call, Failure, RunState, Ticket, Waiter
from outlast.domain.states import ENDED, HELD, REMEMBERING, State


def apply_lifecycle(state: RunState, event: Lifecycle) -> Changes:
    """What a lifecycle event changes."""
    match event:
        case RunStarted() | FoldDiverged():
            return {}
        case RunClaimed(generation=generation):
            idle_claims = state.idle_claims + 1
            return {"generation": generation, "is_claimed": True, "idle_claims": idle_claims}
        case TurnTaken():
            return {"in_line": False}
        case RunReleased():
            return {"is_claimed": False, "idle_claims": 0}
        case RunForked():
            return _forked(state, event)
        case ToolsChanged(tools=tools):
            return {"tools": {**state.tools, **{tool.name: tool for tool in tools}}}
        case StateEntered():
            return _entered(state, event)
        case LimitReached(limit=limit):
            reached = state.reached if limit in state.reached else (*state.reached, limit)
            return {"reached": reached, "replan_reasons": event.reasons or state.replan_reasons}
        case _:
            assert_never(event)


def _entered(state: RunState, event: StateEntered) -> Changes:
    target = event.target
    remembers = target in REMEMBERING
    is_halt = target in HELD or event.source in HELD
    back_to = state.back_to if event.source in REMEMBERING else event.source
    tickets = _without_used(state, f"{event.source}->{target}@{state.entered_position}")
    entered: Changes = {
        "state": target,
        "entered_position": state.entered_position if is_halt else state.next_position,
        "back_to": back_to if remembers else None,
        "outcome": event.outcome,
        "failure": Failure(event.code, event.detail or "", event.next_step or "") if event.code else None,
        "hooks": state.hooks if is_halt else {},
        "tickets": tickets,
        "idle_claims": 0,
        "wants_resume": False,
        "waiters": _still_waiting(state, event.source),
    }
    if target in ENDED:
        return {**entered, "wants_pause": False, "wants_cancel": None, **_unasked_people(target)}
    return {**entered, **_restarted(state, tickets)} if event.source is State.FAILED else entered


def _still_waiting(state: RunState, left: State) -> tuple[Waiter, ...]:
    """What waits once a state was left: what was made due when it was entered does not."""
    if left is State.FAILED:
        return ()
    return tuple(waiter for waiter in state.waiters if left not in HELD or waiter.queue == "runs")


def _without_used(state: RunState, subject: str) -> dict[str, Ticket]:
    """The ticket of a transition is used up once it is taken."""
    return {name: ticket for name, ticket in state.tickets.items() if ticket.subject != subject}


def _restarted(state: RunState, tickets: dict[str, Ticket]) -> Changes:
    """What failed before is tried afresh after a resume."""
    branches = {
        name: evolve(branch, steps=0, failures=0, option=0, slips=0, fault=None, retry_at=None)
        for name, branch in state.branches.items()
    }
    kept = {name: ticket for name, ticket in tickets.items() if ticket.status in ("open", "approved")}
    return {"branches": branches, "tickets": kept}


def _unasked_people(ended: State) -> Changes:
    """Nothing waits for a person any more once a run has ended, unless it failed and may be resumed."""
    return {} if ended is State.FAILED else {"tickets": {}, "questions": {}}


def _forked(state: RunState, event: RunForked) -> Changes:
    """A fork stands where its original stood, in a thread of its own, held by nobody, every open intent orphaned."""
    definition = event.definition or state.definition
    calls = {name: _orphaned(call) for name, call in state.calls.items()}
    return {
        "thread_id": event.thread_id,
        "definition": definition,
        "limits": definition.limits if event.definition else state.limits,
        "generation": 0,
        "is_claimed": False,
        "idle_claims": 0,
        "tickets": {},
        "hooks": {},
        "calls": calls,
        "branches": {name: _unasked(branch) for name, branch in state.branches.items()},
        "model_calls": {name: replace(call, generation=FORKED) for name, call in state.model_calls.items()},
        "reached": (),
        "wants_pause": False,
        "wants_cancel": None,
        "wants_resume": False,
        "in_line": False,
        "waiters": (),
        "background": {},
        "tells_of": (),
    }


def _unasked(branch: Branch) -> Branch:
    """What memory was being asked for is asked for anew."""
    return (
        branch
        if branch.recall is None
        else evolve(branch, recall=replace(branch.recall, id=None, generation=None, attempts=0))
    )


def _orphaned(call: Call) -> Call:
    return call if call.generation is None else evolve(call, generation=FORKED)
