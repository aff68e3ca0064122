"""Reviewer, writer, chat, summaries and notices."""

import json
from typing import Any

import pytest

from outlast.domain.message import Message
from outlast.ports.provider import ToolSchema
from tests.law import law
from tests.unit.adapters.providers.offline.conversation import (
    FETCH,
    SEARCH,
    WRITE,
    answered,
    fenced,
    fetched,
    hit,
    page,
    searched,
    told,
    turn,
)


def conclusion(identity: str, claim: str, source: str = "s-1", confidence: float = 0.5) -> dict[str, Any]:
    subtask = identity.partition(".")[0]
    return {
        "id": identity,
        "subtask": subtask,
        "subtask_question": f"Question of {subtask}?",
        "claim": claim,
        "sources": [source],
        "quote": claim,
        "confidence": confidence,
    }


def review(conclusions: list[dict[str, Any]], number: int) -> str:
    shown = fenced({"conclusions": conclusions, "open_questions": []}, "executor")
    return f"SUBTASK QUESTION: What is the cost of solar panels?\nROUND: {number}\n\n{shown}"


@law("MODEL-2.c")
async def test_a_reviewer_accepts_a_claim_with_a_source() -> None:
    assert (await told("review", review([conclusion("s1.1", "Panels cost $2.")], 1)))["verdict"] == "accept"


async def test_a_reviewer_sends_back_what_has_no_source_once_and_says_what_to_search() -> None:
    bare = [conclusion("s1.1", "Panels are cheap.") | {"sources": []}]
    first = await told("review", review(bare, 1))
    assert first["verdict"] == "revise"
    assert "solar" in " ".join(first["reasons"])
    second = await told("review", review([], 2))
    assert second["verdict"] == "accept"
    assert "Nothing was found" in second["reasons"][0]


async def test_a_search_for_contradictions_may_find_none() -> None:
    asked = "SUBTASK QUESTION: Where do the sources contradict one another?\nROUND: 1\n" + fenced(
        {"conclusions": []}
    )
    assert (await told("review", asked))["verdict"] == "accept"


async def test_conclusions_whose_json_was_cut_still_count() -> None:
    shown = json.dumps({"conclusions": [conclusion("s1.1", "Panels cost $2.")]})[:-20]
    said = await told("review", f"SUBTASK QUESTION: cost?\nROUND: 1\n{fenced(shown)}")
    assert said["verdict"] == "accept"


CONCLUSIONS = [
    conclusion("s1.1", "Solar panels cost two dollars per watt.", "s-1", 0.7),
    conclusion("s1.2", "Panels need 3 hours of cleaning a year.", "s-2", 0.4),
    conclusion("s2.1", "Solar panels cost two dollars per watt", "s-3", 0.6),
    conclusion("s2.2", "Panels need 9 hours of cleaning a year.", "s-3", 0.4),
]


def writing(question: str, conclusions: list[dict[str, Any]], more: str = "") -> str:
    return f"QUESTION: {question}\n\n{fenced(conclusions, 'conclusions')}\n{more}"


@law("PLAN-4.d", "MODEL-2.e")
async def test_a_report_is_one_call_with_sections_claims_and_honest_limits() -> None:
    asked = writing(
        "What do solar panels cost?", CONCLUSIONS, "\nOPEN QUESTIONS:\n- What does recycling cost?\n"
    )
    answer = await answered("report", asked, tools=(WRITE,))
    [call] = answer.tool_calls
    report: Any = call.arguments
    assert call.name == "write_report"
    assert report["title"] == "What do solar panels cost"
    assert [section["heading"] for section in report["sections"]] == ["Question of s1?", "Question of s2?"]
    assert report["sections"][0]["claims"][0] == {
        "text": "Solar panels cost two dollars per watt.",
        "conclusions": ["s1.1", "s2.1"],
        "confidence": 0.7,
    }
    assert "two dollars per watt" in report["summary"]
    limits = "\n".join(report["limits"])
    assert "What does recycling cost?" in limits
    assert "3 hours" in limits
    assert "9 hours" in limits
    assert "offline extractive model" in limits


@law("PLAN-4.c", "MODEL-2.e")
async def test_a_report_is_in_the_language_of_the_question() -> None:
    answer = await answered("report", writing("太阳能板的成本是多少？", CONCLUSIONS), tools=(WRITE,))
    report: Any = answer.tool_calls[0].arguments
    assert report["summary"].startswith("关于“太阳能板的成本是多少？”")
    assert "离线摘录模型" in report["limits"][-1]


async def test_a_report_without_conclusions_says_that_nothing_was_found() -> None:
    answer = await answered("report", writing("Why?", []), tools=(WRITE,))
    report: Any = answer.tool_calls[0].arguments
    assert report["sections"] == []
    assert report["summary"].startswith("Nothing was found")
    final = await told("final_review", f"QUESTION: Why?\n{fenced(report)}")
    assert final["verdict"] == "accept"


async def test_a_report_is_handed_in_once() -> None:
    history = turn(1, ("write_report", {}, {"error": {"code": "invalid_arguments", "detail": "no"}}))
    again = await answered("report", writing("Why?", CONCLUSIONS), *history, tools=(WRITE,))
    assert not again.tool_calls


async def test_a_final_review_refuses_an_empty_report() -> None:
    said = await told("final_review", f"QUESTION: Why?\n{fenced({'title': 'x', 'sections': []})}")
    assert said["verdict"] == "revise"


@law("MODEL-2.c")
async def test_chat_searches_reads_and_quotes_with_the_place() -> None:
    asked = "What is the cost of a solar panel?"
    first = await answered("chat", asked, tools=(SEARCH, FETCH))
    assert [call.name for call in first.tool_calls] == ["web_search", "web_search"] or first.tool_calls
    read = page(
        "http://x.example/a", "A solar panel has a cost of 200 dollars. Cats sleep all day long.", "Panels"
    )
    history = [*searched("cost solar panel", hit(read["url"], "Panels")), *fetched(read)]
    last = await answered("chat", Message("user", asked), *history, tools=(SEARCH, FETCH))
    assert "- A solar panel has a cost of 200 dollars. (Panels, http://x.example/a)" in last.text
    assert "Cats" not in last.text


@law("MODEL-2.e")
@pytest.mark.parametrize(
    ("greeting", "words"), [("hello", "offline extractive model"), ("你好", "离线摘录模型")]
)
async def test_chat_says_what_it_is(greeting: str, words: str) -> None:
    assert words in (await answered("chat", greeting)).text


async def test_chat_quotes_what_was_said_before() -> None:
    earlier = Message("assistant", "The lease of a worker ends after 15 seconds of silence.")
    answer = await answered(
        "chat", Message("user", "hi"), earlier, Message("user", "When does the lease end?")
    )
    assert "15 seconds" in answer.text


async def test_a_call_written_out_by_the_person_is_made_and_its_result_shown() -> None:
    count = ToolSchema("word_count", "Count", {"type": "object"})
    asked = 'word_count {"text": "a b"}'
    answer = await answered("chat", asked, tools=(count,))
    assert [(call.name, call.arguments) for call in answer.tool_calls] == [("word_count", {"text": "a b"})]
    history = turn(1, ("word_count", {"text": "a b"}, {"words": 2}))
    assert '"words": 2' in (await answered("chat", Message("user", asked), *history, tools=(count,))).text


async def test_a_summary_is_the_most_central_sentences_in_their_order() -> None:
    text = (
        "Leases protect runs from two workers. The weather was fine on Monday morning. "
        "A lease that runs out lets another worker claim the run. Workers renew leases of runs by a heartbeat."
    )
    answer = await answered("summarize", f"Keep names and numbers. MAX POINTS: 2\n{fenced(text)}")
    points = answer.text.splitlines()
    assert len(points) == 2
    assert all(point.startswith("- ") and "weather" not in point for point in points)
    assert text.index(points[0][2:]) < text.index(points[1][2:])


@law("MODEL-2.c")
async def test_a_notice_names_the_task_and_its_state() -> None:
    told_of = {
        "id": "b1",
        "name": "render",
        "status": "completed",
        "result": "The video of the launch is ready to be seen.",
    }
    answer = await answered("notify", f"Tell the person.\n{fenced(told_of, 'task')}")
    assert "render: completed." in answer.text
    assert "The video of the launch is ready to be seen." in answer.text
