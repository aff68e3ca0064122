"""The report: one section a subtask, each claim bound to the conclusions it comes from."""

from __future__ import annotations

import math
from dataclasses import field
from typing import Final

from outlast.adapters.providers.offline.asked import Asked
from outlast.adapters.providers.offline.contradictions import Statement, contradictions_in
from outlast.adapters.providers.offline.json_texts import objects_in, parse_loosely, text_field
from outlast.adapters.providers.offline.phrases import joined
from outlast.adapters.providers.offline.ranking import is_alike
from outlast.adapters.providers.offline.reading import read_message
from outlast.adapters.providers.offline.topic import topic_of
from outlast.adapters.providers.offline.words import terms_of
from outlast.domain.dataclass import dataclass
from outlast.domain.door import Json
from outlast.ports.provider import ModelRequest

_MOST_DISAGREEMENTS: Final = 5
_MOST_TITLE: Final = 110
_STRONGEST: Final = 2
_MOST_SUMMARY_CLAIM: Final = 320


@dataclass(slots=True)
class _Claim:
    text: str
    subtask: str
    question: str
    sources: tuple[str, ...]
    confidence: float
    ids: list[str]
    terms: frozenset[str] = field(default_factory=frozenset)


def report_for(request: ModelRequest, asked: Asked) -> dict[str, Json]:
    """The arguments of `write_report` for the conclusions in the newest message."""
    objects, open_questions = _handed_over(request)
    claims = _merged([claim for entry in objects if (claim := _claim(entry)) is not None])
    return {
        "title": _title(asked),
        "summary": _summary(asked, claims),
        "sections": _sections(claims),
        "limits": list[Json](_limits(asked, claims, open_questions)),
    }


def _handed_over(request: ModelRequest) -> tuple[list[dict[str, object]], list[str]]:
    """The objects and the open questions of every user message, fenced or under their label."""
    objects: list[dict[str, object]] = []
    open_questions: list[str] = []
    for message in request.messages:
        if message.speaker != "user":
            continue
        reading = read_message(message.text)
        for fenced in reading.fenced:
            objects.extend(objects_in(parse_loosely(fenced.text)))
        open_questions.extend(_listed(reading.material("OPEN QUESTIONS")))
    for entry in objects:
        questions = entry.get("open_questions")
        if isinstance(questions, list):
            open_questions.extend(question for question in questions if isinstance(question, str))
    return objects, list(dict.fromkeys(open_questions))


def _listed(material: str) -> list[str]:
    """The items of a JSON list of texts (or of objects that name a question), or the lines of a text."""
    value = parse_loosely(material) if material else []
    if isinstance(value, list):
        questions = [
            item if isinstance(item, str) else text_field(item, "question")
            for item in value
            if isinstance(item, str | dict)
        ]
        return [question for question in questions if question]
    lines = [line.strip().lstrip("-*• ").strip() for line in material.splitlines()]
    return [line for line in lines if line and line[0] not in "[]{}"]


def _claim(entry: dict[str, object]) -> _Claim | None:
    identity, text = text_field(entry, "id"), text_field(entry, "claim")
    sources = entry.get("sources")
    if not identity or not text:
        return None
    confidence = entry.get("confidence")
    subtask = text_field(entry, "subtask") or identity.partition(".")[0]
    return _Claim(
        text=text,
        subtask=subtask,
        question=text_field(entry, "subtask_question") or subtask,
        sources=tuple(source for source in sources if isinstance(source, str))
        if isinstance(sources, list)
        else (),
        confidence=_bounded(confidence) if isinstance(confidence, int | float) else 0.5,
        ids=[identity],
        terms=frozenset(terms_of(text)),
    )


def _bounded(confidence: float) -> float:
    return round(min(1.0, max(0.0, confidence)), 2) if math.isfinite(confidence) else 0.5


def _merged(claims: list[_Claim]) -> list[_Claim]:
    """Claims that say nearly the same become one, at the first place, resting on all their conclusions."""
    kept: list[_Claim] = []
    for claim in claims:
        same = next(
            (other for other in kept if other.text == claim.text or is_alike(other.terms, claim.terms)), None
        )
        if same is None:
            kept.append(claim)
        elif claim.ids[0] not in same.ids:
            same.ids.extend(claim.ids)
            same.sources = tuple(dict.fromkeys((*same.sources, *claim.sources)))
            same.confidence = max(same.confidence, claim.confidence)
    return kept


def _sections(claims: list[_Claim]) -> list[Json]:
    sections: dict[str, list[Json]] = {}
    headings: dict[str, str] = {}
    for claim in claims:
        headings.setdefault(claim.subtask, claim.question)
        entry: Json = {
            "text": claim.text,
            "conclusions": list[Json](claim.ids),
            "confidence": claim.confidence,
        }
        sections.setdefault(claim.subtask, []).append(entry)
    return [{"heading": headings[subtask], "claims": entries} for subtask, entries in sections.items()]


def _title(asked: Asked) -> str:
    topic = topic_of(asked.question, asked.phrases)
    name = topic.name.strip("“”«»\"' ") or "?"
    if topic.aspects:
        name += asked.phrases.titled.format(aspects=joined(asked.phrases, list(topic.aspects)))
    short = name if len(name) <= _MOST_TITLE else name[:_MOST_TITLE].rsplit(" ", 1)[0] + " …"
    return short[:1].upper() + short[1:]


def _summary(asked: Asked, claims: list[_Claim]) -> str:
    question = asked.phrases.quoted.format(asked.question)
    if not claims:
        return asked.phrases.summary_empty.format(question=question)
    short = [claim for claim in claims if len(claim.text) <= _MOST_SUMMARY_CLAIM] or claims[:1]
    others = sorted(short[1:], key=lambda claim: -claim.confidence)
    strongest = [short[0], *others[: _STRONGEST - 1]]
    space = "" if asked.language in ("zh", "ja") else " "
    return asked.phrases.summary.format(
        question=question,
        claims=len(claims),
        sources=len({source for claim in claims for source in claim.sources}),
        strongest=space.join(_ended(claim.text, asked.language) for claim in strongest),
    )


def _ended(text: str, language: str) -> str:
    if text[-1:] in ".!?。！？…”’\"')）】":
        return text
    return text + ("。" if language in ("zh", "ja") else ".")


def _limits(asked: Asked, claims: list[_Claim], open_questions: list[str]) -> list[str]:
    phrases = asked.phrases
    statements = [Statement(claim.text, claim.sources[0]) for claim in claims if len(claim.sources) == 1]
    limits = [phrases.limit_gap.format(question=question) for question in open_questions]
    told = phrases.disagree.partition("{")[0]
    limits += [
        phrases.limit_disagree.format(claim=claim.text) for claim in claims if claim.text.startswith(told)
    ]
    for one, other in contradictions_in(statements, _MOST_DISAGREEMENTS, topic_of(asked.question).sides):
        said = phrases.disagree.format(one=one.text.rstrip(" .。"), other=other.text.rstrip(" .。"))
        limits.append(phrases.limit_disagree.format(claim=said))
    if claims and len({source for claim in claims for source in claim.sources}) == 1:
        limits.append(phrases.limit_one_source)
    limits += [phrases.limit_remark.format(remark=remark) for remark in _listed(asked.remarks)]
    return [*dict.fromkeys(limits), phrases.limit_model]
