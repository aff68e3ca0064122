"""Transitions that hooks and people guard: what a workflow asks for is held back until they agree.

Hooks run in the order on_exit_S, A->B, on_transition, on_enter_T, each once for a transition, also after a crash. A
veto or a rejection turns the run back: while planning it makes the plan be made anew with the reason, elsewhere it
fails the run, which can be resumed.
"""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime

from outlast.domain.apply_tooling import hook_key
from outlast.domain.commands import Command, Record, RunHook
from outlast.domain.door import Json
from outlast.domain.events import LimitReached, PlanRefused, StateEntered
from outlast.domain.plan import digest_of_plan
from outlast.domain.run import RunState
from outlast.domain.states import HELD, WORKING, State
from outlast.runs.approvals import Gate, refusal_in_words, transition_passage
from outlast.runs.moves import fail


def guarded(state: RunState, commands: Sequence[Command], now: datetime) -> list[Command]:
    """The commands of a workflow, its first transition replaced by what still has to happen before it.

    Further transitions are left out; they are decided anew where the first one led.
    """
    allowed: list[Command] = []
    has_transition = False
    for command in commands:
        entering = _guarded_transition(command)
        if entering is None:
            allowed.append(command)
        elif not has_transition:
            has_transition = True
            allowed += _guard(state, entering, now)
    return allowed


def hook_points(state: RunState, target: State) -> list[tuple[str, str]]:
    """The hooks of a transition, as (point, hook), in the order in which they run."""
    hooks = state.definition.hooks
    points = [f"on_exit_{state.state}", f"{state.state}->{target}", "on_transition", f"on_enter_{target}"]
    return [(point, hooks[point]) for point in points if point in hooks]


def _guarded_transition(command: Command) -> StateEntered | None:
    """The transition a command asks for, if hooks and people may guard it: failing, cancelling and halting are free."""
    event = command.event if isinstance(command, Record) else None
    if not isinstance(event, StateEntered) or event.target in HELD | {State.FAILED, State.CANCELLED}:
        return None
    return event


def _guard(state: RunState, entering: StateEntered, now: datetime) -> Sequence[Command]:
    arrow = f"{state.state}->{entering.target}"
    for point, hook in hook_points(state, entering.target):
        subject = f"{arrow}@{state.entered_position}"
        ran = state.hooks.get(hook_key(hook, f"{subject}:{point}"))
        if ran is None or (not ran.is_done and ran.generation != state.generation):
            return [RunHook(hook, point, f"{subject}:{point}", _info(state, entering))]
        if not ran.is_done:
            return []
        if ran.veto is not None:
            return _turned_back(state, entering, f"the hook {hook}", ran.veto)
    passage = transition_passage(state, arrow, _shown(state, entering), now)
    if passage.gate is Gate.OPEN:
        return [Record(entering)]
    if passage.gate is Gate.WAIT or passage.ticket is None:
        return passage.commands
    ticket = passage.ticket
    return _turned_back(state, entering, "a person", refusal_in_words(ticket))


def _turned_back(state: RunState, entering: StateEntered, who: str, why: str) -> Sequence[Command]:
    if state.state is State.PLANNING and entering.target is State.EXECUTING and state.plan:
        used, bound = state.counters.replans, state.limits.max_replans
        if used >= bound:
            return [Record(LimitReached("max_replans", used, bound, (why,)))]
        return [Record(PlanRefused(who, (why,), digest_of_plan([item.subtask for item in state.plan])))]
    return [
        fail(
            state,
            "transition_refused",
            f"{who.capitalize()} refused {state.state}->{entering.target}: {why}",
            "Mend what was refused, then `outlast resume RUN` to ask again.",
        )
    ]


def _shown(state: RunState, entering: StateEntered) -> Json:
    """What a person agrees to. Nothing of it changes while other subtasks go on, or the ticket would not hold."""
    plan: Json = [{"id": item.subtask.id, "question": item.subtask.question} for item in state.plan]
    return {"transition": f"{state.state}->{entering.target}", "plan": plan}


def _info(state: RunState, entering: StateEntered) -> dict[str, Json]:
    return {"source": str(state.state), "target": str(entering.target), "reason": entering.reason}


def working_states(state: RunState) -> frozenset[State]:
    """The working states this run's task allows."""
    named = frozenset(State(name) for name in state.definition.states)
    return (named & WORKING) or WORKING
