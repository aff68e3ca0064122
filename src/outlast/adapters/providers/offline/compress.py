"""Notes of earlier steps: what was called, the sentences of each result that say most, and the notes there were."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from outlast.adapters.providers.offline.asked import Asked
from outlast.adapters.providers.offline.chat import central
from outlast.adapters.providers.offline.evidence import payloads_of
from outlast.adapters.providers.offline.json_texts import objects_in, parse_loosely, text_field
from outlast.adapters.providers.offline.pages import Page, page_from_cut, page_in
from outlast.adapters.providers.offline.ranking import Question, candidates_of, ranked, spread
from outlast.domain.door import Json
from outlast.ports.provider import ModelRequest

_FACTS_OF_A_PAGE: Final = 3
_MOST_DECISIONS: Final = 40
_MOST_FACTS: Final = 30
_DECISION_CHARACTERS: Final = 160


def notes_for(request: ModelRequest, asked: Asked) -> dict[str, Json]:
    """`{"goal", "decisions", "facts", "open_questions"}` of the steps the newest message holds; facts are quoted word for word."""
    steps = list(_steps(request))
    before = _notes_before(steps)
    question = Question.of(_goal(request, asked))
    decisions = [*_listed(before, "decisions"), *_decisions(steps)][-_MOST_DECISIONS:]
    facts = [*_listed(before, "facts"), *_facts(steps, question)][-_MOST_FACTS:]
    return {
        "goal": _goal(request, asked),
        "decisions": decisions,
        "facts": facts,
        "open_questions": _listed(before, "open_questions"),
    }


def _goal(request: ModelRequest, asked: Asked) -> str:
    said = " ".join("\n".join(asked.said.trusted).partition("\n\n")[0].split())
    return said.removeprefix("REQUEST: ")[:300] or asked.question[:300]


def _steps(request: ModelRequest) -> Iterator[dict[str, object]]:
    for message in request.messages:
        for payload in payloads_of(message):
            value = parse_loosely(payload)
            listed = value.get("steps") if isinstance(value, dict) else None
            yield from (step for step in listed or () if isinstance(step, dict))


def _notes_before(steps: list[dict[str, object]]) -> dict[str, Json]:
    notes = next((text_field(step, "notes so far") for step in reversed(steps) if "notes so far" in step), "")
    value = parse_loosely(notes) if notes else None
    return value if isinstance(value, dict) else {}


def _listed(value: dict[str, Json], name: str) -> list[Json]:
    found = value.get(name)
    return list(found) if isinstance(found, list) else []


def _decisions(steps: list[dict[str, object]]) -> list[Json]:
    made: list[Json] = []
    for step in steps:
        calls = step.get("calls")
        made += [str(call)[:_DECISION_CHARACTERS] for call in calls] if isinstance(calls, list) else []
        said = " ".join(text_field(step, "said").split())
        made += [said[:_DECISION_CHARACTERS]] if said else []
    return made


def _facts(steps: list[dict[str, object]], question: Question) -> list[Json]:
    facts: list[Json] = []
    for step in steps:
        result = text_field(step, "result")
        pages = _pages(result)
        if pages:
            facts += _of_pages(pages, question)
        elif result.strip():
            facts += [
                {"claim": claim, "sources": []} for claim in central([result], 1) or [result.strip()[:200]]
            ]
    return facts


def _of_pages(pages: list[Page], question: Question) -> list[Json]:
    """What a page says on the question, quoted with its key; where it says nothing on it, its most central sentence."""
    chosen = spread(ranked(question, candidates_of(pages)), _FACTS_OF_A_PAGE)
    found: list[Json] = []
    for one in chosen:
        sentence, page = one.candidate.sentence, one.candidate.page
        found.append({"claim": sentence.claim, "sources": [page.source], "quote": sentence.quote})
    return found or [
        {"claim": text, "sources": [page.source]} for page in pages for text in central([page.text], 1)
    ]


def _pages(result: str) -> list[Page]:
    value = parse_loosely(result)
    if value is None:
        page = page_from_cut(result)
        return [page] if page is not None else []
    return [page for entry in objects_in(value) if (page := page_in(entry)) is not None]
