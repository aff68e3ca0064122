"""How the context of a model call is printed."""

from typing import Any

from outlast.cli.contexts import context_lines

PART = {"seq": 4, "kind": "request", "why": "because", "tokens": 1200, "speaker": "user", "text": "one\ntwo"}


def context(**more: Any) -> dict[str, Any]:
    return {
        "run_id": "r-1",
        "seq": 7,
        "call": "m7",
        "branch": "main",
        "role": "chat",
        "model": "m",
        "purpose": "chat",
        "is_as_recorded": True,
        "digest": "aa",
        "recorded_digest": "aa",
        "max_tokens": 24_000,
        "used_tokens": {"system": 100, "summary": 0, "recent": 1200},
        "tools": ["look"],
        "parts": [PART],
        **more,
    }


def test_a_context_tells_its_budget_and_why_each_part_is_in() -> None:
    assert list(context_lines(context())) == [
        "r-1 at 7: chat asks m to chat in main",
        "digest aa, as it was recorded when the model was asked",
        "budget 24,000 tokens, used about 1,300: system 100 + recent 1,200",
        "tools: look",
        "",
        "--- user, event 4, 1,200 tokens: request, because",
        "one\ntwo",
    ]


def test_a_context_that_is_not_as_recorded_says_so() -> None:
    told = "\n".join(context_lines(context(is_as_recorded=False, recorded_digest="bb")))
    assert "digest aa DIFFERS from the recorded bb" in told


def test_calls_and_their_results_name_each_other() -> None:
    asked = {
        **PART,
        "speaker": "assistant",
        "text": "",
        "tool_calls": [{"id": "c1", "name": "look", "arguments": {"at": 1}}],
    }
    found = {**PART, "speaker": "tool", "text": "seen", "tool_call_id": "c1", "tool_name": "look"}
    told = "\n".join(context_lines(context(parts=[{**asked, "reasoning": "hm"}, found])))
    assert '(reasoning) hm\n-> look {"at": 1} (c1)' in told
    assert "seen\n<- look (c1)" in told
