"""A function's hints become the schema of its arguments."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from enum import Enum
from typing import Annotated, Any, Literal, NotRequired, Optional, TypedDict

import jsonschema_rs
import pytest

from outlast.adapters.execution.docstring import argument_docs, summary_of
from outlast.adapters.execution.revive import plain_json, revivable, revive_arguments
from outlast.adapters.execution.schema_from_hints import context_parameter, input_schema_of
from outlast.domain.errors import CallerMistake
from outlast.ports.tool import ToolContext
from tests.law import law


class Colour(Enum):
    RED = "red"
    BLUE = "blue"


@dataclass
class Point:
    x: float
    y: float = 0.0
    tags: list[str] = field(default_factory=list)


class Options(TypedDict):
    depth: int
    colour: NotRequired[Colour]


def everything(
    text: str,
    count: int,
    ratio: float,
    flag: bool,
    anything: Any,
    names: list[str],
    table: dict[str, int],
    bare: list,
    sequence: Sequence[int],
    mapping: Mapping[str, str],
    mode: Literal["fast", "deep"],
    colour: Colour,
    point: Point,
    options: Options,
    mixed: int | str,
    described: Annotated[str, "What it is"],
    context: ToolContext,
    maybe: Optional[int] = None,  # noqa: UP045 - the old spelling is in use
    implicit: list[int] = None,  # noqa: RUF013 - so is this
    favourite: Colour = Colour.BLUE,
    limit: int = 5,
) -> None: ...


def test_every_hint_has_its_schema() -> None:
    schema = input_schema_of(everything)
    jsonschema_rs.validator_for(schema)
    point = {
        "type": "object",
        "properties": {
            "x": {"type": "number"},
            "y": {"type": "number", "default": 0.0},
            "tags": {"type": "array", "items": {"type": "string"}, "default": []},
        },
        "required": ["x"],
        "additionalProperties": False,
    }
    options = {
        "type": "object",
        "properties": {"depth": {"type": "integer"}, "colour": {"enum": ["red", "blue"]}},
        "required": ["depth"],
        "additionalProperties": False,
    }
    assert schema["properties"] == {
        "text": {"type": "string"},
        "count": {"type": "integer"},
        "ratio": {"type": "number"},
        "flag": {"type": "boolean"},
        "anything": {},
        "names": {"type": "array", "items": {"type": "string"}},
        "table": {"type": "object", "additionalProperties": {"type": "integer"}},
        "bare": {"type": "array"},
        "sequence": {"type": "array", "items": {"type": "integer"}},
        "mapping": {"type": "object", "additionalProperties": {"type": "string"}},
        "mode": {"enum": ["fast", "deep"]},
        "colour": {"enum": ["red", "blue"]},
        "point": point,
        "options": options,
        "mixed": {"type": ["integer", "string"]},
        "described": {"type": "string", "description": "What it is"},
        "maybe": {"type": ["integer", "null"], "default": None},
        "implicit": {
            "anyOf": [{"type": "array", "items": {"type": "integer"}}, {"type": "null"}],
            "default": None,
        },
        "favourite": {"enum": ["red", "blue"], "default": "blue"},
        "limit": {"type": "integer", "default": 5},
    }
    assert "maybe" not in schema["required"]
    assert schema["additionalProperties"] is False
    assert context_parameter(everything) == "context"


def test_arguments_come_back_as_the_hints_promise() -> None:
    given = {
        "point": {"x": 1, "tags": ["a"]},
        "options": {"depth": 1, "colour": "red"},
        "favourite": "red",
        "mixed": "7",
        "maybe": None,
        "names": ["a"],
    }
    made = revive_arguments(revivable(everything), given)
    assert made == {
        "point": Point(1, tags=["a"]),
        "options": {"depth": 1, "colour": Colour.RED},
        "favourite": Colour.RED,
        "mixed": "7",
        "maybe": None,
        "names": ["a"],
    }


def test_return_values_become_plain() -> None:
    value = {"point": Point(1.0), "colour": Colour.RED, "pair": (1, 2), "set": {3}}
    assert plain_json(value) == {
        "point": {"x": 1.0, "y": 0.0, "tags": []},
        "colour": "red",
        "pair": [1, 2],
        "set": [3],
    }


def test_docstring_gives_summary_and_arguments() -> None:
    def documented(path: str, depth: int) -> None:
        """Walk a tree
        to its leaves.

        Args:
            path (str): where to begin,
                relative
            depth: how far

        Returns:
            nothing
        """

    assert summary_of(documented) == "Walk a tree to its leaves."
    assert argument_docs(documented) == {"path": "where to begin, relative", "depth": "how far"}
    assert input_schema_of(documented)["properties"]["depth"] == {"type": "integer", "description": "how far"}


def no_hint(a): ...
def a_set(a: set[int]) -> None: ...
def number_keys(a: dict[int, str]) -> None: ...
def positional(a: int, /) -> None: ...
def many(*a: int) -> None: ...
def unresolved(a: "Nowhere") -> None: ...  # noqa: F821


@law("TOOL-1.b")
@pytest.mark.parametrize("function", [no_hint, a_set, number_keys, positional, many, unresolved])
def test_what_no_schema_can_say_is_refused(function: Callable[..., Any]) -> None:
    with pytest.raises(CallerMistake) as caught:
        input_schema_of(function)
    assert caught.value.code == "invalid_tool"
    assert caught.value.next_step


def test_keyword_arguments_leave_the_schema_open() -> None:
    def open_ended(a: int, **others: Any) -> None: ...

    assert input_schema_of(open_ended)["additionalProperties"] is True
