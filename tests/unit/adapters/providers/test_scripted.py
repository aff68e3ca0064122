"""The scripted provider: which entry answers, what it says, and that a restarted process goes on rightly."""

from pathlib import Path

import pytest

from outlast.domain.errors import CallerMistake, ModelCallFailed
from outlast.domain.message import Message, Usage
from outlast.ports.provider import Delta, ModelAnswer, ModelRequest
from outlast.testing import ScriptedProvider
from tests.law import law
from tests.unit.adapters.providers.asking import a_request, as_message, ask

LOOK_TWICE = [
    {"when": {"purpose": "execute"}, "call": {"tool": "look", "arguments": {"page": 1}}},
    {"when": {"purpose": "execute"}, "call": {"tool": "look", "arguments": {"page": 2}}},
    {"when": {"purpose": "execute"}, "say": "done"},
    {"when": {"purpose": "conclude"}, "say": {"claims": ["市场"]}},
]


@law("MODEL-3.a")
async def test_entries_answer_in_order_though_every_call_meets_a_new_process() -> None:
    messages: list[Message | str] = ["Look at both pages"]
    said = []
    for _ in range(3):
        answer = await ask(ScriptedProvider(LOOK_TWICE), a_request(*messages, purpose="execute"))
        said.append((answer.text, [call.arguments for call in answer.tool_calls], answer.finish))
        messages.append(as_message(answer))
    assert said == [
        ("", [{"page": 1}], "tool_calls"),
        ("", [{"page": 2}], "tool_calls"),
        ("done", [], "stop"),
    ]
    answer = await ask(ScriptedProvider(LOOK_TWICE), a_request(*messages, purpose="conclude"))
    assert answer.text == '{"claims":["市场"]}'


async def test_another_conversation_starts_from_the_first_entry() -> None:
    provider = ScriptedProvider(LOOK_TWICE)
    first, second = [await ask(provider, a_request(text, purpose="execute")) for text in ("one", "two")]
    assert first.tool_calls == second.tool_calls


async def test_an_entry_counts_as_spent_though_defaults_were_filled_into_its_arguments() -> None:
    answer = await ask(ScriptedProvider(LOOK_TWICE), a_request("go", purpose="execute"))
    filled = as_message(answer).tool_calls[0]
    filled.arguments["depth"] = 5
    again = a_request("go", Message("assistant", "", (filled,)), purpose="execute")
    assert (await ask(ScriptedProvider(LOOK_TWICE), again)).tool_calls[0].arguments == {"page": 2}


async def test_the_first_entry_whose_conditions_all_hold_answers() -> None:
    provider = ScriptedProvider(
        [
            {"when": {"purpose": "plan", "role": "planner"}, "say": "plan"},
            {"when": {"purpose": ["review", "final_review"]}, "say": "review"},
            {"when": {"contains": ["alpha", "beta"]}, "say": "both"},
            {"when": {"turn": 1}, "say": "second turn"},
            {"say": "otherwise"},
        ]
    )
    assert (await ask(provider, a_request("x", purpose="plan", role="planner"))).text == "plan"
    assert (await ask(provider, a_request("x", purpose="plan"))).text == "otherwise"
    assert (await ask(provider, a_request("x", purpose="final_review"))).text == "review"
    assert (await ask(provider, a_request("say alpha", "then beta"))).text == "both"
    assert (await ask(provider, a_request("alpha"))).text == "otherwise"
    assert (await ask(provider, a_request("x", Message("assistant", "y"), "z"))).text == "second turn"


async def test_a_repeating_entry_answers_for_ever() -> None:
    provider = ScriptedProvider([{"say": "yes", "repeat": True}])
    messages: list[Message | str] = ["go"]
    for _ in range(3):
        answer = await ask(provider, a_request(*messages))
        assert answer.text == "yes"
        messages.append(as_message(answer))


async def test_a_call_without_an_entry_says_which_and_what_is_spent() -> None:
    request = a_request("go", Message("assistant", "hi"), "and now?", purpose="chat", call_id="run-1/7")
    with pytest.raises(ModelCallFailed) as caught:
        await ask(ScriptedProvider([{"when": {"purpose": "plan"}, "say": "p"}, {"say": "hi"}]), request)
    assert (caught.value.code, caught.value.fault) == ("script_exhausted", "bad_request")
    for part in ("run-1/7", "purpose chat", "turn 1", "and now?", "Entry 2 would fit, but is spent"):
        assert part in caught.value.detail
    assert "repeat: true" in caught.value.next_step


async def test_a_failing_entry_fails_a_call_once_and_the_retry_goes_on() -> None:
    provider = ScriptedProvider(
        [{"fail": {"fault": "rate_limit", "retry_after_seconds": 2}}, {"fail": "auth"}, {"say": "ok"}]
    )
    with pytest.raises(ModelCallFailed) as first:
        await ask(provider, a_request("go"))
    assert (first.value.fault, first.value.retry_after_seconds) == ("rate_limit", 2)
    with pytest.raises(ModelCallFailed) as second:
        await ask(provider, a_request("go"))
    assert second.value.code == "model_auth"
    assert (await ask(provider, a_request("go"))).text == "ok"


async def test_a_failing_entry_that_repeats_never_lets_the_call_through() -> None:
    provider = ScriptedProvider([{"fail": {"fault": "overload"}, "repeat": True}, {"say": "never"}])
    for _ in range(3):
        with pytest.raises(ModelCallFailed):
            await ask(provider, a_request("go"))


async def test_arguments_given_as_text_are_what_the_model_sent() -> None:
    script = [{"call": [{"tool": "write", "arguments": '{"path": "a', "id": "c9"}]}]
    (call,) = (await ask(ScriptedProvider(script), a_request("go"))).tool_calls
    assert (call.id, call.arguments, call.raw) == ("c9", {}, '{"path": "a')
    assert call.problem


async def test_usage_is_the_scripts_or_an_estimate_that_says_so() -> None:
    stated = ScriptedProvider(
        [{"say": "x", "usage": {"input_tokens": 7, "output_tokens": 2, "cost_usd": 0.5}}]
    )
    assert (await ask(stated, a_request("go"))).usage == Usage(7, 2, 0.5)
    assert (await ask(ScriptedProvider([{"say": "x"}]), a_request("go"))).usage.is_estimate


async def test_text_comes_in_several_pieces() -> None:
    pieces: list[Delta] = []
    await ScriptedProvider([{"say": "one two three four"}]).answer(a_request("go"), pieces.append)
    assert len(pieces) == 4


async def test_a_function_answers_sync_or_async() -> None:
    def plain(request: ModelRequest) -> ModelAnswer:
        return ModelAnswer(text=request.purpose)

    async def waiting(request: ModelRequest) -> ModelAnswer:
        return ModelAnswer(text=request.role)

    assert (await ask(ScriptedProvider(plain), a_request("go"))).text == "chat"
    assert (await ask(ScriptedProvider(waiting), a_request("go"))).text == "executor"


def test_a_script_that_is_not_there_is_told_plainly(tmp_path: Path) -> None:
    with pytest.raises(
        CallerMistake, match=r"none\.yaml cannot be read: No such file or directory\."
    ) as refused:
        ScriptedProvider.from_file(tmp_path / "none.yaml")
    assert refused.value.code == "invalid_script"


async def test_a_script_file_answers(tmp_path: Path) -> None:
    path = tmp_path / "script.yaml"
    path.write_text("- when: {purpose: chat}\n  say: {date: '2026-01-01'}\n", encoding="utf-8")
    assert (await ask(ScriptedProvider.from_file(path), a_request("go"))).text == '{"date":"2026-01-01"}'


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("say: hi", "not a list"),
        ("[]", "not a list"),
        ("- [", "cannot be read as YAML"),
        ("- {say: a}\n- {sey: b}", "entry 2: sey: Extra inputs are not permitted"),
        ("- {when: {purpose: x}}", "either fails, or says or calls"),
        ("- {say: a, fail: auth}", "either fails, or says or calls"),
        ("- {fail: {fault: nonsense}}", "fail.fault"),
        ("- {call: [{arguments: {}}]}", "call.0.tool"),
        ("- {say: a, usage: {input_tokens: -1}}", "usage.input_tokens"),
        ("- {say: {at: 2026-01-01}}", "date does not come back from JSON"),
        ("- {say: a, delay_seconds: .inf}", "delay_seconds"),
        ("- just text", "entry 1"),
    ],
)
def test_a_wrong_script_is_refused_with_file_entry_and_key(tmp_path: Path, text: str, problem: str) -> None:
    path = tmp_path / "script.yaml"
    path.write_text(text, encoding="utf-8")
    with pytest.raises(CallerMistake) as caught:
        ScriptedProvider.from_file(path)
    assert caught.value.code == "invalid_script"
    assert str(path) in caught.value.detail
    assert problem in caught.value.detail


def test_a_missing_script_file_is_named(tmp_path: Path) -> None:
    with pytest.raises(CallerMistake, match=r"gone\.yaml"):
        ScriptedProvider.from_file(tmp_path / "gone.yaml")
