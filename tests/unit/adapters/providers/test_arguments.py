"""Arguments as models send them become objects that are safe to keep, or a named problem."""

import json

import pytest

from outlast.adapters.providers.arguments import read_call


@pytest.mark.parametrize("sent", ["", "  \n", None, "null", {}, "{}"])
def test_g02_06_nothing_sent_means_no_arguments(sent: object) -> None:
    call = read_call("c1", "now", sent)
    assert (call.arguments, call.problem, call.raw) == ({}, None, None)


def test_g02_06_a_real_object_is_taken_as_it_is() -> None:
    assert read_call("c1", "weather", {"city": "Rome"}).arguments == {"city": "Rome"}


@pytest.mark.parametrize("sent", ['"abc"', "[1]", "7", "false", [1], [], 0, False])
def test_g02_06_a_scalar_or_list_is_a_problem_that_keeps_what_was_sent(sent: object) -> None:
    call = read_call("c1", "weather", sent)
    assert call.arguments == {}
    assert call.problem is not None
    assert call.raw == (sent if isinstance(sent, str) else json.dumps(sent))


def test_g03_05_broken_arguments_never_reach_the_conversation() -> None:
    call = read_call("c1", "read", '{"path": "a')
    assert (call.arguments, call.raw) == ({}, '{"path": "a')
    assert call.problem is not None


def test_g01_09_long_ids_stay_exact_and_giants_are_a_problem() -> None:
    assert read_call("", "order", '{"order_id": 7305811920034550123}').arguments == {
        "order_id": 7305811920034550123
    }
    giant = read_call("", "order", '{"n": ' + "9" * 5000 + "}")
    assert giant.problem is not None
    assert "5000 digits" in giant.problem


@pytest.mark.parametrize("number", ["NaN", "Infinity", "-Infinity", "1e999"])
def test_g01_10_numbers_that_are_no_json_are_a_problem(number: str) -> None:
    call = read_call("", "set", f'{{"limit": {number}}}')
    assert (call.arguments, call.problem is None) == ({}, False)


def test_g01_13_deep_nesting_is_a_problem_not_a_crash() -> None:
    call = read_call("", "set", '{"a":' + "[" * 100_000 + "]" * 100_000 + "}")
    assert call.problem is not None


def test_lone_surrogates_are_replaced_at_every_depth() -> None:
    call = read_call("", "set", '{"a": ["x\\ud800y", {"b": "\\udfff"}]}')
    assert call.arguments == {"a": ["x\ufffdy", {"b": "\ufffd"}]}
