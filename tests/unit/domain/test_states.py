"""The table of states and transitions."""

import pytest

from outlast.domain.states import ENDED, HELD, TRANSITIONS, WORKING, State, may_follow, table_as_markdown
from tests.law import law


@law("RUN-1.a")
def test_the_nine_states_are_named_as_they_are_pinned() -> None:
    assert " ".join(State) == "INIT PLANNING EXECUTING REVIEWING WAITING PAUSED COMPLETED FAILED CANCELLED"


@law("RUN-1.b")
@pytest.mark.parametrize("state", sorted(WORKING))
def test_every_working_state_can_be_held_failed_and_cancelled(state: State) -> None:
    assert HELD | {State.FAILED, State.CANCELLED} <= TRANSITIONS[state]


@law("RUN-1.b")
def test_what_is_completed_or_cancelled_stays_so_and_what_failed_can_go_on() -> None:
    assert TRANSITIONS[State.COMPLETED] == TRANSITIONS[State.CANCELLED] == frozenset()
    assert TRANSITIONS[State.FAILED] == WORKING
    assert {State.COMPLETED, State.FAILED, State.CANCELLED} == ENDED


def test_no_run_skips_its_work() -> None:
    assert not may_follow(State.INIT, State.COMPLETED)
    assert not may_follow(State.INIT, State.REVIEWING)


def test_the_table_is_drawn_with_every_state() -> None:
    drawn = table_as_markdown().splitlines()[2:]
    assert [line.split("`")[1] for line in drawn] == list(State)
    assert drawn[-3].endswith("| the end |")
