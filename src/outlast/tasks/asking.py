"""The questions of a task: each is put to a person once, its answer is sent from the store until the other side has it."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import replace
from datetime import datetime
from typing import Final

from outlast.domain.background import BackgroundTask, TaskAnswer, TaskQuestion
from outlast.domain.bounded import bound
from outlast.domain.door import Json, canonical_json, clean_text, stored_form
from outlast.domain.errors import ModelMistake
from outlast.ports.background_driver import Answer, Question
from outlast.tasks.rules import RESEND_POLLS

MOST_QUESTIONS: Final = 32
"""How many questions of a task are known at a time; of those it does not ask any more the oldest are forgotten first."""

_MESSAGE_BYTES: Final = 4_000
_SCHEMA_BYTES: Final = 16_000
_OURSELVES: Final = "outlast"


def asked(
    task: BackgroundTask, questions: Mapping[str, Question], just_sent: frozenset[str], now: datetime
) -> BackgroundTask:
    """The task, now that the other side asks these questions and no others.

    A question it asks under a known key is the known one, unless it has other words and is not answered yet.
    """
    known = {
        key: question if key in questions else _no_longer(question)
        for key, question in task.questions.items()
    }
    for key, question in list(questions.items())[:MOST_QUESTIONS]:
        before = known.get(key)
        known[key] = (
            _first(question, now) if before is None else _again(before, question, key in just_sent, now)
        )
    return replace(task, questions=_bounded(known))


def sent(task: BackgroundTask, keys: Iterable[str], now: datetime) -> BackgroundTask:
    """The task, now that the other side took the answers to these questions."""
    questions = dict(task.questions)
    for key in keys:
        if key in questions:
            questions[key] = replace(questions[key], sent_at=now, polls_since_sent=0)
    return replace(task, questions=questions) if questions != task.questions else task


def answers_to_send(task: BackgroundTask) -> dict[str, Answer]:
    """The stored answers that are to be sent now: those never sent, and those the other side still asks for three polls later."""
    return {
        key: Answer(question.answer.action, question.answer.content)
        for key, question in task.questions.items()
        if question.answer is not None and _is_to_be_sent(question)
    }


def _is_to_be_sent(question: TaskQuestion) -> bool:
    return question.is_asked and (question.sent_at is None or question.polls_since_sent >= RESEND_POLLS)


def _no_longer(question: TaskQuestion) -> TaskQuestion:
    return replace(question, is_asked=False) if question.is_asked else question


def _first(question: Question, now: datetime) -> TaskQuestion:
    """A question as it is first seen. What no person could answer is declined at once."""
    known = TaskQuestion(
        kind=question.kind,
        message=bound(question.message, _MESSAGE_BYTES).shown,
        schema=_schema(question.schema),
        url=None if question.url is None else clean_text(question.url)[:_MESSAGE_BYTES],
        first_seen_at=now,
    )
    if question.kind != "unsupported" and len(canonical_json(known.schema)) <= _SCHEMA_BYTES:
        return known
    declined = TaskAnswer("decline", {}, _OURSELVES, now)
    return replace(known, kind="unsupported", schema={}, is_told=True, answer=declined)


def _again(before: TaskQuestion, question: Question, was_just_sent: bool, now: datetime) -> TaskQuestion:
    before = replace(before, is_asked=True)
    if before.answer is not None:
        is_waiting = before.sent_at is not None and not was_just_sent
        return replace(before, polls_since_sent=before.polls_since_sent + 1) if is_waiting else before
    fresh = _first(question, now)
    asks_the_same = (fresh.kind, fresh.message, fresh.schema, fresh.url) == (
        before.kind,
        before.message,
        before.schema,
        before.url,
    )
    return before if asks_the_same else replace(fresh, first_seen_at=before.first_seen_at)


def _schema(schema: Mapping[str, Json]) -> dict[str, Json]:
    try:
        stored = stored_form(dict(schema))
    except ModelMistake:
        return {}
    assert isinstance(stored, dict)
    return stored


def _bounded(questions: dict[str, TaskQuestion]) -> dict[str, TaskQuestion]:
    surplus = len(questions) - 2 * MOST_QUESTIONS
    silent = [key for key, question in questions.items() if not question.is_asked][: max(surplus, 0)]
    return {clean_text(key): question for key, question in questions.items() if key not in silent}
