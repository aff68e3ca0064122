"""What may happen to a run, one thing at a time, drawn by luck; and how it goes once nothing goes wrong any more."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from datetime import timedelta
from typing import Any, TypeVar

from outlast.domain.events import (
    Answered,
    AnyEvent,
    Approved,
    CancelRequested,
    LimitsChanged,
    PauseRequested,
    Rejected,
    ResumeRequested,
    Said,
)
from outlast.domain.states import WORKING, State
from outlast.domain.task import ApprovalRule, Limits, TaskDefinition
from outlast.runs.calls import DID_HAPPEN, DID_NOT_HAPPEN, RUN_AGAIN
from outlast.runs.decide import next_timer
from tests.unit.runs.fates import GOOD, fate_of
from tests.unit.runs.troupe import Luck, Troupe, is_over

MOST_TURNS_TO_THE_END = 600

T = TypeVar("T")
Happening = Callable[[Troupe, Luck], None]


def pick(luck: Luck, what: str, options: Sequence[T]) -> T:
    return options[luck(what, len(options))]


APPROVALS = (
    ApprovalRule(on="PLANNING->EXECUTING"),
    ApprovalRule(on="plan"),
    ApprovalRule(on="outline", expires_seconds=5.0),
    ApprovalRule(on="conclusions"),
    ApprovalRule(on="report"),
    ApprovalRule(tool="pay"),
    ApprovalRule(tool="look", expires_seconds=3.0),
)
HOOKS = {
    "on_enter_REVIEWING": "h:a",
    "EXECUTING->COMPLETED": "h:b",
    "on_transition": "h:c",
    "PLANNING->EXECUTING": "h:d",
}
STATES = ("INIT", "PLANNING", "EXECUTING", "REVIEWING", "COMPLETED")


def some_task(workflow: str, luck: Luck) -> TaskDefinition:
    """A task; tasks differ in everything decisions look at."""
    return TaskDefinition(
        name="task",
        workflow=workflow,
        limits=Limits(
            max_steps=pick(luck, "steps", [90, 90, 90, 90, 30, 6, 90, 90, 90]),
            max_wall_seconds=pick(luck, "seconds", [3600.0, 3600.0, 3600.0, 60.0]),
            max_tokens_total=pick(luck, "tokens", [None, None, None, None, 9_000, 50_000]),
            max_replans=luck("replans", 3),
            tool_calls=pick(luck, "bounds", [{}, {"pay": 1}]),
        ),
        tools=("look", "note", "pay", "gate"),
        states=pick(
            luck, "states", [(), (), STATES, ("INIT", "EXECUTING", "COMPLETED"), (*STATES[:3], "COMPLETED")]
        ),
        approvals=_some_approvals(luck),
        hooks=pick(luck, "hooks", [{}, HOOKS, {"on_enter_REVIEWING": "h:a"}]),
        after=pick(luck, "after", [{}, {"gate": ("look",)}]),
        max_concurrent_tools=1 + luck("tools", 3),
        max_concurrent_subtasks=1 + luck("subtasks", 3),
        recall_top_k=pick(luck, "memory", [0, 8]),
        context_max_tokens=pick(luck, "context", [24_000, 60, 1_000]),
        compression_threshold=pick(luck, "threshold", [20, 2, 5]),
        on_replan_limit=pick(luck, "at the bound", ["partial", "accept"]),
        unknown_outcome=pick(luck, "unknown", ["ask", "ask", "error"]),
    )


def _some_approvals(luck: Luck) -> tuple[ApprovalRule, ...]:
    drawn = [pick(luck, "approval", APPROVALS) for _ in range(luck("approvals", 4))]
    return tuple(dict.fromkeys(drawn))


def something_happens(troupe: Troupe, luck: Luck) -> None:
    """One thing that may happen now, happens."""
    pick(luck, "what happens", happenings(troupe))(troupe, luck)


def happenings(troupe: Troupe) -> list[Happening]:
    """What may happen next, the likelier ones more than once."""
    state = troupe.state
    possible: list[Happening] = [time_passes] * 2
    if troupe.in_flight:
        possible += [a_call_ends] * 20
    if troupe.is_claimed:
        possible += [the_worker_dies] * 3 + [the_worker_drains]
    else:
        possible += [a_worker_claims] * (4 if state.state in WORKING else 1)
    if state.open_tickets():
        possible += [a_person_decides] * 3
    if state.open_questions():
        possible += [a_person_answers] * 3
    if not is_over(state):
        possible += [a_person_steers, a_person_changes_limits]
    if state.state in (State.PAUSED, State.FAILED) or state.wants_pause:
        possible += [a_person_resumes] * 3
    return possible


def a_call_ends(troupe: Troupe, luck: Luck) -> None:
    name = pick(luck, "call", sorted(troupe.in_flight))
    troupe.finish(name, fate_of(troupe, name, luck))


def the_worker_dies(troupe: Troupe, luck: Luck) -> None:
    troupe.crash()


def the_worker_drains(troupe: Troupe, luck: Luck) -> None:
    troupe.is_draining = True
    troupe.advance([])


def a_worker_claims(troupe: Troupe, luck: Luck) -> None:
    troupe.claim()


def time_passes(troupe: Troupe, luck: Luck) -> None:
    troupe.now += timedelta(seconds=pick(luck, "which", [0.5, 2.0, 10.0]))
    troupe.advance([])


def a_person_steers(troupe: Troupe, luck: Luck) -> None:
    wishes: list[AnyEvent] = [
        PauseRequested("ann"),
        PauseRequested("ann"),
        Said("ann", "go"),
        Said("ann", "in euros", pinned=True),
        ResumeRequested("ann"),
    ]
    troupe.signal(pick(luck, "which", [*wishes, CancelRequested("ann")]))


def a_person_resumes(troupe: Troupe, luck: Luck) -> None:
    troupe.signal(ResumeRequested("ann"))


def a_person_decides(troupe: Troupe, luck: Luck) -> None:
    ticket = pick(luck, "which", [ticket.id for ticket in troupe.state.open_tickets()])
    verdicts: list[AnyEvent] = [
        Approved("ann", ticket),
        Approved("ann", ticket, {"what": "less"}),
        Rejected("ann", ticket),
    ]
    troupe.signal(pick(luck, "which", verdicts))


def a_person_answers(troupe: Troupe, luck: Luck) -> None:
    question = pick(luck, "which", [one.id for one in troupe.state.open_questions()])
    text = pick(luck, "which", [RUN_AGAIN, DID_HAPPEN, DID_NOT_HAPPEN, "blue"])
    troupe.signal(Answered("ann", question, text))


def a_person_changes_limits(troupe: Troupe, luck: Luck) -> None:
    changes: list[dict[str, Any]] = [{"max_steps": 100}, {"max_steps": 90}, {"max_tokens_total": None}]
    changes += [
        {"max_replans": 0},
        {"max_replans": 3},
        {"max_wall_seconds": 900},
        {"max_steps": 2},
        {"max_wall_seconds": 1},
    ]
    troupe.signal(LimitsChanged("ann", pick(luck, "which", changes)))


def come_to_rest(troupe: Troupe) -> None:
    """Nothing goes wrong any more and people answer: the run ends in a bounded number of turns."""
    troupe.signal(LimitsChanged("ann", {"max_wall_seconds": 10**6}))
    for _ in range(MOST_TURNS_TO_THE_END):
        state = troupe.state
        if is_over(state) and not troupe.in_flight:
            return
        if not _goes_on(troupe):
            raise AssertionError(
                f"stuck in {state.state}:\n" + "\n".join(str(one.event)[:150] for one in troupe.history[-30:])
            )
    raise AssertionError(f"no end within {MOST_TURNS_TO_THE_END} turns; {troupe.history[-30:]}")


def _goes_on(troupe: Troupe) -> bool:
    """Whatever would happen next in a world where all goes well."""
    state = troupe.state
    if troupe.in_flight:
        name = next(iter(troupe.in_flight))
        troupe.finish(name, fate_of(troupe, name, GOOD))
    elif not troupe.is_claimed and state.is_working:
        troupe.claim()
    elif state.state is State.PAUSED or state.wants_pause:
        troupe.signal(ResumeRequested("ann"))
        troupe.claim()
    elif state.open_tickets():
        troupe.signal(Approved("ann", state.open_tickets()[0].id))
    elif state.open_questions():
        troupe.signal(Answered("ann", state.open_questions()[0].id, RUN_AGAIN))
    elif not troupe.is_claimed:
        before = state.position
        troupe.claim()
        return troupe.state.position > before + 2
    else:
        timer = next_timer(state, troupe.decided_at)
        if timer is None:
            return False
        troupe.wait_until(timer)
    return True
