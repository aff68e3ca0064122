"""How a conversation is told: from a new event to the end of the run that told of it.

The lease is on the task's entry in the queue `task_notify`. That a notification is claimed is not written: who claims it decides
in memory and writes what came of it, in one commit, so a worker that dies leaves the task as it was.
"""

from __future__ import annotations

from dataclasses import replace
from datetime import datetime
from typing import Final

from outlast.domain.background import BackgroundTask
from outlast.domain.bounded import bound
from outlast.domain.notification import Notification
from outlast.tasks.happenings import (
    Decided,
    Declined,
    Dispatched,
    DispatchFailed,
    Queue,
    RunEnded,
    ThreadGone,
    Why,
)
from outlast.tasks.rules import BUSY_WAIT_SECONDS, Moment, TaskRules, retry_wait_seconds

_DUE: Final = frozenset({Notification.PENDING, Notification.RETRY})
_ERROR_BYTES: Final = 4_000


def claimed(task: BackgroundTask) -> Decided | Declined:
    """The newest event is taken, in an attempt of its own."""
    if task.notification not in _DUE or not task.is_undelivered:
        return Declined(Why.NOTHING_DUE)
    return Decided(
        replace(
            task,
            notification=Notification.CLAIMED,
            dispatch_version=task.event_version,
            dispatch_attempt=task.dispatch_attempt + 1,
            dispatch_event=task.event,
            notification_run_id=None,
        )
    )


def dispatched(task: BackgroundTask, happening: Dispatched) -> Decided | Declined:
    """A run tells it; what is due next comes with the end of that run."""
    if task.notification is not Notification.CLAIMED:
        return Declined(Why.NOT_CLAIMED)
    return Decided(replace(task, notification=Notification.DISPATCHED, notification_run_id=happening.run_id))


def told(task: BackgroundTask, moment: Moment) -> Decided | Declined:
    """It is in the conversation."""
    if task.notification is not Notification.CLAIMED:
        return Declined(Why.NOT_CLAIMED)
    return _delivered(task, moment)


def busy(task: BackgroundTask, moment: Moment) -> Decided | Declined:
    """The newest event waits for the end of the run that is at work, which is no failure."""
    if task.notification is not Notification.CLAIMED:
        return Declined(Why.NOT_CLAIMED)
    found = replace(task, notification=Notification.PENDING)
    return Decided(found, {Queue.NOTIFY: moment.after(BUSY_WAIT_SECONDS)})


def gone(task: BackgroundTask, happening: ThreadGone) -> Decided | Declined:
    """Nobody is there to be told, now or later. Where its owner deleted the conversation that is no dead letter."""
    if happening.by_owner:
        return Decided(
            replace(
                task,
                is_thread_gone=True,
                notify="off",
                notification=Notification.NONE,
                notified_version=task.event_version,
            )
        )
    if task.notification is not Notification.CLAIMED:
        return Declined(Why.NOT_CLAIMED)
    error = "thread_gone: The conversation is gone."
    return Decided(
        replace(task, is_thread_gone=True, notification=Notification.DEAD_LETTER, notification_error=error)
    )


def dispatch_failed(
    task: BackgroundTask, happening: DispatchFailed, rules: TaskRules, moment: Moment
) -> Decided | Declined:
    """No run could be started; it is tried again."""
    if task.notification is not Notification.CLAIMED:
        return Declined(Why.NOT_CLAIMED)
    return _failed(task, happening.error, rules, moment)


def run_ended(
    task: BackgroundTask, happening: RunEnded, rules: TaskRules, moment: Moment
) -> Decided | Declined:
    """The run told it, or did not; only the run and version that were dispatched count."""
    is_ours = (task.notification_run_id, task.dispatch_version) == (happening.run_id, happening.version)
    if task.notification is not Notification.DISPATCHED or not is_ours:
        return Declined(Why.NOT_DISPATCHED)
    if happening.error is not None:
        return _failed(task, happening.error, rules, moment)
    return _delivered(task, moment)


def redriven(task: BackgroundTask, moment: Moment) -> Decided | Declined:
    """A dead letter is sent again, with counters at zero."""
    if task.is_thread_gone:
        return Declined(Why.THREAD_GONE)
    if task.notification is not Notification.DEAD_LETTER:
        return Declined(Why.NO_DEAD_LETTER)
    found = replace(task, notification=Notification.PENDING, notification_failures=0, notification_error=None)
    return Decided(replace(found, updated_at=moment.now), {Queue.NOTIFY: moment.now})


def _delivered(task: BackgroundTask, moment: Moment) -> Decided:
    task = replace(
        task,
        notified_version=max(task.notified_version, task.dispatch_version),
        notification_failures=0,
        notification_error=None,
    )
    if task.is_undelivered:
        return Decided(replace(task, notification=Notification.PENDING), {Queue.NOTIFY: moment.now})
    return Decided(replace(task, notification=Notification.DELIVERED))


def _failed(task: BackgroundTask, error: str, rules: TaskRules, moment: Moment) -> Decided:
    """Tried again after a growing wait; after the last try this event is a dead letter, and a newer one begins anew."""
    failures = task.notification_failures + 1
    task = replace(task, notification_failures=failures, notification_error=bound(error, _ERROR_BYTES).shown)
    due: dict[Queue, datetime] = {}
    if failures < rules.max_attempts:
        wait = retry_wait_seconds(failures, rules, moment)
        return Decided(replace(task, notification=Notification.RETRY), {Queue.NOTIFY: moment.after(wait)})
    if task.event_version == task.dispatch_version:
        return Decided(replace(task, notification=Notification.DEAD_LETTER), due)
    fresh = replace(task, notification=Notification.PENDING, notification_failures=0, notification_error=None)
    return Decided(fresh, {Queue.NOTIFY: moment.now})
