"""Input schemas of strangers: made into what providers accept, or refused with a reason."""

import contextlib
import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from outlast.adapters.mcp.schemas import MOST_SCHEMA_BYTES, argument_schema, result_schema

ANYTHING = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=8),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(
            st.sampled_from(["type", "properties", "required", "$ref", "anyOf", "x"]), inner, max_size=4
        )
    ),
    max_leaves=12,
)


@pytest.mark.parametrize("nothing", [None, True, {}, {"type": "null"}, {"type": "object"}])
def test_no_arguments_are_said_in_many_ways(nothing: object) -> None:
    assert argument_schema(nothing) == {"type": "object", "properties": {}}


@pytest.mark.parametrize(
    ("sent", "words"),
    [
        (False, "no object"),
        ([], "no object"),
        ({"type": "array"}, "array"),
        ({"type": ["string", "null"]}, "string or null"),
        ({"properties": []}, "properties"),
        ({"properties": {"a": float("nan")}}, "cannot be kept"),
        ({"properties": {"a": {"description": "x" * MOST_SCHEMA_BYTES}}}, "larger"),
    ],
)
def test_what_makes_no_sense_is_refused_with_a_reason(sent: object, words: str) -> None:
    with pytest.raises(ValueError, match=words):
        argument_schema(sent)


def test_everything_else_in_a_schema_is_kept() -> None:
    sent = {
        "$schema": "x",
        "type": ["object", "null"],
        "anyOf": [{"required": ["a"]}],
        "$defs": {"A": {}},
        "required": 3,
    }
    assert argument_schema(sent) == {
        "type": "object",
        "properties": {},
        "anyOf": [{"required": ["a"]}],
        "$defs": {"A": {}},
    }


@given(ANYTHING)
def test_whatever_comes_is_an_object_schema_or_refused(sent: Any) -> None:
    with contextlib.suppress(ValueError):
        schema = argument_schema(sent)
        assert (schema["type"], type(schema["properties"])) == ("object", dict)
        json.dumps(schema, allow_nan=False)
    assert result_schema(sent) is None or isinstance(result_schema(sent), dict)
