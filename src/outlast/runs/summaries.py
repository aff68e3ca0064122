"""Summaries of contexts: read from a model's answer, or drawn from the lines themselves without one; bounded either way."""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from dataclasses import replace
from typing import Final

from outlast.domain.context_summary import ContextSummary, SummaryFact
from outlast.domain.door import Json, canonical_json
from outlast.domain.message import Message
from outlast.runs.forms import text_in, texts_in
from outlast.runs.lines import Kind, Line, TokenCount
from outlast.runs.masks import artifacts_in, body_of

MOST_ITEMS: Final = 60
"""How many decisions, facts or questions a summary has at most, each."""

MOST_ARTIFACTS: Final = 20
_ITEM_CHARACTERS: Final = 600
_GOAL_CHARACTERS: Final = 400
DRAWN_CHARACTERS: Final = (200, 100, 50)
"""How much is drawn from each line, the first that fits."""

_SOURCE: Final = re.compile(r"\bs-[0-9a-f]{10}\b")
_SPACE: Final = re.compile(r"\s+")


def summary_in(value: Json) -> ContextSummary:
    """The summary a model's answer holds, every part cut to its bound."""
    listed = value.get("facts") if isinstance(value, dict) else None
    facts = [_fact(item) for item in listed] if isinstance(listed, list) else []
    return ContextSummary(
        goal=text_in(value, "goal").strip()[:_GOAL_CHARACTERS],
        decisions=_items(texts_in(value, "decisions")),
        facts=tuple(fact for fact in facts if fact.claim)[-MOST_ITEMS:],
        open_questions=_items(texts_in(value, "open_questions")),
        artifacts=tuple(text[:80] for text in texts_in(value, "artifacts") if text.strip())[-MOST_ARTIFACTS:],
    )


def is_empty(summary: ContextSummary) -> bool:
    """Does a summary say nothing of what happened?"""
    return not (summary.decisions or summary.facts or summary.open_questions)


def items_in(summary: ContextSummary) -> int:
    """How many notes a summary holds of what happened."""
    return len(summary.decisions) + len(summary.facts) + len(summary.open_questions)


def drawn_summary(
    lines: Sequence[Line], earlier: ContextSummary | None, request: str, characters: int
) -> ContextSummary:
    """A summary made without a model: what was called and said, how each result begins, and the notes there were.

    `characters` is how much is drawn from each line.
    """
    before = earlier or ContextSummary()
    decisions = [
        _told(line, characters) for line in lines if line.kind in (Kind.SPOKEN, Kind.EARLIER, Kind.TOLD)
    ]
    facts = [_observed(line, characters) for line in lines if line.kind in (Kind.OBSERVED, Kind.RECALLED)]
    return ContextSummary(
        goal=before.goal or _short(request, _GOAL_CHARACTERS),
        decisions=(*before.decisions, *[told for told in decisions if told])[-MOST_ITEMS:],
        facts=(*before.facts, *[fact for fact in facts if fact.claim])[-MOST_ITEMS:],
        open_questions=before.open_questions,
        artifacts=before.artifacts,
    )


def with_artifacts(
    summary: ContextSummary, lines: Sequence[Line], earlier: ContextSummary | None
) -> ContextSummary:
    """A summary that names every stored result the lines named, whatever a model left out; the newest, up to a bound."""
    found = [digest for line in lines for digest in artifacts_in((line.whole or line.message).text)]
    known = dict.fromkeys([*(earlier.artifacts if earlier else ()), *summary.artifacts, *found])
    return replace(summary, artifacts=tuple(known)[-MOST_ARTIFACTS:])


def bounded_summary(summary: ContextSummary, most_tokens: int, count: TokenCount) -> ContextSummary:
    """A summary of at most `most_tokens`, as estimated: the oldest decisions and facts go first, then questions, then the rest.

    What waits for a person is left out last of all.
    """
    while tokens_of(summary, count) > most_tokens:
        shorter = _shorter(summary)
        if shorter == summary:
            return summary
        summary = shorter
    return summary


def tokens_of(summary: ContextSummary, count: TokenCount) -> int:
    """What a summary takes, as estimated."""
    return count((Message("user", summary_as_text(summary)),), ())


def summary_as_text(summary: ContextSummary) -> str:
    """A summary as a model sees it: one JSON object without its empty parts."""
    facts: list[Json] = [
        {key: value for key, value in _plain(fact).items() if value not in ("", [])} for fact in summary.facts
    ]
    parts: dict[str, Json] = {
        "goal": summary.goal,
        "pending": list(summary.pending),
        "decisions": list(summary.decisions),
        "facts": facts,
        "open_questions": list(summary.open_questions),
        "artifacts": list(summary.artifacts),
    }
    return json.dumps({key: value for key, value in parts.items() if value}, ensure_ascii=False)


def _plain(fact: SummaryFact) -> dict[str, Json]:
    return {"claim": fact.claim, "sources": list(fact.sources), "quote": fact.quote}


def _shorter(summary: ContextSummary) -> ContextSummary:
    """A summary without an eighth of its longest list, the oldest of it, or with less of what is left."""
    decisions, facts = summary.decisions, summary.facts
    if decisions and (len(facts) <= 1 or _length(list(decisions)) >= _length([*map(_plain, facts)])):
        return replace(summary, decisions=decisions[_share(decisions) :])
    if len(facts) > 1:
        return replace(summary, facts=facts[_share(facts) :])
    if summary.open_questions:
        return replace(summary, open_questions=summary.open_questions[_share(summary.open_questions) :])
    if summary.artifacts:
        return replace(summary, artifacts=summary.artifacts[_share(summary.artifacts) :])
    if summary.facts or summary.goal:
        return replace(summary, facts=(), goal="")
    return replace(summary, pending=summary.pending[1:])


def _share(items: Sequence[object]) -> int:
    return max(1, len(items) // 8)


def _length(items: Sequence[object]) -> int:
    return len(json.dumps(items, ensure_ascii=False))


def _fact(item: Json) -> SummaryFact:
    quote = text_in(item, "quote").strip()
    return SummaryFact(
        text_in(item, "claim").strip()[:_ITEM_CHARACTERS],
        tuple(key[:80] for key in texts_in(item, "sources"))[:8],
        quote if len(quote) <= _ITEM_CHARACTERS else "",
    )


def _items(texts: Sequence[str]) -> tuple[str, ...]:
    return tuple(text.strip()[:_ITEM_CHARACTERS] for text in texts if text.strip())[-MOST_ITEMS:]


def _told(line: Line, characters: int) -> str:
    said = _short(line.message.text, characters)
    calls = "; ".join(
        _short(f"{call.name} {canonical_json(call.arguments)}", characters)
        for call in line.message.tool_calls
    )
    return " -> ".join(part for part in (said, calls) if part)


def _observed(line: Line, characters: int) -> SummaryFact:
    whole = (line.whole or line.message).text
    body = body_of(whole)
    sources = tuple(dict.fromkeys(_SOURCE.findall(body)))[:4]
    name = f"{line.message.tool_name}: " if line.message.tool_name else ""
    return SummaryFact(name + _short(body, characters), sources) if body.strip() else SummaryFact("")


def _short(text: str, characters: int) -> str:
    plain = _SPACE.sub(" ", text).strip()
    return plain if len(plain) <= characters else plain[: characters - 1] + "…"
