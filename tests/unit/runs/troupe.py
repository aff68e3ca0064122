"""A run without ports: the real decisions, drafts and readings over a journal in a list, and a performer whose luck is drawn.

What a worker does between two commits happens here between two steps of the simulation, so that every order of results, signals,
crashes and claims can be tried in microseconds.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from typing import Any

from outlast.domain.apply import apply
from outlast.domain.events import (
    Answered,
    AnyEvent,
    ModelRequested,
    PinnedTool,
    Recorded,
    RunClaimed,
    RunReleased,
    RunStarted,
    StateEntered,
    ToolAnswered,
    ToolRequested,
    ToolUnsettled,
)
from outlast.domain.message import Message
from outlast.domain.run import RunState
from outlast.domain.states import ENDED, REMEMBERING, WORKING, State, may_follow
from outlast.domain.task import TaskDefinition
from outlast.domain.tool_call import Effect
from outlast.ports.provider import ToolSchema
from outlast.runs.calls import RUN_AGAIN, in_flight
from outlast.runs.decide import Workflow
from outlast.runs.drafting import Draft, Drafter, Started
from outlast.runs.readings import Readings, read_all
from outlast.runs.rest import rest_of

RUN_ID = "r-1"
BEGAN_AT = datetime(2026, 1, 1, tzinfo=UTC)

TOOLS = (
    PinnedTool("look", "", {"type": "object"}, Effect.READ, "1", cache_seconds=0),
    PinnedTool("note", "", {"type": "object"}, Effect.IDEMPOTENT, "1"),
    PinnedTool("pay", "", {"type": "object"}, Effect.ONCE, "1"),
    PinnedTool("gate", "", {"type": "object"}, Effect.ONCE, "1", exclusive_group="g", max_concurrent=1),
    PinnedTool("write_report", "", {"type": "object"}, Effect.IDEMPOTENT, "1"),
)


def count(messages: Sequence[Message], tools: tuple[ToolSchema, ...]) -> int:
    return sum(1 + len(message.text) // 4 for message in messages) + 10 * len(tools)


def name_of(started: Started) -> str:
    intent: Any = started.intent
    name: str | None = getattr(intent, "call", None) or getattr(intent, "recall", None)
    return name or f"{intent.hook} {intent.subject}"


@dataclass
class Troupe:
    """One run and at most one worker on it. `in_flight` holds what the worker is performing, by name."""

    definition: TaskDefinition
    workflow: Workflow
    history: list[Recorded] = field(default_factory=list)
    state: RunState = field(init=False)
    now: datetime = BEGAN_AT
    generation: int = 0
    readings: Readings | None = None
    in_flight: dict[str, Started] = field(default_factory=dict)
    again: set[str] = field(default_factory=set)
    is_draining: bool = False
    decided_at: datetime = BEGAN_AT

    def __post_init__(self) -> None:
        started = RunStarted(
            thread_id="t-1",
            user_id="ann",
            input="What is there?",
            definition=self.definition,
            tools=TOOLS,
            secret="s",
            today="2026-01-01",
        )
        self.history = [Recorded(1, self.now, started)]
        self.state = read_all(RUN_ID, self.history, count).state

    @property
    def is_claimed(self) -> bool:
        return self.readings is not None

    @property
    def is_at_its_end(self) -> bool:
        """Has the run ended for good, and was it given back?"""
        return self.state.state in (State.COMPLETED, State.CANCELLED) and not self.is_claimed

    def claim(self) -> None:
        """A worker takes the run up, with nothing but its journal."""
        self.generation += 1
        self.readings = read_all(RUN_ID, self.history, count)
        assert not self.readings.divergences
        assert self.readings.state == self.state
        self.is_draining = False
        self.advance([RunClaimed(self.generation, "worker")])

    def crash(self) -> None:
        """The worker is gone with everything it was performing."""
        self.readings = None
        self.in_flight.clear()

    def advance(self, events: list[Any]) -> None:
        """Commit events and whatever is due after them, begin the calls of it, and give the run back when it rests."""
        while self.readings is not None:
            drafter, draft = Drafter(self.readings, self.workflow), Draft()
            self.decided_at = self.now
            for event in events:
                drafter.place(draft, event, self.now)
            if not self.is_draining:
                drafter.settle(draft, self.now)
            for recorded in draft.recorded:
                self._commit(recorded)
            for started in draft.started:
                assert name_of(started) not in self.in_flight, f"{name_of(started)} runs twice at once"
                self.in_flight[name_of(started)] = started
            if self.state.wants_cancel is not None or self.state.state in (State.COMPLETED, State.CANCELLED):
                self.in_flight.clear()
            if not draft.recorded:
                break
            events = []
        self._give_back()

    def signal(self, event: AnyEvent) -> None:
        """Somebody appends a wish; the worker, if there is one, hears of it."""
        recorded = Recorded(self.state.position + 1, self.now, event)
        self._commit(recorded)
        if isinstance(event, Answered) and event.text == RUN_AGAIN:
            self.again.add(event.question)
        if self.readings is None:
            return
        self.readings.fold(recorded)
        if self.state.wants_cancel is not None:
            self.in_flight.clear()
        self.advance([])

    def finish(self, name: str, events: list[Any]) -> None:
        """A call the worker performed came to something."""
        del self.in_flight[name]
        self.advance(events)

    def wait_until(self, moment: datetime) -> None:
        self.now = max(self.now, moment) + timedelta(seconds=0.001)
        self.advance([])

    def told(self, last: int = 40) -> str:
        """The newest events, a line each, for whoever has to find out what went wrong."""
        return "\n".join(f"{one.position:4} {str(one.event)[:160]}" for one in self.history[-last:])

    def _give_back(self) -> None:
        if self.readings is None or self.in_flight:
            return
        rest = rest_of(self.state, self.decided_at, self.now, is_draining=self.is_draining)
        if rest is None:
            return
        assert rest.reason != "nothing to do", (
            f"given back at {self.state.state} with nothing that would wake it"
        )
        assert rest.due_at is None or rest.due_at > self.now or self.is_draining, (
            "it would be claimed again at once, for ever"
        )
        released = Recorded(self.state.position + 1, self.now, RunReleased(rest.reason))
        self._commit(released)
        self.readings = None

    def _commit(self, recorded: Recorded) -> None:
        before = self.state
        self.state = apply(before, recorded)
        self.history.append(recorded)
        assert recorded.position == before.position + 1 == self.state.position
        check_step(before, recorded, self.state)
        self._check_intent(before, recorded)

    def _check_intent(self, before: RunState, recorded: Recorded) -> None:
        event = recorded.event
        kind = type(event).__name__
        if kind in ("ModelRequested", "ToolRequested", "HookRequested", "RecallRequested"):
            assert before.is_working, f"{kind} in {before.state}"
            assert not before.wants_pause, f"{kind} though a pause was asked for"
            assert before.wants_cancel is None, f"{kind} though a cancel was asked for"
        if isinstance(event, ModelRequested):
            branch = before.branches[event.branch]
            assert branch.recall is None, "a model spoke before memory had answered"
            assert before.counters.steps < before.limits.max_steps
        if isinstance(event, ToolRequested):
            self._check_call(before, event)
        if isinstance(event, ToolAnswered) and event.by == "engine" and event.call in before.calls:
            call = before.calls[event.call]
            is_asking = any(one.call == event.call for one in before.questions.values())
            is_begun = call.generation is not None and not is_asking
            is_lost = is_begun and before.tools[call.call.name].effect is Effect.ONCE
            assert not is_lost or call.is_unsettled, (
                "an interrupted once call was closed as if nothing had happened"
            )

    def _check_call(self, before: RunState, event: ToolRequested) -> None:
        call = before.calls[event.call]
        assert call.branch in before.branches
        assert len(in_flight(self.state)) <= before.definition.max_concurrent_tools
        groups = [before.tools[one.call.name].exclusive_group for one in in_flight(self.state)]
        assert groups.count("g") <= 1
        if call.attempt and before.tools[call.call.name].effect is Effect.ONCE:
            assert f"q-{event.call}-{call.attempt}" in self.again, (
                f"{event.call} was repeated without a person"
            )
        assert event.attempt == call.attempt + 1


def check_step(before: RunState, recorded: Recorded, after: RunState) -> None:
    """What holds of every event in every run."""
    check_transition(before, recorded.event, after)
    old, new = before.counters, after.counters
    assert new.steps >= old.steps
    assert new.tokens >= old.tokens
    assert new.cost_usd >= old.cost_usd
    assert new.replans >= old.replans
    assert new.working_seconds >= old.working_seconds
    assert all(new.tool_calls.get(name, 0) >= number for name, number in old.tool_calls.items())
    assert (after.back_to in WORKING) if after.state in REMEMBERING else after.back_to is None
    assert all(len(branch.window) <= after.definition.loop.window for branch in after.branches.values())
    for branch in after.branches.values():
        assert all(name in after.calls for name in branch.open_calls)
        assert branch.model_call is None or branch.model_call in after.model_calls
    if isinstance(recorded.event, ToolUnsettled):
        assert recorded.event.call not in after.calls or after.calls[recorded.event.call].is_unsettled


def check_transition(before: RunState, event: AnyEvent, after: RunState) -> None:
    if not isinstance(event, StateEntered):
        assert after.state is before.state, f"{type(event).__name__} changed the state"
        return
    assert event.source is before.state
    assert after.state is event.target
    assert may_follow(before.state, after.state)
    if before.state in REMEMBERING and after.state in WORKING:
        assert after.state is before.back_to
    if after.state is State.COMPLETED:
        assert after.outcome in ("full", "partial")


def is_over(state: RunState) -> bool:
    return state.state in ENDED


Luck = Callable[[str, int], int]
"""A number from 0 up to (not including) the second argument; the first says what for."""
