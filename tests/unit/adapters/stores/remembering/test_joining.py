"""How words and vectors become one order."""

import pytest

from outlast.adapters.stores.remembering.joining import MOST_FOR_VECTORS, Candidate, joined, vector_weight
from outlast.adapters.stores.remembering.keywords import Holdings, Vocabulary, rarest


def order(*candidates: Candidate) -> list[int]:
    return [each.number for each in joined(candidates)]


def test_vectors_count_for_more_the_farther_the_nearest_is_from_the_crowd() -> None:
    crowd = [0.3] * 80
    weights = [vector_weight([0.3 + gap, *crowd]) for gap in (0.0, 0.1, 0.16, 0.3, 0.6)]
    assert weights == sorted(weights)
    assert weights[0] < 0.1
    assert weights[2] == pytest.approx(MOST_FOR_VECTORS / 2)
    assert MOST_FOR_VECTORS >= weights[-1] > 0.9


def test_without_vectors_words_decide() -> None:
    assert vector_weight([]) == 0.0
    assert order(Candidate(1, 2.0, None), Candidate(2, 5.0, None), Candidate(3, 0.0, None)) == [2, 1, 3]


def test_without_words_vectors_decide_however_small_their_differences() -> None:
    assert order(Candidate(1, 0.0, 0.30), Candidate(2, 0.0, 0.32), Candidate(3, 0.0, 0.31)) == [2, 3, 1]


def test_of_two_equally_near_the_one_that_holds_the_words_comes_first() -> None:
    far = [Candidate(number, 0.0, 0.1) for number in range(10, 90)]
    assert order(Candidate(1, 0.0, 0.9), Candidate(2, 3.0, 0.899), *far)[:2] == [2, 1]


def test_what_has_no_vector_yet_is_found_by_its_words() -> None:
    crowd = [Candidate(number, 0.1, 0.3 + number / 1000) for number in range(10, 90)]
    assert order(Candidate(1, 9.0, None), *crowd)[0] == 1


def test_what_no_longer_holds_comes_last_whatever_its_score() -> None:
    assert order(Candidate(1, 9.0, 0.9, is_outdated=True), Candidate(2, 0.1, 0.1)) == [2, 1]


def test_equal_candidates_come_newest_first_and_nothing_is_no_order() -> None:
    assert order(Candidate(1, 1.0, 0.5), Candidate(2, 1.0, 0.5)) == [2, 1]
    assert joined([]) == []


def test_a_rare_word_weighs_more_than_a_common_one_and_a_common_one_still_something() -> None:
    words = Vocabulary(1000, 20_000, {"rare": 2, "common": 990, "unknown": 0})
    assert words.weight({"rare": 1}, 20) > 20 * words.weight({"common": 1}, 20) > 0
    assert words.weight({"rare": 1}, 20) > words.weight({"rare": 1}, 60)
    assert words.weight({"rare": 2}, 20) > words.weight({"rare": 1}, 20)
    assert words.weight({}, 20) == 0.0
    assert Vocabulary(0, 0, {"rare": 3}).weight({"rare": 1}, 1) > 0


def test_the_rarest_terms_are_looked_for_and_at_least_one() -> None:
    assert rarest({"a": 10, "b": 0, "c": 5, "d": 90}, budget=20) == ["c", "a"]
    assert rarest({"d": 900}, budget=20) == ["d"]
    assert rarest({"b": 0}) == []


def test_counts_are_remembered_while_they_are_about_true() -> None:
    holdings = Holdings()
    holdings.learn(1, {"tide": 7}, entries=1000)
    assert holdings.known(1, ["tide", "moon"], entries=1015) == {"tide": 7}
    assert holdings.known(1, ["tide"], entries=1100) == {}
    assert holdings.known(2, ["tide"], entries=1000) == {}
