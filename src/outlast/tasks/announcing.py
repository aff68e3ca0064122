"""When a change of a task is an event, and what it does to the notification.

An end, a question that was not told of, and a change of tracking are events, if what a person would call a change has changed
since the last one: raw error texts, times and counters are no part of the fingerprint.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from datetime import datetime
from typing import Final

from outlast.domain.background import BackgroundTask, Tracking
from outlast.domain.door import Json, canonical_json, digest_of
from outlast.domain.notification import Notification
from outlast.tasks.happenings import Decided, Queue
from outlast.tasks.rules import Moment

REVIVED: Final = frozenset({Notification.NONE, Notification.DELIVERED, Notification.DEAD_LETTER})
"""Where a newer event begins anew, with counters at zero."""


def announced(
    before: BackgroundTask, task: BackgroundTask, due: Mapping[Queue, datetime], moment: Moment
) -> Decided:
    """`task`, which was `before`, with its event if there is one, and what is due."""
    if _seen(task) != _seen(before):
        task = replace(task, updated_at=moment.now)
    if task.tracking is Tracking.DEGRADED and before.tracking is not Tracking.DEGRADED:
        due = {**due, Queue.ALERT: moment.now}
    if not _is_notable(before, task):
        return Decided(task, due)
    event = event_of(task)
    task = replace(task, questions={key: replace(q, is_told=True) for key, q in task.questions.items()})
    fingerprint = digest_of(canonical_json(event))
    if fingerprint == task.event_fingerprint:
        return Decided(task, due)
    task = replace(task, event=event, event_fingerprint=fingerprint, event_version=task.event_version + 1)
    return _made_pending(task, due, moment)


def event_of(task: BackgroundTask) -> dict[str, Json]:
    """The event as a person would tell it: how the task stands, what it asks, what it came to."""
    questions: dict[str, Json] = {
        key: {
            "kind": question.kind,
            "message": question.message,
            "schema": question.schema,
            "url": question.url,
        }
        for key, question in task.open_questions.items()
    }
    event: dict[str, Json] = {
        "status": task.status.value,
        "tracking": task.tracking.value,
        "questions": questions,
    }
    if task.product is not None:
        event |= {"result": task.product.digest, "is_error": task.product.is_error}
    if task.error_code is not None:
        event["error"] = task.error_code
    return event


def _seen(task: BackgroundTask) -> tuple[object, ...]:
    """What a list shows of a task; progress and counts of errors are no reason to show it again."""
    return (task.status, task.tracking, task.open_questions.keys(), task.product, task.error_code)


def _is_notable(before: BackgroundTask, task: BackgroundTask) -> bool:
    if before.is_open and not task.is_open:
        return True
    if before.tracking is not task.tracking:
        return True
    is_wanted = task.cancel_requested_at is None  # who wants it cancelled is not asked how to go on
    return is_wanted and any(not question.is_told for question in task.open_questions.values())


def _made_pending(task: BackgroundTask, due: Mapping[Queue, datetime], moment: Moment) -> Decided:
    """The notification of a task with a new event: due now where it was at rest, else when what is under way has ended."""
    if task.notify == "off":
        return Decided(replace(task, notified_version=task.event_version), due, has_event=True)
    if task.is_thread_gone:
        return Decided(task, due, has_event=True)
    if task.notification in REVIVED:
        task = replace(
            task, notification=Notification.PENDING, notification_failures=0, notification_error=None
        )
    if task.notification is Notification.PENDING:
        due = {**due, Queue.NOTIFY: moment.now}
    return Decided(task, due, has_event=True)
