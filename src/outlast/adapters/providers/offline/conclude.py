"""Conclusions: sentences quoted word for word from the pages read, and contradictions between them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from outlast.adapters.providers.offline.asked import Asked
from outlast.adapters.providers.offline.contradictions import Statement, contradictions_in
from outlast.adapters.providers.offline.evidence import Evidence, Finding, payloads_of
from outlast.adapters.providers.offline.facets import GAPS
from outlast.adapters.providers.offline.json_texts import objects_in, parse_loosely, text_field
from outlast.adapters.providers.offline.pages import Page
from outlast.adapters.providers.offline.ranking import (
    Question,
    Scored,
    candidates_of,
    is_alike,
    ranked,
    spread,
)
from outlast.adapters.providers.offline.topic import topic_of
from outlast.adapters.providers.offline.words import similarity, terms_of
from outlast.domain.door import Json
from outlast.domain.message import Message

MOST_CLAIMS: Final = 5
_MOST_DISAGREEMENTS: Final = 3
_COMPARED: Final = 60
_CORROBORATING: Final = 0.4


def conclusions_for(asked: Asked, evidence: Evidence, messages: Sequence[Message]) -> dict[str, Json]:
    """`{"conclusions": [...], "open_questions": [...]}` for the sub-question; each quote is word for word in its page."""
    candidates = candidates_of(evidence.citable or _pages_given(messages))
    question = Question.of(asked.sub_question, asked.question)
    scored = ranked(question, candidates)
    known = [frozenset(terms_of(finding.claim)) for finding in evidence.findings]
    sides = topic_of(asked.question).sides
    limit = _MOST_DISAGREEMENTS if GAPS in question.own_facets else 1
    pairs = _disagreements(
        ranked(question.plain, candidates), evidence.findings, limit, sides, question.focus
    )
    conclusions = [_named(asked, one, other) for one, other in pairs]
    conclusions = [entry for entry in conclusions if not _is_known(str(entry["claim"]), known)]
    told = {statement.quote for pair in pairs for statement in pair}
    untold = [one for one in scored if one.candidate.sentence.quote not in told]
    fresh = [one for one in untold if not any(is_alike(one.candidate.terms, terms) for terms in known)]
    for one in spread(fresh or untold, MOST_CLAIMS - len(conclusions)):
        conclusions.append(_quoted(one, scored))
    missing = asked.phrases.no_gaps if GAPS in question.own_facets else asked.phrases.not_found
    open_questions: list[Json] = [] if conclusions else [missing.format(question=asked.sub_question)]
    return {"conclusions": list[Json](conclusions), "open_questions": open_questions}


def has_answer(asked: Asked, evidence: Evidence) -> bool:
    """Does what was found hold anything that answers the sub-question?"""
    return bool(ranked(Question.of(asked.sub_question, asked.question), candidates_of(evidence.citable)))


def _is_known(claim: str, known: Sequence[frozenset[str]]) -> bool:
    terms = frozenset(terms_of(claim))
    return any(is_alike(terms, other) for other in known)


def _quoted(one: Scored, scored: Sequence[Scored]) -> dict[str, Json]:
    page, sentence = one.candidate.page, one.candidate.sentence
    return {
        "claim": sentence.claim,
        "sources": [page.source],
        "quote": sentence.quote,
        "confidence": _confidence(one, scored),
    }


def _confidence(one: Scored, scored: Sequence[Scored]) -> float:
    """Grows with the share of the question that is covered and with a second source that says alike."""
    page = one.candidate.page
    is_shared = any(
        other.candidate.page.source != page.source
        and similarity(one.candidate.terms, other.candidate.terms) >= _CORROBORATING
        for other in scored[:_COMPARED]
    )
    confidence = min(0.8, 0.3 + 0.4 * one.coverage + (0.1 if is_shared else 0.0))
    return round(min(confidence, 0.4) if page.is_snippet else confidence, 2)


def _named(asked: Asked, one: Statement, other: Statement) -> dict[str, Json]:
    said = [statement.text.rstrip(" .。") for statement in (one, other)]
    return {
        "claim": asked.phrases.disagree.format(one=said[0], other=said[1]),
        "sources": [one.source, other.source],
        "quote": one.quote,
        "confidence": 0.4,
    }


def _disagreements(
    scored: Sequence[Scored],
    found: Sequence[Finding],
    limit: int,
    sides: Sequence[str],
    focus: frozenset[str],
) -> list[tuple[Statement, Statement]]:
    """Pairs that disagree about what is asked; the first of each was read here, so that its quote can be checked."""
    close = [one for one in scored[:_COMPARED] if not focus or focus & one.candidate.terms]
    read = [
        Statement(one.candidate.sentence.claim, one.candidate.page.source, one.candidate.sentence.quote)
        for one in close
    ]
    earlier = [
        Statement(finding.claim, finding.sources[0], finding.quote)
        for finding in found
        if len(finding.sources) == 1
    ]
    pairs = contradictions_in([*read, *earlier], limit + len(earlier), sides)
    return [pair for pair in pairs if pair[0] in read][:limit]


def _pages_given(messages: Sequence[Message]) -> list[Page]:
    """Texts with a key that were handed over without any tool."""
    return [
        Page(
            text_field(entry, "source"),
            text_field(entry, "url"),
            text_field(entry, "title"),
            text_field(entry, "text"),
        )
        for message in messages
        if message.speaker == "user"
        for payload in payloads_of(message)
        for entry in objects_in(parse_loosely(payload))
        if text_field(entry, "source") and text_field(entry, "text")
    ]
