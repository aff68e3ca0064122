"""Notes of the model's own earlier steps, and going on from them."""

import json
from typing import Any

from outlast.adapters.providers.offline.evidence import OWN_NOTES
from outlast.domain.ids import source_key
from tests.unit.adapters.providers.offline.conversation import (
    FETCH,
    SEARCH,
    answered,
    fenced,
    page,
    subtask,
    told,
)

COSTS = page(
    "http://a", "Solar panels cost two dollars per watt in 2024. Birds sing in spring. Buy now.", "Costs"
)
STEPS: list[dict[str, Any]] = [
    {"at": 5, "said": "", "calls": ['web_search {"query": "cost of solar panels"}']},
    {"at": 7, "tool": "web_search", "result": json.dumps({"results": []})},
    {"at": 9, "said": "I read on.", "calls": ['web_fetch {"url": "http://a"}']},
    {"at": 11, "tool": "web_fetch", "result": json.dumps(COSTS)},
    {"at": 13, "tool": "note", "result": "The note was taken by the clerk of the court."},
]


def asked(steps: list[dict[str, Any]]) -> str:
    return f"REQUEST: What is the cost of solar panels?\n\nWrite the notes.\n\n{fenced({'steps': steps}, 'the earlier steps')}"


async def test_notes_hold_what_was_called_and_quotes_with_their_sources() -> None:
    notes = await told("compress", asked(STEPS))
    assert notes["goal"] == "What is the cost of solar panels?"
    assert notes["decisions"][0] == 'web_search {"query": "cost of solar panels"}'
    assert "I read on." in notes["decisions"]
    quoted = [fact for fact in notes["facts"] if fact["sources"] == [source_key("http://a")]]
    assert quoted[0]["quote"] == "Solar panels cost two dollars per watt in 2024."
    assert any("clerk of the court" in fact["claim"] for fact in notes["facts"])


async def test_notes_go_on_from_the_notes_there_were() -> None:
    first = await told("compress", asked(STEPS))
    later = [{"at": 20, "notes so far": json.dumps(first)}, {"at": 30, "said": "Done with a.", "calls": []}]
    notes = await told("compress", asked(later))
    assert notes["facts"] == first["facts"]
    assert notes["decisions"][-1] == "Done with a."


async def test_a_result_that_was_cut_is_not_quoted_at_its_seam() -> None:
    text = (
        "Solar panels cost two dollars per watt. They are made "
        "[... left out ...]"
        " of sand and cost nothing at all."
    )
    cut = json.dumps(page("http://a", "X" * 10)).replace(
        "X" * 10, text.replace("[... left out ...]", "\n[... left out ...]\n")
    )
    notes = await told("compress", asked([{"at": 11, "tool": "web_fetch", "result": cut}]))
    quotes = [fact.get("quote", "") for fact in notes["facts"]]
    assert "Solar panels cost two dollars per watt." in quotes
    assert not any("sand" in quote or "made" in quote for quote in quotes)


async def test_what_was_read_before_a_folding_is_still_concluded_and_not_asked_for_again() -> None:
    notes = await told("compress", asked(STEPS))
    summary = fenced(notes, OWN_NOTES)
    question = "What is the cost of solar panels?"
    concluded = await told("conclude", subtask(question, question, f"\n{summary}"))
    assert concluded["conclusions"][0]["sources"] == [source_key("http://a")]
    assert concluded["conclusions"][0]["quote"] == "Solar panels cost two dollars per watt in 2024."
    more = await answered("execute", subtask(question, question, f"\n{summary}"), tools=(SEARCH, FETCH))
    assert not any(call.arguments.get("query") == "cost of solar panels" for call in more.tool_calls)
    assert not any(call.arguments.get("url") == "http://a" for call in more.tool_calls)
