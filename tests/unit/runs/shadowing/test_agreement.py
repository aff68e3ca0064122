"""How far two results agree: equality, and beside it what both have in common."""

import json
from typing import Any

import pytest
from hypothesis import given

from outlast.domain.events import ModelAnswered
from outlast.domain.tool_call import ToolCall, ToolError, ToolOutcome
from outlast.runs.shadowing.agreement import Agreement, of_answers, of_results, of_texts
from tests.unit.strategies import JSON, TEXTS


def result(value: object) -> ToolOutcome:
    return ToolOutcome(True, value if isinstance(value, str) else json.dumps(value))


def failed(code: str) -> ToolOutcome:
    return ToolOutcome(False, "", ToolError(code, "It failed."))


def answer(text: str = "", *calls: tuple[str, dict[str, Any]], value: object = None) -> ModelAnswered:
    asked = tuple(ToolCall(f"c{index}", name, arguments) for index, (name, arguments) in enumerate(calls))
    return ModelAnswered(call="m1", text=text, tool_calls=asked, value=value)  # type: ignore[arg-type]


HITS = {"results": [{"url": "a", "snippet": "x"}, {"url": "b", "snippet": "y"}]}
OTHERS = {
    "results": [{"url": "b", "snippet": "z"}, {"url": "c", "snippet": "y"}, {"url": "d", "snippet": "y"}]
}


@pytest.mark.parametrize(
    ("own", "other", "expected"),
    [
        ("Read  it.", "READ it.", Agreement(True, 1.0, "text")),
        ("one two three", "two three four", Agreement(False, 0.5, "text")),
        ("\u6f6e\u6c50\u53d1\u7535", "\u6f6e\u6c50", Agreement(False, 0.5, "text")),
        ({"a": 1, "b": [1]}, '{"b": [1],  "a": 1}', Agreement(True, 1.0, "list")),
        ({"a": 1}, {"a": 2}, Agreement(False, 0.0, "value")),
        (HITS, OTHERS, Agreement(False, 0.25, "list")),
        (["a", "a"], ["a"], Agreement(False, 0.5, "list")),
        ([], [], Agreement(True, 1.0, "list")),
        ({"text": "one two"}, {"text": "one three"}, Agreement(False, 1 / 3, "value")),
    ],
)
def test_results_of_tools_agree_where_they_are_equal(own: object, other: object, expected: Agreement) -> None:
    assert of_results(result(own), result(other)) == expected


def test_failures_agree_where_they_failed_of_the_same() -> None:
    assert of_results(failed("timeout"), failed("timeout")).is_equal
    assert not of_results(failed("timeout"), failed("tool_failed")).is_equal
    assert not of_results(failed("timeout"), result("x")).is_equal


def test_answers_agree_in_the_calls_they_ask_for_whatever_they_say() -> None:
    own = answer("Let me see.", ("find", {"q": "a", "n": 1}), ("page", {"url": "b"}))
    same = answer("", ("page", {"url": "b"}), ("find", {"n": 1, "q": "a"}))
    assert of_answers(own, same) == Agreement(True, 1.0, "calls")
    assert of_answers(own, answer("Done.")) == Agreement(False, 0.0, "calls")
    assert of_answers(
        own, answer("", ("page", {"url": "b"}), ("page", {"url": "b"}))
    ).overlap == pytest.approx(1 / 3)


def test_structured_answers_agree_as_values() -> None:
    own = answer("x", value={"verdict": "accept", "reasons": ["all is there"]})
    assert of_answers(own, answer("y", value={"reasons": ["all is there"], "verdict": "accept"})).is_equal
    other = of_answers(own, answer("y", value={"verdict": "revise", "reasons": ["all is lost"]}))
    assert (other.is_equal, other.measure, round(other.overlap, 2)) == (False, "value", 0.33)


@given(JSON, JSON)
def test_agreement_is_the_same_from_both_sides_and_its_overlap_a_share(own: object, other: object) -> None:
    there, back = of_results(result(own), result(other)), of_results(result(other), result(own))
    assert there == back
    assert 0 <= there.overlap <= 1
    assert of_results(result(own), result(own)) == Agreement(
        True, 1.0, of_results(result(own), result(own)).measure
    )


@given(TEXTS, TEXTS)
def test_texts_agree_from_both_sides_alike(own: str, other: str) -> None:
    assert of_texts(own, other) == of_texts(other, own)
    assert of_texts(own, own).is_equal
