"""What the other side says of a task, and what that makes of it."""

from __future__ import annotations

import json
from dataclasses import replace
from datetime import datetime, timedelta
from typing import Final

from outlast.domain.background import BackgroundTask, TaskProduct, TaskStatus, Tracking
from outlast.domain.bounded import bound
from outlast.domain.dataclass import dataclass
from outlast.domain.door import Json, canonical_json, clean_text, digest_of, stored_form
from outlast.domain.errors import ModelMistake
from outlast.domain.notification import Notification
from outlast.ports.background_driver import Forgotten, Product, RemoteStatus, Snapshot, Trouble
from outlast.tasks.announcing import announced
from outlast.tasks.asking import asked, sent
from outlast.tasks.happenings import Decided, Declined, Polled, Queue, Why
from outlast.tasks.rules import (
    CANCEL_AGAIN_SECONDS,
    FORGOTTEN_WAIT_SECONDS,
    TIMES_FORGOTTEN,
    Moment,
    TaskRules,
    poll_wait_seconds,
    retention_seconds,
    usable_seconds,
)

MESSAGE_BYTES: Final = 4_000
PREVIEW_BYTES: Final = 2_000
RESULT_BYTES: Final = 1_000_000

_LOOK_AGAIN_SECONDS: Final = 3_600.0
_UNDER_WAY: Final = frozenset({Notification.PENDING, Notification.DISPATCHED, Notification.RETRY})
_ENDS: Final = {
    RemoteStatus.COMPLETED: TaskStatus.COMPLETED,
    RemoteStatus.FAILED: TaskStatus.FAILED,
    RemoteStatus.CANCELLED: TaskStatus.CANCELLED,
}


@dataclass(frozen=True, slots=True)
class Result:
    """A result as it is kept: `text` is a text as it is, or any other value as JSON, cut to a million bytes."""

    text: str
    size_bytes: int
    is_truncated: bool


def polled(task: BackgroundTask, happening: Polled, rules: TaskRules, moment: Moment) -> Decided | Declined:
    """The task after it was asked for; the first end that is told holds, whatever is told later."""
    if not task.is_open or task.remote_id is None:
        return Declined(Why.NO_HANDLE if task.is_open else Why.ENDED)
    answered = sent(task, happening.sent, moment.now)
    match happening.reply:
        case Snapshot() as snapshot if snapshot.status in _ENDS:
            return _ended(task, answered, snapshot, rules, moment)
        case Snapshot() as snapshot:
            return _open(task, answered, happening, snapshot, rules, moment)
        case Forgotten():
            return _forgotten(task, answered, rules, moment)
        case Trouble() as trouble:
            return _trouble(task, answered, trouble, rules, moment)


def result_of(product: Product) -> Result:
    """The result of a product, bounded."""
    text = product.data if isinstance(product.data, str) else canonical_json(_storable(product.data))
    bounded = bound(clean_text(text), RESULT_BYTES)
    return Result(bounded.shown, bounded.size_bytes, bounded.is_cut)


def _ended(
    before: BackgroundTask, task: BackgroundTask, snapshot: Snapshot, rules: TaskRules, moment: Moment
) -> Decided:
    product = None
    if snapshot.product is not None:
        result = result_of(snapshot.product)
        product = TaskProduct(
            preview=bound(result.text, PREVIEW_BYTES).shown,
            digest=digest_of(result.text),
            size_bytes=result.size_bytes,
            is_truncated=result.is_truncated,
            is_error=snapshot.product.is_error,
            artifacts=tuple(snapshot.product.artifacts),
        )
    has_failed = snapshot.status is RemoteStatus.FAILED
    task = replace(
        task,
        status_message=_message(snapshot.message),
        product=product,
        error_code=_message(snapshot.error_code or "failed") if has_failed else None,
        error=_message(snapshot.error or "") if has_failed else None,
    )
    return ended(before, task, _ENDS[snapshot.status], rules, moment)


def ended(
    before: BackgroundTask, task: BackgroundTask, status: TaskStatus, rules: TaskRules, moment: Moment
) -> Decided:
    """The task at its end: nothing is asked any more, and it is kept for its retention."""
    task = replace(
        task,
        status=status,
        ended_at=moment.now,
        questions={},
        tracking=Tracking.OK,
        poll_errors=0,
        last_poll_error=None,
        times_forgotten=0,
    )
    return announced(before, task, {Queue.POLL: moment.after(retention_seconds(rules))}, moment)


def kept_until(task: BackgroundTask, rules: TaskRules, moment: Moment) -> datetime | None:
    """Until when an ended task is kept, or looked at again because its conversation is still to be told; None: no longer."""
    assert task.ended_at is not None
    end = task.ended_at + timedelta(seconds=retention_seconds(rules))
    if end > moment.now:
        return end
    is_at_rest = task.notification not in _UNDER_WAY
    return None if is_at_rest else moment.after(_LOOK_AGAIN_SECONDS)


def _open(
    before: BackgroundTask,
    task: BackgroundTask,
    happening: Polled,
    snapshot: Snapshot,
    rules: TaskRules,
    moment: Moment,
) -> Decided:
    asking = snapshot.questions if snapshot.status is RemoteStatus.INPUT_REQUIRED else {}
    task = asked(task, asking, happening.sent, moment.now)
    task = replace(
        task,
        status=standing(task),
        status_message=_message(snapshot.message),
        poll_after_seconds=usable_seconds(snapshot.poll_after_seconds) or task.poll_after_seconds,
        ttl_seconds=usable_seconds(snapshot.ttl_seconds) or task.ttl_seconds,
        tracking=Tracking.OK,
        poll_errors=0,
        last_poll_error=None,
        times_forgotten=0,
    )
    wait = poll_wait_seconds(task.poll_after_seconds, task.ttl_seconds, rules, moment)
    due = {Queue.POLL: moment.after(wait)}
    if _is_cancel_without_effect(task, moment):
        due[Queue.CANCEL] = moment.now
    return announced(before, task, due, moment)


def _is_cancel_without_effect(task: BackgroundTask, moment: Moment) -> bool:
    """Did the other side take a wish to cancel a while ago? One that could not be told is told again by its own queue."""
    taken_at = task.cancel_acknowledged_at
    if taken_at is None or task.cancel_errors:
        return False
    return (moment.now - taken_at).total_seconds() >= CANCEL_AGAIN_SECONDS


def standing(task: BackgroundTask) -> TaskStatus:
    """Where an open task stands that has a handle."""
    if task.cancel_requested_at is not None:
        return TaskStatus.CANCELLING
    return TaskStatus.INPUT_REQUIRED if task.open_questions else TaskStatus.WORKING


def _forgotten(before: BackgroundTask, task: BackgroundTask, rules: TaskRules, moment: Moment) -> Decided:
    times = task.times_forgotten + 1
    if times >= TIMES_FORGOTTEN:
        return ended(before, task, TaskStatus.LOST, rules, moment)
    task = replace(task, times_forgotten=times)
    wait = poll_wait_seconds(
        task.poll_after_seconds, task.ttl_seconds, rules, moment, at_least_seconds=FORGOTTEN_WAIT_SECONDS
    )
    return announced(before, task, {Queue.POLL: moment.after(wait)}, moment)


def _trouble(
    before: BackgroundTask, task: BackgroundTask, trouble: Trouble, rules: TaskRules, moment: Moment
) -> Decided:
    errors = task.poll_errors + 1
    is_degraded = errors >= rules.degraded_after_errors or not trouble.passing
    task = replace(
        task,
        poll_errors=errors,
        last_poll_error=_message(f"{trouble.code}: {trouble.detail} {trouble.next_step}".strip()),
        tracking=Tracking.DEGRADED if is_degraded else task.tracking,
    )
    wait = poll_wait_seconds(
        task.poll_after_seconds,
        task.ttl_seconds,
        rules,
        moment,
        errors=errors,
        at_least_seconds=trouble.retry_after_seconds,
    )
    return announced(before, task, {Queue.POLL: moment.after(wait)}, moment)


def _message(text: str) -> str:
    return bound(text, MESSAGE_BYTES).shown


def _storable(data: Json) -> Json:
    """A value that is no JSON after all is kept as its text."""
    try:
        return stored_form(data)
    except ModelMistake:
        return clean_text(json.dumps(data, default=str))
