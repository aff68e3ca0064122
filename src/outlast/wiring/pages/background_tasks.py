"""The page of the states of a background task and of its notification."""

from __future__ import annotations

import inspect
from collections.abc import Iterator
from typing import Final

from outlast.domain.background import OPEN_STATUSES, TaskStatus
from outlast.domain.notification import NOTIFICATION_TRANSITIONS, Notification

_HEAD: Final = """\
# Background tasks

Made from the code by `just docs`; do not edit.

A background task has a status, a tracking and a notification. What a person would call a change of it is an event: an end, a
question, an outage, the end of an outage. Every event is told to the conversation that began the task, once.

## Statuses

| status | while it has it |
| --- | --- |"""

_MEANINGS: Final = {
    TaskStatus.SUBMITTING: "the work is being handed over",
    TaskStatus.CANCELLING: "somebody asked to cancel it; it may still complete",
    TaskStatus.WORKING: "the other side works",
    TaskStatus.INPUT_REQUIRED: "the other side waits for an answer of a person",
    TaskStatus.COMPLETED: "it has a result, which may report a failure of the work itself",
    TaskStatus.FAILED: "the other side could not do it",
    TaskStatus.CANCELLED: "the other side has stopped it",
    TaskStatus.UNKNOWN_OUTCOME: "the connection died before a handle came; nobody knows whether the work was begun",
    TaskStatus.LOST: "the other side said three times that it does not know the task",
    TaskStatus.MOVED: "`outlast export --move` took it along to another store, where it is followed and told",
}

_TAIL: Final = """
Tracking is `ok`, or `degraded` while the other side cannot be asked: after several errors in a row, or at once where an
operator must act. It says nothing about the work itself.

## Notifications

| state | when | what happens next |
| --- | --- | --- |"""


def page() -> str:
    """The page, in Markdown."""
    return "\n".join(
        [
            _HEAD,
            *(f"| `{status}` ({_kind(status)}) | {_MEANINGS[status]} |" for status in TaskStatus),
            _TAIL,
            *_notifications(),
            "\n| from | to |\n| --- | --- |",
            *_transitions(),
            "",
        ]
    )


def _kind(status: TaskStatus) -> str:
    return "open" if status in OPEN_STATUSES else "ended"


def _notifications() -> Iterator[str]:
    """What the docstring of Notification says of each, a row a state."""
    for line in (inspect.getdoc(Notification) or "").splitlines():
        name, colon, parts = line.rstrip(".").partition(": ")
        if colon and name in set(Notification):
            yield f"| `{name}` | {' | '.join(parts.split('; ', 1))} |"


def _transitions() -> Iterator[str]:
    for source in Notification:
        targets = [f"`{target}`" for target in Notification if target in NOTIFICATION_TRANSITIONS[source]]
        yield f"| `{source}` | {', '.join(targets)} |"
