"""Damaged JSON: what comes of it is what was meant, or a mistake that goes back to the model; never something else in silence."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from outlast.domain.door import Json
from outlast.domain.errors import ModelMistake
from outlast.wiring.build import read_form
from tests.law import law

FORM: dict[str, Json] = {
    "type": "object",
    "properties": {
        "word": {"type": "string"},
        "count": {"type": "integer"},
        "parts": {"type": "array", "items": {"type": "string"}},
        "deep": {"type": "object", "properties": {"is_good": {"type": "boolean"}}, "required": ["is_good"]},
    },
    "required": ["word", "count", "parts", "deep"],
    "additionalProperties": False,
}

WORDS = st.text(
    st.characters(codec="utf-8", exclude_characters="\x7f", exclude_categories=("Cc", "Cs")), max_size=12
)
MEANT = st.fixed_dictionaries(
    {
        "word": WORDS,
        "count": st.integers(-(10**12), 10**12),
        "parts": st.lists(WORDS, max_size=3),
        "deep": st.fixed_dictionaries({"is_good": st.booleans()}),
    }
)


def read(text: str) -> Json | None:
    """The value that is read, or None where it is a mistake."""
    try:
        return read_form(text, FORM).value
    except ModelMistake:
        return None


@law("MODEL-4.b")
@given(MEANT, st.data())
def test_what_was_cut_off_is_never_completed_to_something_else(
    meant: dict[str, Any], data: st.DataObject
) -> None:
    text = json.dumps(meant, ensure_ascii=data.draw(st.booleans()))
    cut = text[: data.draw(st.integers(0, len(text)))]
    assert read(cut) in (None, meant)


@law("MODEL-4.b")
@given(MEANT, st.data())
def test_what_stands_around_an_answer_changes_nothing(meant: dict[str, Any], data: st.DataObject) -> None:
    text = json.dumps(meant, ensure_ascii=False, indent=data.draw(st.sampled_from([None, 2])))
    around = data.draw(
        st.sampled_from(
            [
                "{}",
                "```json\n{}\n```",
                "Here it is:\n```\n{}\n```\nAsk me more.",
                "\ufeff{}\n",
                "<think>x</think>{}",
            ]
        )
    )
    assert read(around.replace("{}", text, 1)) in (None, meant)


@law("MODEL-4.b")
@given(MEANT, st.data())
def test_slips_of_the_pen_are_mended_or_told(meant: dict[str, Any], data: st.DataObject) -> None:
    text = json.dumps(meant, ensure_ascii=False)
    slip = data.draw(st.sampled_from(["comma in the end", "comment", "twice", "python", "no quotes on keys"]))
    match slip:
        case "comma in the end":
            text = text[:-1] + ",}"
        case "comment":
            text = text[:-1] + " // done\n}"
        case "twice":
            text = f"{text}\n{text}"
        case "python":
            text = text.replace(": true", ": True").replace(": false", ": False")
        case "no quotes on keys":
            text = text.replace('"count":', "count:", 1)
    assert read(text) in (None, meant)


@pytest.mark.parametrize("word", ['"[', '",', "\\", "a\nb", "it's", '{"x": 1}', "], }"])
def test_a_mended_answer_holds_every_string_as_it_stood(word: str) -> None:
    meant = {"word": word, "count": 1, "parts": [word], "deep": {"is_good": True}}
    assert read(json.dumps(meant)[:-1] + ", }") in (None, meant)
