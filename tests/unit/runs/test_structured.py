"""Structured answers: the one value that fits, or a mistake the model can correct."""

import time
from typing import Any

import jsonschema_rs
import pytest
from hypothesis import given
from hypothesis import strategies as st

from outlast.adapters.providers.repair import repair_json
from outlast.domain.door import Json
from outlast.domain.errors import ModelMistake
from outlast.runs.structured import Structured, read_structured, without_reasoning
from tests.law import law


def an_object(**properties: Any) -> dict[str, Any]:
    return {
        "type": "object",
        "properties": properties,
        "required": list(properties),
        "additionalProperties": False,
    }


TEXT, NUMBER = {"type": "string"}, {"type": "integer"}
VERDICT, ANSWER, COMMAND = an_object(verdict=TEXT), an_object(answer=NUMBER), an_object(cmd=TEXT)


def read(text: str, schema: dict[str, Any], *, repairs: bool = True) -> Structured:
    validator = jsonschema_rs.validator_for(schema)

    def validate(value: Json) -> list[str]:
        return [error.message for error in validator.iter_errors(value)]

    return read_structured(text, schema, validate=validate, repair=repair_json if repairs else None)


def refused(text: str, schema: dict[str, Any], code: str = "invalid_answer") -> str:
    with pytest.raises(ModelMistake) as caught:
        read(text, schema)
    assert caught.value.code == code
    assert caught.value.next_step
    assert len(caught.value.detail) < 2000
    return caught.value.detail


@law("MODEL-4.a")
def test_a_strict_answer_is_taken_as_it_is() -> None:
    assert read(' {"answer": 42}\n', ANSWER) == Structured({"answer": 42})


def test_g01_01_comment_fence_and_surplus_brace_give_one_object_marked_as_repaired() -> None:
    found = read('// verdict below\n```json\n{"verdict":"pass"}\n}\n```', VERDICT)
    assert (found.value, found.repaired) == ({"verdict": "pass"}, True)
    assert found.note


def test_g01_02_prose_in_front_never_reaches_heuristics() -> None:
    note = "x\n y z, owner: x\n ... x y (z), owner: \n x"
    text = 'Sure, here it is:\n{"rows":[{"note":"x\\n y z, owner: x\\n ... x y (z), owner: \\n x","n":3}]}'
    schema = an_object(rows={"type": "array", "items": an_object(note=TEXT, n=NUMBER)})
    assert read(text, schema).value == {"rows": [{"note": note, "n": 3}]}


@pytest.mark.parametrize(
    "text",
    [
        '<think>try {"answer": 0}, no, {"answer": 41}</think>\n{"answer": 42}',
        'maybe {"answer": 0}.</think>\n{"answer": 42}',
        '<think>a <think> b </think> c {"answer": 0}</think>{"answer": 42}',
        'draft {"answer": 0} <think>a</think> b</think> {"answer": 42}',
        '{"answer": 42}\n<thinking>was {"answer": 0} better',
        '<THINK>```json\n{"answer": 0}\n```</THINK>```json\n{"answer": 42}\n```',
    ],
)
def test_g01_04_reasoning_is_never_read_as_the_answer(text: str) -> None:
    assert read(text, ANSWER).value == {"answer": 42}


def test_g01_04_an_answer_that_is_all_reasoning_is_none() -> None:
    refused('<think>so {"answer": 42}', ANSWER)
    refused('so {"answer": 42}</think> I cannot say.', ANSWER)


def test_a_tag_inside_a_string_of_a_strict_answer_stays() -> None:
    text = '{"verdict": "write </think> and then {}"}'
    assert read(text, VERDICT).value == {"verdict": "write </think> and then {}"}


def test_g01_07_a_block_labelled_json_wins_over_other_blocks() -> None:
    text = '```bash\necho {"cmd":"nope"}\n```\nResult:\n```json\n{"cmd":"ls"}\n```'
    assert read(text, COMMAND).value == {"cmd": "ls"}


def test_g01_07_the_value_that_fits_wins_over_one_that_does_not() -> None:
    assert read('From {"file": "a"} I get {"cmd": "ls"}.', COMMAND).value == {"cmd": "ls"}
    assert read('As in [1], {"cmd": "ls"} {"cmd": "ls"}', COMMAND).value == {"cmd": "ls"}


@pytest.mark.parametrize(
    "text", ['{"cmd": "ls"} or {"cmd": "rm"}', '```json\n{"cmd":"ls"}\n```\n```json\n{"cmd":"rm"}\n```']
)
def test_g01_07_two_different_values_that_fit_are_an_ambiguity(text: str) -> None:
    assert "2 different values" in refused(text, COMMAND, "ambiguous_answer")


def test_g01_09_long_ids_are_exact_and_giants_are_a_mistake() -> None:
    assert read('{"answer": 7305811920034550123}', ANSWER).value == {"answer": 7305811920034550123}
    refused('{"answer": ' + "9" * 5000 + "}", ANSWER)


@pytest.mark.parametrize("number", ["NaN", "Infinity", "-Infinity"])
def test_g01_10_numbers_that_are_no_json_are_a_mistake(number: str) -> None:
    refused(f'{{"answer": {number}}}', ANSWER)


def test_g01_12_strings_are_decoded_only_where_the_schema_wants_what_they_hold() -> None:
    schema = an_object(edits={"type": "array", "items": {"$ref": "#/$defs/edit"}}, note=TEXT)
    schema["$defs"] = {"edit": an_object(old=TEXT, new=TEXT)}
    text = '{"edits":"[{\\"old\\":\\"a\\",\\"new\\":\\"b\\"}]","note":"[1, 2]"}'
    found = read(text, schema)
    assert (found.value, found.repaired) == ({"edits": [{"old": "a", "new": "b"}], "note": "[1, 2]"}, True)
    assert "edits" not in str(read('{"edits":[],"note":"{}"}', schema).note)
    refused('{"edits":"{}","note":"x"}', schema)


@pytest.mark.parametrize(
    "text", ['{"a":' + "[" * 100_000 + "]" * 100_000 + "}", "[" * 100_000, '{"a":' * 50_000]
)
def test_g01_13_deep_nesting_is_a_mistake_soon(text: str) -> None:
    started = time.process_time()
    refused(text, ANSWER)
    refused("Here: " + text, ANSWER)
    assert time.process_time() - started < 5


@law("MODEL-4.b")
@pytest.mark.parametrize(
    "text",
    [
        "{'verdict': 'pass',}",
        '{verdict: "pass"}',
        'So: {"verdict": "pass"',
        '```json\n{"verdict": "pass",}\n```',
        "{'verdict': 'pa\\u0073s'} and more, see {1",
    ],
)
def test_what_is_broken_is_repaired_and_says_so(text: str) -> None:
    found = read(text, VERDICT)
    assert (found.value, found.repaired) == ({"verdict": "pass"}, True)
    assert "repaired" in found.note
    with pytest.raises(ModelMistake):
        read(text, VERDICT, repairs=False)


def test_only_what_is_broken_is_repaired() -> None:
    assert read("{\"file\": \"a\"} gives {'verdict': 'pass'}", VERDICT).value == {"verdict": "pass"}
    refused('So: {"verdict": 7}', VERDICT)


@law("MODEL-4.b")
@pytest.mark.parametrize(
    "text",
    [
        '{"verdict": "pass", "verdict": "fail"}',
        '{"verdict" "pass"}',
        '{"verdict": }',
        "verdict: pass",
        '{"verdict": "pass" "why": "x"}',
        '{"verdict": "pass" /* or fail */}',
        '{"verdict": "pass", "why"}',
    ],
)
def test_a_repair_that_would_lose_or_invent_is_a_mistake(text: str) -> None:
    refused(text, VERDICT)


@law("MODEL-4.b")
def test_a_repair_that_loses_something_is_not_believed() -> None:
    def careless(text: str) -> Json:
        return {"verdict": "pass"}

    with pytest.raises(ModelMistake):
        read_structured("{verdict: 'not pass'}", VERDICT, validate=lambda value: [], repair=careless)


def test_valid_json_that_does_not_fit_is_told_field_by_field_and_not_searched() -> None:
    assert "is not of type" in refused('{"answer": "{\\"answer\\": 42}"}', ANSWER)
    refused('[{"answer": 42}]', ANSWER)


def test_many_problems_are_told_in_few_words() -> None:
    schema = {"type": "array", "items": NUMBER}
    detail = refused(str(["x" * 5000] * 50).replace("'", '"'), schema)
    assert "and 45 more" in detail


@pytest.mark.parametrize("text", ["", " ", "I cannot.", "```json\n```", "null", "42", '"{}"'])
def test_an_answer_without_a_fitting_value_is_a_mistake(text: str) -> None:
    refused(text, ANSWER)


@given(st.text(st.sampled_from('{}[]"\\:,<>/think`json 1a\n')))
def test_no_answer_makes_reading_fail_otherwise(text: str) -> None:
    without_reasoning(text)
    try:
        found = read(text, ANSWER)
    except ModelMistake:
        return
    assert isinstance(found.value, dict)


def test_a_megabyte_of_brackets_and_quotes_is_read_soon() -> None:
    started = time.process_time()
    for text in (
        "{" * 200_000,
        '"\\"' * 200_000,
        "<think>" * 100_000,
        "```json" * 100_000,
        '{"' + '\\"' * 300_000,
    ):
        refused(text, ANSWER)
    assert time.process_time() - started < 20
