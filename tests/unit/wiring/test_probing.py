"""Trying a model: what it can do is said, and what it cannot, with what to do."""

import pytest

from outlast.adapters.providers.scripted import ScriptedProvider
from outlast.domain.errors import ModelCallFailed
from outlast.domain.message import Usage
from outlast.domain.tool_call import ToolCall
from outlast.ports.provider import ModelAnswer, ModelRequest
from outlast.wiring.probing import Trial, try_model

FITTING = '{"word": "harbour", "length": 7}'


async def tried(**by: ModelAnswer | ModelCallFailed) -> dict[str, Trial]:
    """What is found of a model that answers `plain`, `tools` and `schema` like this."""

    def answer(request: ModelRequest) -> ModelAnswer:
        kind = "tools" if request.tools else "schema" if request.response_schema else "plain"
        given = by.get(kind, _GOOD[kind])
        if isinstance(given, ModelCallFailed):
            raise given
        return given

    return {trial.what: trial async for trial in try_model(ScriptedProvider(answer), "m")}


_GOOD = {
    "plain": ModelAnswer("It is wide and salt.", usage=Usage(5, 6), model="m"),
    "tools": ModelAnswer("", (ToolCall("", "take_note", {"word": "harbour"}),)),
    "schema": ModelAnswer(FITTING),
}


async def test_a_model_that_does_everything_is_good_at_everything() -> None:
    found = await tried()
    assert [trial.verdict for trial in found.values()] == ["good"] * 3
    assert "states usage" in found["answer"].detail
    assert "pieces" in found["answer"].detail


@pytest.mark.parametrize(
    ("kind", "answer", "what", "verdict", "said"),
    [
        ("tools", ModelAnswer("Noted."), "tools", "poor", "called none"),
        (
            "tools",
            ModelAnswer("", (ToolCall("", "take_note", {"text": "x"}),)),
            "tools",
            "poor",
            "do not fit",
        ),
        (
            "tools",
            ModelAnswer("", (ToolCall("", "take_note", {}, problem="It is no object."),)),
            "tools",
            "poor",
            "no object",
        ),
        ("tools", ModelCallFailed("bad_request", "no tools here"), "tools", "bad", "no tools here"),
        ("schema", ModelAnswer("The word is harbour."), "JSON Schema", "poor", "does not fit"),
        ("schema", ModelAnswer(FITTING[:-1] + ",}"), "JSON Schema", "poor", "repaired"),
        ("schema", ModelCallFailed("bad_request", "no schema"), "JSON Schema", "bad", "no schema"),
        ("plain", ModelAnswer(" "), "answer", "bad", "nothing"),
    ],
)
async def test_what_it_cannot_do_is_said(
    kind: str, answer: ModelAnswer | ModelCallFailed, what: str, verdict: str, said: str
) -> None:
    found = (await tried(**{kind: answer}))[what]
    assert (found.verdict, said in found.detail) == (verdict, True), found


async def test_nothing_more_is_asked_of_one_that_does_not_answer() -> None:
    found = await tried(plain=ModelCallFailed("auth", "who are you?", "Set the key."))
    assert [(trial.what, trial.verdict, trial.next) for trial in found.values()] == [
        ("answer", "bad", "Set the key.")
    ]
