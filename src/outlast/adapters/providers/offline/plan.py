"""Plans: three or more sub-questions that differ, made of the words of the question."""

from __future__ import annotations

import re
from typing import Final

from outlast.adapters.providers.offline.asked import Asked
from outlast.adapters.providers.offline.facets import REASONS, facets_of
from outlast.adapters.providers.offline.json_texts import objects_in, parse_loosely, text_field
from outlast.adapters.providers.offline.phrases import Phrases, joined
from outlast.adapters.providers.offline.topic import Topic, topic_of
from outlast.adapters.providers.offline.words import keywords_of
from outlast.domain.door import Json

LEAST_SUBTASKS: Final = 3
MOST_SUBTASKS: Final = 8
_USUAL_SUBTASKS: Final = 4
_MAX_REMARKS: Final = 2
_POINTS_BACK = re.compile(
    r"\b(?:it|its|they|them|their|this|these|that|those|he|she)\b|它|其|他们|这", re.IGNORECASE
)
_NO_REMARK: Final = "none given"
_MAX_REMARK: Final = 140


def plan_for(asked: Asked) -> dict[str, Json]:
    """A plan of three to eight subtasks for the question; after a rejection another one that takes up the reasons."""
    phrases = asked.phrases
    topic = topic_of(asked.question, phrases)
    rejected = _rejected_questions(asked)
    remarks = _remarks(asked) if rejected or asked.remarks else []
    questions = [phrases.feedback.format(topic=topic.name, remark=remark) for remark in remarks]
    questions += _named(topic, asked.question, phrases)
    wanted = max(LEAST_SUBTASKS, min(_USUAL_SUBTASKS, len(questions) + 1)) - 1
    questions = list(dict.fromkeys(questions))
    for further in _further(topic.name, phrases):
        if len(questions) >= wanted:
            break
        if further not in questions and further not in rejected:
            questions.append(further)
    questions = _unlike(questions, rejected, topic.name, phrases)[: MOST_SUBTASKS - 1]
    return _plan(topic, questions, phrases)


def _named(topic: Topic, question: str, phrases: Phrases) -> list[str]:
    """The sub-questions the question itself names: an aspect each, else a side each, else a part each."""
    if len(topic.aspects) > 1:
        aspects = [phrases.aspect.format(aspect=aspect, topic=topic.name) for aspect in topic.aspects]
        return [*aspects, _difference(topic, phrases)] if topic.sides else aspects
    if topic.sides:
        sides = [phrases.side.format(side=side, regarding=_regarding(topic, phrases)) for side in topic.sides]
        return [*sides, _difference(topic, phrases)]
    if topic.parts:
        return [_as_question(part, topic.parts[0], question) for part in topic.parts]
    is_question = question.rstrip().endswith(("?", "？"))
    own = question if is_question else phrases.overview.format(topic=topic.name)
    turn = phrases.limits if REASONS in facets_of(question) else phrases.figures
    return [own, turn.format(topic=topic.name)]


def _difference(topic: Topic, phrases: Phrases) -> str:
    sides = joined(phrases, list(topic.sides))
    return phrases.difference.format(sides=sides, regarding=_regarding(topic, phrases))


def _regarding(topic: Topic, phrases: Phrases) -> str:
    """The one criterion of a comparison; several have sub-questions of their own."""
    return phrases.regarding.format(criteria=topic.aspects[0]) if len(topic.aspects) == 1 else ""


def _further(topic: str, phrases: Phrases) -> list[str]:
    return [
        form.format(topic=topic)
        for form in (
            phrases.overview,
            phrases.figures,
            phrases.limits,
            phrases.reasons,
            phrases.examples,
            phrases.history,
        )
    ]


def _unlike(questions: list[str], rejected: frozenset[str], topic: str, phrases: Phrases) -> list[str]:
    """`questions` with something that the rejected plan did not ask."""
    if not rejected or any(question not in rejected for question in questions):
        return questions
    new = [question for question in _further(topic, phrases) if question not in rejected]
    return [*new[:1], *questions] if new else list(reversed(questions))


def _as_question(part: str, first: str, question: str) -> str:
    """A part of a question as one of its own; where a pronoun points back, the words it may mean are added."""
    opening, closing, mark = ("（", "）", "？") if "？" in question else (" (", ")", "?")
    meant = " ".join(keywords_of(first, 4)) if part != first and _POINTS_BACK.search(part) else ""
    named = f"{opening}{meant}{closing}" if meant else ""
    return part[:1].upper() + part[1:].rstrip("?？") + named + mark


def _plan(topic: Topic, questions: list[str], phrases: Phrases) -> dict[str, Json]:
    """What only turns the whole question waits for the answers before it, so that it can add to them; the gaps wait for all."""
    turned = {*_further(topic.name, phrases), _difference(topic, phrases)}
    first = [f"s{at}" for at, question in enumerate(questions, 1) if question not in turned] or ["s1"]
    subtasks: list[Json] = []
    for at, question in enumerate(questions, 1):
        waits: list[Json] = list[Json](first) if at > 1 and question in turned else []
        subtasks.append(
            {"id": f"s{at}", "question": question, "done_when": phrases.done_when, "depends_on": waits}
        )
    subtasks.append(
        {
            "id": f"s{len(questions) + 1}",
            "question": phrases.gaps.format(topic=topic.name),
            "done_when": phrases.done_when_gaps,
            "depends_on": [f"s{at}" for at in range(1, len(questions) + 1)],
        }
    )
    return {"subtasks": subtasks}


def _rejected_questions(asked: Asked) -> frozenset[str]:
    rejected = asked.said.material("REJECTED PLAN")
    value = parse_loosely(rejected)
    if value is None:
        lines = [line.strip(" -*\t") for line in rejected.splitlines()]
        return frozenset(form for line in lines for form in (line, line.partition(": ")[2])) - {""}
    return frozenset(text_field(entry, "question") for entry in objects_in(value)) - {""}


def _remarks(asked: Asked) -> list[str]:
    """The reasons of a rejection, each short enough to stand in a question."""
    value = parse_loosely(asked.remarks)
    lines = [str(item) for item in value] if isinstance(value, list) else asked.remarks.splitlines()
    remarks = [" ".join(line.strip(" -*•\t").split()).rstrip("?？.。!！") for line in lines]
    short = [
        remark if len(remark) <= _MAX_REMARK else " ".join(keywords_of(remark, 12)) for remark in remarks
    ]
    return [remark for remark in dict.fromkeys(short) if remark not in ("", _NO_REMARK)][:_MAX_REMARKS]
