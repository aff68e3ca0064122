"""Plans: three or more sub-questions that differ, made of the words of the question."""

from __future__ import annotations

from typing import Final

from outlast.adapters.providers.offline.asked import Asked
from outlast.adapters.providers.offline.evidence import objects_in, parse_loosely, text_field
from outlast.adapters.providers.offline.phrases import Phrases, joined
from outlast.adapters.providers.offline.topic import Topic, topic_of
from outlast.adapters.providers.offline.words import keywords_of
from outlast.domain.door import Json

LEAST_SUBTASKS: Final = 3
MOST_SUBTASKS: Final = 8
_USUAL_SUBTASKS: Final = 4
_MAX_REMARKS: Final = 2
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
    return _plan(questions, phrases.gaps.format(topic=topic.name), phrases)


def _named(topic: Topic, question: str, phrases: Phrases) -> list[str]:
    """The sub-questions the question itself names."""
    regarding = phrases.regarding.format(criteria=topic.criteria) if topic.criteria else ""
    if topic.sides:
        sides = [phrases.side.format(side=side, regarding=regarding) for side in topic.sides]
        return [
            *sides,
            phrases.difference.format(sides=joined(phrases, list(topic.sides)), regarding=regarding),
        ]
    if topic.aspects:
        return [phrases.aspect.format(aspect=aspect, topic=topic.name) for aspect in topic.aspects]
    if topic.parts:
        return [_as_question(part, question) for part in topic.parts]
    is_question = question.rstrip().endswith(("?", "？"))
    own = question if is_question else phrases.overview.format(topic=topic.name)
    return [own, phrases.figures.format(topic=topic.name), phrases.limits.format(topic=topic.name)]


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


def _as_question(part: str, question: str) -> str:
    mark = "？" if "？" in question else "?"
    return part[:1].upper() + part[1:].rstrip("?？") + mark


def _plan(questions: list[str], gaps: str, phrases: Phrases) -> dict[str, Json]:
    subtasks: list[Json] = [
        {"id": f"s{at}", "question": question, "done_when": phrases.done_when, "depends_on": []}
        for at, question in enumerate(questions, 1)
    ]
    before: list[Json] = [f"s{at}" for at in range(1, len(questions) + 1)]
    last = f"s{len(questions) + 1}"
    subtasks.append({"id": last, "question": gaps, "done_when": phrases.done_when_gaps, "depends_on": before})
    return {"subtasks": subtasks}


def _rejected_questions(asked: Asked) -> frozenset[str]:
    rejected = asked.said.material("REJECTED PLAN")
    value = parse_loosely(rejected)
    if value is None:
        return frozenset(line.strip(" -*\t") for line in rejected.splitlines() if line.strip(" -*\t"))
    return frozenset(text_field(entry, "question") for entry in objects_in(value)) - {""}


def _remarks(asked: Asked) -> list[str]:
    """The reasons of a rejection, each short enough to stand in a question."""
    value = parse_loosely(asked.remarks)
    lines = [str(item) for item in value] if isinstance(value, list) else asked.remarks.splitlines()
    remarks = [" ".join(line.strip(" -*•\t").split()).rstrip("?？.。!！") for line in lines]
    short = [
        remark if len(remark) <= _MAX_REMARK else " ".join(keywords_of(remark, 12)) for remark in remarks
    ]
    return [remark for remark in dict.fromkeys(short) if remark][:_MAX_REMARKS]
