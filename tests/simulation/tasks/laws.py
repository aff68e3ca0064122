"""What must hold whatever happens: checked at every write, by other means than the machine's own."""

from datetime import datetime
from typing import Any

from outlast.domain.background import BackgroundTask, TaskStatus, Tracking
from outlast.domain.notification import NOTIFICATION_TRANSITIONS, Notification
from outlast.tasks.rules import TaskRules
from tests.simulation.tasks.agents import Talk
from tests.simulation.tasks.remote import Job


class Broke(AssertionError):
    """A law was broken."""


class Laws:
    """Watches every write of a task."""

    def __init__(self, talk: Talk, jobs: dict[str, Job], rules: TaskRules) -> None:
        self._talk = talk
        self._jobs = jobs
        self._rules = rules
        self._asked_of: dict[str, set[str]] = {}
        self._failures: dict[str, int] = {}
        self.events = 0

    def write(self, before: BackgroundTask, task: BackgroundTask) -> None:
        """One write of a task's row."""
        self._status(before, task)
        self._versions(before, task)
        self._notification(before, task)
        self._wishes(before, task)
        if task.event_version > before.event_version:
            self._event(before, task)

    def _status(self, before: BackgroundTask, task: BackgroundTask) -> None:
        if not before.is_open and before.status is not TaskStatus.UNKNOWN_OUTCOME:
            ensure(task.status is before.status, "the first end holds")
            ensure(task.product == before.product, "the first result holds")
        if task.remote_id is None:
            return
        job = self._jobs[task.remote_id]
        if task.status is TaskStatus.LOST and before.is_open:
            ensure(job.times_forgotten >= 3, "lost before it was forgotten three times")
        if task.tracking is Tracking.DEGRADED and before.tracking is Tracking.OK:
            ensure(task.poll_errors >= 3 or job.was_fatal, "degraded before three errors in a row")

    def _versions(self, before: BackgroundTask, task: BackgroundTask) -> None:
        ensure(before.event_version <= task.event_version <= before.event_version + 1, "one event a write")
        ensure(before.notified_version <= task.notified_version <= task.event_version, "only events are told")
        ensure(task.dispatch_version <= task.event_version, "only events are dispatched")
        ensure(before.dispatch_attempt <= task.dispatch_attempt, "attempts never begin anew")

    def _notification(self, before: BackgroundTask, task: BackgroundTask) -> None:
        old, new = before.notification, task.notification
        through = {new} | {step for step in Notification if new in NOTIFICATION_TRANSITIONS[step]}
        ensure(
            old is new or bool(NOTIFICATION_TRANSITIONS[old] & through), f"{old} to {new} is not in the table"
        )
        if old is Notification.DISPATCHED and new is Notification.PENDING:
            was_last_try = before.notification_failures + 1 == self._rules.max_attempts
            has_told = task.notified_version == before.dispatch_version
            ensure(has_told or was_last_try, "a run at work is the only one to tell")
        if new is Notification.DEAD_LETTER and old is not new:
            is_gone = task.thread_id not in self._talk.alive
            ensure(is_gone or task.notification_failures == self._rules.max_attempts, "given up too early")
        self._count_failures(task, old, new)
        if before.is_thread_gone:
            is_silent = new in (Notification.NONE, Notification.DEAD_LETTER)
            ensure(task.is_thread_gone and is_silent, "a conversation that is gone was revived")

    def _count_failures(self, task: BackgroundTask, old: Notification, new: Notification) -> None:
        if new is Notification.RETRY and old is not new:
            self._failures[task.task_id] = self._failures.get(task.task_id, 0) + 1
        elif new in (Notification.DELIVERED, Notification.DEAD_LETTER, Notification.PENDING):
            self._failures[task.task_id] = 0
        ensure(self._failures.get(task.task_id, 0) < self._rules.max_attempts, "given up too late")

    def _wishes(self, before: BackgroundTask, task: BackgroundTask) -> None:
        if before.cancel_requested_at is not None:
            ensure(task.cancel_requested_at == before.cancel_requested_at, "a wish to cancel was lost")
            working = (TaskStatus.WORKING, TaskStatus.INPUT_REQUIRED)
            ensure(task.status not in working, "a cancelled task works on")
        for key, question in before.questions.items():
            if question.answer is not None and task.is_open:
                ensure(task.questions[key].answer == question.answer, "an answer was lost")

    def _event(self, before: BackgroundTask, task: BackgroundTask) -> None:
        """A person would call it a change: an end, an outage or its end, a question nobody has told of."""
        self.events += 1
        ensure(task.event != before.event, "an event that changes nothing")
        asked = self._asked_of.setdefault(task.task_id, set())
        fresh = set(task.open_questions) - asked
        has_ended = before.is_open and not task.is_open
        ensure(has_ended or before.tracking is not task.tracking or bool(fresh), "an event about nothing")
        asked |= set(task.open_questions)

    def heard(self, until: datetime) -> None:
        """Nobody is told twice, nor in another order."""
        newest: dict[str, int] = {}
        for task_id, version, _ in self._talk.heard:
            ensure(
                version > newest.get(task_id, 0),
                f"{task_id} was told of {version} after {newest.get(task_id)}",
            )
            newest[task_id] = version

    def at_rest(self, task: BackgroundTask, last_heard: tuple[int, Any] | None) -> None:
        """Everything has come to its end."""
        ensure(not task.is_open, f"{task.task_id} never ended: {task.status}")
        if task.thread_id not in self._talk.alive:
            is_settled = not task.is_undelivered or task.notification is Notification.DEAD_LETTER
            ensure(is_settled, "nobody is there to be told, and it was not given up")
            return
        ensure(not task.is_undelivered, f"event {task.event_version} of {task.task_id} was never told")
        if task.notify == "off" or task.event_version == 0:
            return
        ensure(task.notification is Notification.DELIVERED, f"at rest it is {task.notification}")
        ensure(last_heard is not None, "the last event was marked as told and was not")
        assert last_heard is not None
        version, event = last_heard
        ensure(version == task.event_version, f"told of {version}, there is {task.event_version}")
        ensure(event["status"] == task.status.value, "the last word is not how it ended")

    def answered(self, task: BackgroundTask, job: Job, given: dict[str, Any]) -> None:
        """What a person answered reached the server, if it still waited for it."""
        for key, answer in job.received.items():
            ensure(answer == given.get(f"{task.task_id} {key}"), "an answer nobody gave, or another")


def ensure(holds: bool, law: str) -> None:
    """Raise Broke unless it holds."""
    if not holds:
        raise Broke(law)
