"""What next: `decide(state, now)`, pure, asked only from the present.

It first does what every run owes (ends, cancels, pauses, holds), then asks the run's workflow, then holds the
workflow's transitions back where a hook or a person has to agree.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from datetime import datetime
from typing import Final

from outlast.domain.commands import CallModel, Command, Record
from outlast.domain.events import ModelFailed, QuestionAsked, StateEntered, ToolUnsettled
from outlast.domain.evolve import evolve
from outlast.domain.run import RunState
from outlast.domain.states import ENDED, WORKING, State
from outlast.domain.tool_call import Effect
from outlast.runs.approvals import expired_tickets
from outlast.runs.calls import effect_of, in_flight
from outlast.runs.cut_short import cut_short
from outlast.runs.moves import enter, settle
from outlast.runs.recall.due import is_recalling
from outlast.runs.transitions import guarded

Workflow = Callable[[RunState, datetime], Sequence[Command]]
"""A workflow: what a run does next, given where it stands. Pure; it may be changed while runs wait."""


MAX_IDLE_CLAIMS: Final = 5
"""How many workers in a row may stop without a result before a person is asked."""

CRASH_LOOP: Final = "crash-loop-"


def decide(state: RunState, now: datetime, workflow: Workflow) -> list[Command]:
    """The commands that are due now. Empty when the run can only wait: for calls in flight, a timer, a person, a worker."""
    if state.state in ENDED:
        is_resumed = state.state is State.FAILED and state.wants_resume
        return [enter(state, state.back_to or State.INIT, "resumed")] if is_resumed else []
    if state.wants_cancel is not None:
        return [*_lost_calls(state), *_cancelled(state, state.wants_cancel)]
    if state.state in WORKING and not state.wants_pause:
        return _working(state, now, workflow)
    if state.state is State.PAUSED:
        return [enter(state, state.back_to or State.INIT, "resumed")] if state.wants_resume else []
    if state.wants_pause:
        return [] if is_busy(state) else [enter(state, State.PAUSED, "asked to pause")]
    return _woken(state, now, workflow)


def is_busy(state: RunState) -> bool:
    """Is a call in flight under the present claim?"""
    return (
        any(call.generation == state.generation for call in state.model_calls.values())
        or bool(in_flight(state))
        or any(not hook.is_done and hook.generation == state.generation for hook in state.hooks.values())
        or any(is_recalling(state, branch) for branch in state.branches.values())
    )


def next_timer(state: RunState, decided_at: datetime) -> datetime | None:
    """When a decision becomes due by time alone, after the one made at `decided_at`: a retry, or a ticket that expires.

    A run that is paused, or about to be, has no timers.
    """
    times = [branch.retry_at for branch in state.branches.values() if branch.retry_at is not None]
    if state.tickets:
        times += [ticket.expires_at for ticket in state.open_tickets() if ticket.expires_at is not None]
    if not times or state.wants_pause or state.state is State.PAUSED:
        return None
    return min((time for time in times if time > decided_at), default=None)


def _working(state: RunState, now: datetime, workflow: Workflow) -> list[Command]:
    expired = expired_tickets(state, now)
    if expired:
        return expired
    if state.idle_claims > MAX_IDLE_CLAIMS:
        return _out_of_crash_loop(state)
    commands = guarded(state, workflow(state, now), now)
    if state.reached:  # no model is asked any more
        commands = [command for command in commands if not isinstance(command, CallModel)]
    if not commands and not is_busy(state) and state.reached:
        commands = guarded(state, [cut_short(state)], now)
    if _complete(commands):
        return [*_lost_calls(state), *commands]
    if commands or is_busy(state):
        return commands
    return [] if _has_retry(state, now) else [enter(state, State.WAITING, _waits_for(state))]


def _woken(state: RunState, now: datetime, workflow: Workflow) -> list[Command]:
    """A waiting run goes back to work when, back at work, it would have something to do."""
    expired = expired_tickets(state, now)
    if expired:
        return expired
    if any(question.id.startswith(CRASH_LOOP) for question in state.open_questions()):
        return []
    back = evolve(state, state=state.back_to or State.INIT, back_to=None)
    if guarded(back, workflow(back, now), now):
        return [enter(state, back.state, "woken")]
    return []


def _out_of_crash_loop(state: RunState) -> list[Command]:
    """Workers die of this run: stop, and have a person look."""
    text = (
        f"{state.idle_claims} workers in a row took this run up and stopped before anything came of it. "
        "Look at what it was about to do (`outlast trace RUN`), then answer anything to go on, or cancel it."
    )
    return [
        Record(QuestionAsked(f"{CRASH_LOOP}{state.position}", text)),
        enter(state, State.WAITING, "workers stop while they work on it"),
    ]


def _has_retry(state: RunState, now: datetime) -> bool:
    return any(branch.retry_at is not None and branch.retry_at > now for branch in state.branches.values())


def _waits_for(state: RunState) -> str:
    if state.open_tickets():
        return "approval"
    if state.open_questions():
        return "answer"
    waits = any(state.awaits(branch) for branch in state.branches.values())
    return "background task" if waits else "nothing can advance"


def _complete(commands: Sequence[Command]) -> bool:
    """Is the run over, and whole, with these?"""
    for command in commands:
        event = command.event if isinstance(command, Record) else None
        if isinstance(event, StateEntered) and event.target is State.COMPLETED:
            return True
    return False


def _lost_calls(state: RunState) -> list[Command]:
    """The end of model calls whose answers nobody will hear any more: what was set aside for them counts as spent."""
    return [
        Record(
            ModelFailed(
                call=call.id,
                fault="cut_stream",
                detail="The run ended before the answer came; what was set aside for the call counts as spent.",
                spent_tokens=call.reserved_tokens,
                spent_usd=call.reserved_usd,
            )
        )
        for call in state.model_calls.values()
    ]


def _cancelled(state: RunState, reason: str) -> list[Command]:
    """End now. Calls that were running were killed: what they did is not known where they have an effect."""
    commands: list[Command] = []
    for name, call in state.calls.items():
        started = call.generation is not None
        if started and effect_of(state, call) is Effect.ONCE and not call.is_unsettled:
            commands.append(Record(ToolUnsettled(name, "the run was cancelled while it ran")))
        elif not call.is_unsettled:
            commands.append(settle(name, "cancelled", "The run was cancelled.", "cancel"))
    ended = StateEntered(
        state.state,
        State.CANCELLED,
        "cancelled",
        code="cancelled",
        detail=reason,
        next_step="outlast run --from RUN",
    )
    return [*commands, Record(ended)]
