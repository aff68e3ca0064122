"""What counts as going round in circles."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from outlast.domain.repetition import circle_in, question_of, remembered
from outlast.domain.run import Repeat


def window_of(*calls: tuple[str, str]) -> tuple[Repeat, ...]:
    """The window after calls, each a question and its result."""
    window: tuple[Repeat, ...] = ()
    for asked, result in calls:
        window = remembered(window, "t", question_of("t", {"q": asked}), result, length=20, only_reads=False)
    return window


def first_notice(calls: list[tuple[str, str]]) -> int | None:
    """After how many calls a circle is seen."""
    return next((n for n in range(1, len(calls) + 1) if circle_in(window_of(*calls[:n]), 3)), None)


@pytest.mark.parametrize("period", range(1, 7))
def test_a_cycle_is_seen_when_its_third_round_is_whole(period: int) -> None:
    cycle = [(f"q{number}", f"r{number}") for number in range(period)]
    assert first_notice(cycle * 4) == 3 * period


def test_a_cycle_with_one_result_that_changes_is_no_circle() -> None:
    assert first_notice([(q, r) for n in range(6) for q, r in (("read", "same"), ("poll", f"{n}%"))]) is None


def test_three_of_the_same_in_a_row_are_seen_after_other_repeats() -> None:
    calls = [("a", "1"), ("b", "2"), ("b", "2"), ("a", "1"), ("a", "1")]
    assert first_notice(calls) == 5


@given(st.permutations(["a", "b", "c"] * 2))
def test_questions_asked_twice_more_in_any_order_are_seen(order: list[str]) -> None:
    assert first_notice([(q, f"result of {q}") for q in ["a", "b", "c", *order]]) is not None


@given(st.lists(st.sampled_from("abcdef"), max_size=20, unique=True))
def test_different_questions_with_different_results_are_never_a_circle(order: list[str]) -> None:
    assert first_notice([(q, f"result of {q}") for q in order]) is None
