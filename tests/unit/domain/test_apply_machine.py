"""`apply` over events in any order: it never raises, keeps its laws, and folding anew gives the same state.

The names that events use are few, so that they meet. Whether a run behaves well is proved by the machines of tests/unit/runs;
here nothing decides, so results come without calls, answers without questions, plans while others work.
"""

from dataclasses import replace
from datetime import datetime, timedelta
from typing import Any

import hypothesis.strategies as st
import pytest
from hypothesis import HealthCheck, given, settings

from outlast.domain.apply import apply, begin, fold
from outlast.domain.errors import Broken
from outlast.domain.events import (
    AnyEvent,
    LimitsChanged,
    ModelAnswered,
    Recorded,
    RunClaimed,
    RunStarted,
    Said,
    StateEntered,
)
from outlast.domain.run import RunState
from outlast.domain.states import ENDED, HELD, REMEMBERING, TRANSITIONS, WORKING, State, may_follow
from outlast.domain.task import TaskDefinition
from outlast.journal.snapshot import snapshot_of, state_digest, state_in
from outlast.ports.stream import SnapshotRow
from tests.law import law
from tests.unit.strategies import MOMENTS, events

MUCH = settings(max_examples=80, deadline=None, suppress_health_check=list(HealthCheck))
LIMITS: list[dict[str, Any]] = [
    {"max_steps": 5},
    {"max_tokens_total": None},
    {"max_wall_seconds": 9},
    {"nonsense": 1},
]


def started(at: datetime) -> Recorded:
    definition = TaskDefinition(name="task")
    event = RunStarted(
        thread_id="t",
        user_id="ann",
        input="go",
        definition=definition,
        tools=(),
        secret="s",
        today="2026-01-01",
    )
    return Recorded(1, at, event)


def fitting(state: RunState, event: AnyEvent, number: int) -> AnyEvent:
    """The event as a journal could hold it: transitions of the table, limits with values, calls named after their position."""
    if isinstance(event, StateEntered):
        targets = sorted(TRANSITIONS[state.state]) or [state.state]
        target = targets[number % len(targets)]
        if state.state in REMEMBERING and target in WORKING and state.back_to is not None:
            target = state.back_to
        return replace(event, source=state.state, target=target)
    if isinstance(event, LimitsChanged):
        return LimitsChanged(event.by, LIMITS[number % len(LIMITS)])
    if isinstance(event, ModelAnswered):
        named = [
            replace(call, id=f"c{state.position}-{index}") for index, call in enumerate(event.tool_calls)
        ]
        return replace(event, tool_calls=tuple(named))
    return event


@st.composite
def histories(draw: Any) -> list[Recorded]:
    """Journals of anything."""
    history = [started(draw(MOMENTS))]
    state = begin("r-1", history[0])
    for event in draw(st.lists(events(), max_size=25)):
        at = state.at + timedelta(seconds=draw(st.integers(-5, 100)))
        if isinstance(event, StateEntered) and state.state in ENDED - {State.FAILED}:
            continue
        recorded = Recorded(state.position + 1, at, fitting(state, event, draw(st.integers(0, 9))))
        history.append(recorded)
        state = apply(state, recorded)
    return history


@law("RUN-1.b", "RUN-1.e", "RUN-2.b", "RUN-6.f")
@MUCH
@given(history=histories())
def test_events_in_any_order_change_a_state_within_its_laws(history: list[Recorded]) -> None:
    state = begin("r-1", history[0])
    for recorded in history[1:]:
        before, state = state, apply(state, recorded)
        check_position(before, recorded, state)
        check_state(before, recorded.event, state)
        check_counters(before, state)


def check_position(before: RunState, recorded: Recorded, after: RunState) -> None:
    assert after.position == recorded.position == before.position + 1
    assert after.at == recorded.at
    grown = after.counters.working_seconds - before.counters.working_seconds
    stretch = (recorded.at - before.counted_at).total_seconds()
    assert 0.0 <= grown <= max(0.0, stretch) + 1e-6
    if isinstance(recorded.event, RunClaimed) or not (before.is_claimed and before.is_working):
        assert grown == 0.0, "time without a worker was counted as work"


def check_state(before: RunState, event: AnyEvent, after: RunState) -> None:
    if isinstance(event, StateEntered):
        assert may_follow(before.state, after.state)
        if before.state in REMEMBERING and after.state in WORKING:
            assert after.state is before.back_to
    else:
        assert after.state is before.state
        assert after.back_to is before.back_to
    assert (after.back_to in WORKING) if after.state in REMEMBERING else after.back_to is None
    if after.state in HELD or before.state in HELD:
        assert after.entered_position == before.entered_position or not isinstance(event, StateEntered)


def check_counters(before: RunState, after: RunState) -> None:
    old, new = before.counters, after.counters
    assert (new.steps, new.replans) >= (old.steps, old.replans)
    assert new.steps - old.steps in (0, 1)
    assert new.tokens >= old.tokens
    assert new.cost_usd >= old.cost_usd
    assert all(new.tool_calls[name] >= number for name, number in old.tool_calls.items())
    assert all(len(branch.window) <= after.definition.loop.window for branch in after.branches.values())


@law("RUN-2.b")
@MUCH
@given(history=histories())
def test_folding_anew_and_from_a_snapshot_gives_the_same_state(history: list[Recorded]) -> None:
    states = [begin("r-1", history[0])]
    for recorded in history[1:]:
        states.append(apply(states[-1], recorded))
    assert fold("r-1", history) == states[-1]
    middle = states[len(states) // 2]
    snapshot = snapshot_of(middle)
    state = state_in(SnapshotRow(snapshot.position, snapshot.fold_version, snapshot.body))
    assert state is not None
    for recorded in history[middle.position :]:
        state = apply(state, recorded)
    assert state == states[-1]
    assert state_digest(state) == state_digest(states[-1])


def test_a_journal_with_a_gap_or_without_its_beginning_is_damaged() -> None:
    first = started(datetime.fromisoformat("2026-01-01T00:00:00+00:00"))
    said = Recorded(3, first.at, Said("ann", "hi"))
    for history in ([], [said], [first, said]):
        with pytest.raises(Broken) as caught:
            fold("r-1", history)
        assert caught.value.code == "journal_damaged"
