"""Plans: sub-questions that differ, in the words and the language of the question, and other ones after a rejection."""

import json
from typing import Any

import pytest

from tests.law import law
from tests.unit.adapters.providers.offline.conversation import fenced, told


async def questions(question: str, more: str = "") -> list[str]:
    plan = await told(
        "plan", f"Make a plan.\nQUESTION: {question}\n{more}", response_schema={"type": "object"}
    )
    return [entry["question"] for entry in plan["subtasks"]]


@law("MODEL-2.d")
@pytest.mark.parametrize(
    ("question", "named"),
    [
        ("What are the cost and reliability of solar panels?", ["cost of solar", "reliability of solar"]),
        ("Compare Redis and PostgreSQL", ["about Redis", "about PostgreSQL", "between Redis and PostgreSQL"]),
        (
            "Compare the cost and safety of trains and cars",
            ["the cost of trains and cars", "the safety of trains and cars", "between trains and cars"],
        ),
        (
            "PostgreSQL vs Redis for durable queues",
            ["about PostgreSQL", "about Redis with regard to durable"],
        ),
        ("Which is better, Redis or PostgreSQL?", ["about Redis", "about PostgreSQL"]),
        (
            "How do leases work, and when should they be used?",
            ["How do leases work?", "When should they be used (leases work)?"],
        ),
        (
            "Write a report on durability: leases, fencing and journals",
            ["the leases", "the fencing", "the journals"],
        ),
        ("外卖平台的成本、可靠性和趋势是什么？", ["外卖平台的成本", "外卖平台的可靠性", "外卖平台的趋势"]),
        (
            "请比较Redis和PostgreSQL在成本和可靠性方面的差异",
            ["Redis和PostgreSQL的成本", "Redis和PostgreSQL的可靠性"],
        ),
        (
            "How do lagoons compare with wind on cost and reliability?",
            [
                "the cost of lagoons and wind",
                "the reliability of lagoons and wind",
                "between lagoons and wind",
            ],
        ),
        (
            "潟湖与风电在成本和可靠性上如何比较？",
            ["潟湖和风电的成本", "潟湖和风电的可靠性", "潟湖和风电有哪些差异"],
        ),
        ("电动车和燃油车有什么区别？", ["关于电动车", "关于燃油车"]),
        ("量子计算如何影响密码学，以及企业应该怎么准备？", ["量子计算如何影响密码学", "企业应该怎么准备"]),
    ],
)
async def test_each_aspect_and_each_side_gets_its_own_question(question: str, named: list[str]) -> None:
    planned = await questions(question)
    for place, words in enumerate(named):
        assert words in planned[place]
    assert 3 <= len(planned) <= 8
    assert len(set(planned)) == len(planned)


@law("MODEL-2.d")
@pytest.mark.parametrize(
    ("question", "gaps"), [("What is a lease?", "contradict one another"), ("什么是租约？", "有哪些矛盾")]
)
async def test_the_last_subtask_asks_for_contradictions_and_waits_for_the_others(
    question: str, gaps: str
) -> None:
    plan = await told("plan", f"QUESTION: {question}")
    last = plan["subtasks"][-1]
    assert gaps in last["question"]
    assert last["depends_on"] == [entry["id"] for entry in plan["subtasks"][:-1]]
    assert [entry["depends_on"] for entry in plan["subtasks"][:-1]] == [[], ["s1"]]


async def test_the_newest_message_with_a_question_counts() -> None:
    planned = await told("plan", "QUESTION: What is old?", "QUESTION: What is new?")
    assert planned["subtasks"][0]["question"] == "What is new?"


async def test_a_rejected_plan_is_replaced_by_another_that_takes_up_the_reasons() -> None:
    first = await told("plan", "QUESTION: What is a lease?")
    more = f"\nREJECTED PLAN:\n{fenced(first, 'planner')}\n\nREASONS:\n- The clock skew between machines is missing.\n"
    second = await told("plan", f"QUESTION: What is a lease?\n{more}")
    assert second != first
    assert "clock skew between machines" in second["subtasks"][0]["question"]
    assert 3 <= len(second["subtasks"]) <= 8


@pytest.mark.parametrize("reasons", ["", "REASONS:\n- too shallow\n"])
async def test_a_plan_is_never_equal_to_the_one_that_was_rejected(reasons: str) -> None:
    rejected: Any = await told("plan", "QUESTION: leases")
    for _ in range(2):
        more = f"REJECTED PLAN:\n{json.dumps(rejected)}\n\n{reasons}"
        plan = await told("plan", f"QUESTION: leases\n\n{more}")
        assert [entry["question"] for entry in plan["subtasks"]] != [
            entry["question"] for entry in rejected["subtasks"]
        ]
        rejected = plan


async def test_a_plan_refused_inside_the_fence_of_a_reviewer_is_replaced() -> None:
    first = await questions("leases")
    refused = "\n".join(f"- s{at}: {question}" for at, question in enumerate(first, 1))
    material = f"REJECTED PLAN:\n{refused}\n\nREASONS:\n- none given"
    second = await questions("leases", "\nThe plan was refused.\n\n" + fenced(material, "reviewer"))
    assert not set(second[:-1]) <= set(first)
    assert not any("none given" in question for question in second)


async def test_a_question_in_another_language_is_quoted_and_kept() -> None:
    planned = await questions("Wie funktionieren Leases in verteilten Systemen?")
    assert planned[0] == "Wie funktionieren Leases in verteilten Systemen?"
    assert "“Wie funktionieren Leases in verteilten Systemen”" in planned[1]
