"""What is done to a task from this side: it is begun, answered, cancelled."""

from __future__ import annotations

from dataclasses import replace
from typing import Final

from outlast.domain.background import BackgroundTask, TaskAnswer, TaskStatus
from outlast.domain.bounded import bound
from outlast.domain.door import stored_form
from outlast.ports.background_driver import Handle, Trouble
from outlast.tasks.announcing import announced
from outlast.tasks.happenings import (
    Answered,
    CancelAsked,
    CancelTried,
    Decided,
    Declined,
    Queue,
    Submitted,
    Why,
)
from outlast.tasks.polling import ended, standing
from outlast.tasks.rules import Moment, TaskRules, poll_wait_seconds, retry_wait_seconds, usable_seconds

_ERROR_BYTES: Final = 4_000


def begun(task: BackgroundTask, rules: TaskRules, moment: Moment, submit_seconds: float = 0.0) -> Decided:
    """A task that is new: with a handle it is asked for when the other side likes, without one it must have one within
    `submit_seconds`."""
    if task.remote_id is None:
        return Decided(task, {Queue.POLL: moment.after(submit_seconds)})
    wait = poll_wait_seconds(task.poll_after_seconds, task.ttl_seconds, rules, moment)
    return Decided(replace(task, status=standing(task)), {Queue.POLL: moment.after(wait)})


def with_handle(task: BackgroundTask, handle: Handle) -> BackgroundTask:
    """The task under the handle that the other side gave."""
    data = stored_form(dict(handle.data))
    assert isinstance(data, dict)
    return replace(
        task,
        driver=handle.driver,
        server=handle.server,
        principal=handle.principal,
        protocol_version=handle.protocol_version,
        remote_id=handle.remote_id,
        driver_data=data,
        status_message=bound(handle.status_message, _ERROR_BYTES).shown,
        poll_after_seconds=usable_seconds(handle.poll_after_seconds),
        ttl_seconds=usable_seconds(handle.ttl_seconds),
    )


def handle_of(task: BackgroundTask) -> Handle:
    """The handle by which a driver finds the task again. The task must have a remote id."""
    assert task.remote_id is not None
    return Handle(
        driver=task.driver,
        server=task.server,
        principal=task.principal,
        protocol_version=task.protocol_version,
        remote_id=task.remote_id,
        data=task.driver_data,
        name=task.name,
        status_message=task.status_message,
        poll_after_seconds=task.poll_after_seconds,
        ttl_seconds=task.ttl_seconds,
    )


def submitted(
    task: BackgroundTask, happening: Submitted, rules: TaskRules, moment: Moment
) -> Decided | Declined:
    """The task has its handle, even if nobody hoped for one any more."""
    if task.remote_id is not None:
        return Declined(Why.HAS_HANDLE)
    found = with_handle(task, happening.handle)
    found = replace(found, status=standing(found), ended_at=None)
    wait = poll_wait_seconds(found.poll_after_seconds, found.ttl_seconds, rules, moment)
    due = {Queue.POLL: moment.after(wait)}
    if found.status is TaskStatus.CANCELLING:
        due[Queue.CANCEL] = moment.now
    return announced(task, found, due, moment)


def submit_unknown(task: BackgroundTask, rules: TaskRules, moment: Moment) -> Decided | Declined:
    """Nobody knows whether the work was begun; it is not begun again."""
    if task.remote_id is not None or not task.is_open:
        return Declined(Why.HAS_HANDLE if task.remote_id is not None else Why.ENDED)
    return ended(task, task, TaskStatus.UNKNOWN_OUTCOME, rules, moment)


def answered(task: BackgroundTask, happening: Answered, moment: Moment) -> Decided | Declined:
    """The answer is stored, and sent before the task is asked for the next time, which is now."""
    question = task.open_questions.get(happening.key)
    if not task.is_open or question is None:
        return Declined(Why.NO_QUESTION if task.is_open else Why.ENDED)
    content = stored_form(dict(happening.answer.content))
    assert isinstance(content, dict)
    answer = TaskAnswer(happening.answer.action, content, happening.by, moment.now)
    questions = {**task.questions, happening.key: replace(question, answer=answer)}
    found = replace(task, questions=questions)
    return announced(task, replace(found, status=standing(found)), {Queue.POLL: moment.now}, moment)


def cancel_asked(task: BackgroundTask, happening: CancelAsked, moment: Moment) -> Decided | Declined:
    """The wish is stored and fences whatever is under way; a task without a handle is cancelled when it has one."""
    if not task.is_open:
        return Declined(Why.ENDED)
    due = {} if task.remote_id is None else {Queue.CANCEL: moment.now}
    if task.cancel_requested_at is not None:
        return Decided(task, due)
    found = replace(
        task,
        status=TaskStatus.CANCELLING,
        cancel_requested_at=moment.now,
        cancel_requested_by=happening.by,
    )
    return announced(task, found, due, moment)


def cancel_tried(
    task: BackgroundTask, happening: CancelTried, rules: TaskRules, moment: Moment
) -> Decided | Declined:
    """The other side took the wish, or it is told again; what comes of it is seen by polling, which goes on meanwhile."""
    if not task.is_open or task.cancel_requested_at is None:
        return Declined(Why.ENDED)
    if not isinstance(happening.reply, Trouble):
        found = replace(task, cancel_acknowledged_at=moment.now, cancel_errors=0, last_cancel_error=None)
        return announced(task, found, {Queue.POLL: moment.now}, moment)
    errors, trouble = task.cancel_errors + 1, happening.reply
    text = f"{trouble.code}: {trouble.detail} {trouble.next_step}".strip()
    found = replace(task, cancel_errors=errors, last_cancel_error=bound(text, _ERROR_BYTES).shown)
    wait = retry_wait_seconds(errors, rules, moment, trouble.retry_after_seconds)
    return announced(task, found, {Queue.CANCEL: moment.after(wait)}, moment)
