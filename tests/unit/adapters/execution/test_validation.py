"""Arguments are completed, then checked; what is wrong is told field by field."""

import socket
from collections.abc import Mapping
from types import SimpleNamespace
from typing import Any, cast

import pytest
from hypothesis import given
from hypothesis import strategies as st

from outlast.adapters.execution.validation import check_arguments, check_output, compiled
from outlast.domain.errors import CallerMistake
from outlast.domain.tool_call import ToolError
from outlast.ports.tool import Tool
from tests.law import law

SUMMARIZE = {
    "type": "object",
    "properties": {"text": {"type": "string"}, "max_points": {"type": "integer", "default": 5}},
    "required": ["text"],
}


def tool_with(schema: Mapping[str, Any], output: Mapping[str, Any] | None = None) -> Tool:
    return cast(Tool, SimpleNamespace(name="tried", input_schema=schema, output_schema=output))


def checked(schema: Mapping[str, Any], arguments: dict[str, Any]) -> Any:
    return check_arguments(tool_with(schema), arguments)


def problems(schema: Mapping[str, Any], arguments: dict[str, Any]) -> tuple[str, ...]:
    error = checked(schema, arguments)
    assert isinstance(error, ToolError)
    assert error.code == "invalid_arguments"
    assert error.example is not None
    assert checked(schema, error.example) == error.example
    return error.problems


@law("TOOL-2.a")
def test_defaults_are_filled_and_the_arguments_left_alone() -> None:
    given_arguments = {"text": "t"}
    assert checked(SUMMARIZE, given_arguments) == {"text": "t", "max_points": 5}
    assert given_arguments == {"text": "t"}


def test_defaults_are_filled_at_every_depth_also_through_references() -> None:
    schema = {
        "type": "object",
        "$defs": {
            "node": {
                "type": "object",
                "properties": {
                    "size": {"type": "integer", "default": 1},
                    "next": {"anyOf": [{"$ref": "#/$defs/node"}, {"type": "null"}]},
                },
            }
        },
        "properties": {
            "one": {"$ref": "#/$defs/node"},
            "many": {"type": "array", "items": {"$ref": "#/$defs/node"}},
            "named": {"type": "object", "additionalProperties": {"$ref": "#/$defs/node"}},
            "whole": {"type": "object", "properties": {"a": {"default": 2}}, "default": {}},
        },
        "allOf": [{"properties": {"tone": {"type": "string", "default": "plain"}}}],
    }
    filled = checked(schema, {"one": {"next": {"next": None}}, "many": [{}], "named": {"x": {}}})
    assert filled == {
        "one": {"size": 1, "next": {"size": 1, "next": None}},
        "many": [{"size": 1}],
        "named": {"x": {"size": 1}},
        "whole": {"a": 2},
        "tone": "plain",
    }


def test_a_default_is_never_shared_between_calls() -> None:
    schema = {"type": "object", "properties": {"tags": {"type": "array", "default": []}}}
    checked(schema, {})["tags"].append("x")
    assert checked(schema, {}) == {"tags": []}


EDITS = {
    "type": "object",
    "properties": {
        "edits": {
            "type": "array",
            "items": {
                "type": "object",
                "properties": {"old": {"type": "string"}, "new": {"type": "string"}},
                "required": ["old", "new"],
            },
        },
        "note": {"type": "string"},
        "count": {"type": "integer"},
    },
    "required": ["edits"],
    "additionalProperties": False,
}


def test_g01_12_json_inside_a_string_is_decoded_only_where_a_container_is_wanted() -> None:
    filled = checked(EDITS, {"edits": '[{"old":"a","new":"b"}]', "note": "[1, 2]"})
    assert filled == {"edits": [{"old": "a", "new": "b"}], "note": "[1, 2]"}


def test_g01_12_string_of_another_type_is_refused_with_advice() -> None:
    assert problems(EDITS, {"edits": '{"old":"a"}'}) == (
        'edits: expected an array, got "{\\"old\\":\\"a\\"}"; send JSON directly, not inside a string',
    )
    (broken,) = problems(EDITS, {"edits": '[{"old"'})
    assert broken.endswith("send JSON directly, not inside a string")
    assert problems(EDITS, {"edits": [], "count": "[1]"}) == ('count: expected an integer, got "[1]"',)


@law("TOOL-2.d")
def test_every_problem_names_its_field_what_was_expected_and_what_came() -> None:
    schema = {
        "type": "object",
        "properties": {
            "limit": {"type": "integer", "minimum": 1, "maximum": 20},
            "mode": {"enum": ["fast", "deep"]},
            "query": {"type": "string", "minLength": 1},
            "deep": {
                "anyOf": [
                    {"type": "object", "properties": {"k": {"type": "number"}}, "required": ["k"]},
                    {"type": "null"},
                ]
            },
        },
        "required": ["query"],
        "additionalProperties": False,
    }
    assert set(problems(schema, {"limit": 50, "mode": "q", "deep": {"k": "x"}, "extra": [1]})) == {
        'deep.k: expected a number, got "x"',
        "limit: expected an integer at least 1, at most 20, got 50",
        'mode: expected one of "fast", "deep", got "q"',
        "extra: expected no such field (there are: limit, mode, query, deep), got [1]",
        "query: expected a text at least 1 characters long (required), got nothing",
    }


def test_flood_of_problems_is_cut() -> None:
    schema = {"type": "object", "properties": {"n": {"type": "array", "items": {"type": "integer"}}}}
    listed = problems(schema, {"n": ["x" * 1000] * 500})
    assert len(listed) == 11
    assert all(len(line) < 300 for line in listed)


def test_reference_out_of_the_document_is_refused_and_never_fetched() -> None:
    with socket.create_server(("127.0.0.1", 0)) as server:
        server.settimeout(0.2)
        url = f"http://127.0.0.1:{server.getsockname()[1]}/schema.json"
        with pytest.raises(CallerMistake, match="is outside the schema and is not fetched") as caught:
            compiled({"type": "object", "properties": {"a": {"$ref": url}}})
        assert caught.value.code == "invalid_tool_schema"
        with pytest.raises(TimeoutError):
            server.accept()


@pytest.mark.parametrize("schema", [{"type": "objekt"}, {"properties": 3}, {"pattern": "("}])
def test_what_is_no_schema_is_refused(schema: dict[str, Any]) -> None:
    with pytest.raises(CallerMistake, match="no JSON Schema"):
        compiled(schema)


def test_schema_is_compiled_once() -> None:
    assert compiled(SUMMARIZE) is compiled(SUMMARIZE)


@law("TOOL-2.b")
def test_output_is_checked_against_its_schema() -> None:
    output = {"type": "object", "properties": {"words": {"type": "integer"}}, "required": ["words"]}
    tool = tool_with(SUMMARIZE, output)
    assert check_output(tool, {"words": 3}) == []
    assert check_output(tool, {"words": "3"}) == ['words: expected an integer, got "3"']
    assert check_output(tool, None) == ["the arguments: expected an object, got null"]
    assert check_output(tool_with(SUMMARIZE), object()) == []


texts = st.text(alphabet='ab[]{}":1, é', max_size=12)
json_values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | texts,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(texts, inner, max_size=3),
    max_leaves=8,
)


@given(st.dictionaries(st.sampled_from(["edits", "note", "count", "other"]), json_values))
def test_any_arguments_are_either_filled_or_explained(arguments: dict[str, Any]) -> None:
    answer = checked(EDITS, arguments)
    assert isinstance(answer, dict) or (isinstance(answer, ToolError) and answer.problems)
