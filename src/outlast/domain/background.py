"""Work that goes on elsewhere: what is known of a background task, and how far its conversation has been told of it.

Only the machine in `tasks` makes new ones from old ones. Texts of the other side are untrusted. Remote ids, driver data and
idempotency keys are secrets: they go back to the server they came from, are shown nowhere, and `repr` leaves them out.
"""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import field
from datetime import datetime
from enum import StrEnum
from typing import Final, Literal

from outlast.domain.dataclass import dataclass
from outlast.domain.door import Json
from outlast.domain.notification import Notification

Notify = Literal["agent", "note", "off"]
"""Who tells the conversation: its agent in a run, a note without a model, or nobody."""


class TaskStatus(StrEnum):
    """Where a background task stands.

    `submitting`, `cancelling`, `unknown_outcome` (nobody knows whether the work was begun), `lost` (the other side does not know
    it any more) and `moved` (it is followed from another store) are our words, the rest are the other side's.
    """

    SUBMITTING = "submitting"
    CANCELLING = "cancelling"
    WORKING = "working"
    INPUT_REQUIRED = "input_required"
    COMPLETED = "completed"
    FAILED = "failed"
    CANCELLED = "cancelled"
    UNKNOWN_OUTCOME = "unknown_outcome"
    LOST = "lost"
    MOVED = "moved"


OPEN_STATUSES: Final = frozenset(
    {TaskStatus.SUBMITTING, TaskStatus.CANCELLING, TaskStatus.WORKING, TaskStatus.INPUT_REQUIRED}
)
"""Something is still expected of the other side."""


class Tracking(StrEnum):
    """Can the task be followed? It is degraded while the other side cannot be asked."""

    OK = "ok"
    DEGRADED = "degraded"


@dataclass(frozen=True, slots=True)
class TaskAnswer:
    """What was answered to a question, and by whom."""

    action: Literal["accept", "decline", "cancel"]
    content: dict[str, Json]
    by: str
    at: datetime


@dataclass(frozen=True, slots=True, kw_only=True)
class TaskQuestion:
    """What the other side asks. `is_asked` is whether it was still asking when it was last asked for the task; a question that is
    answered or withdrawn is remembered, so that no person is asked twice. `is_told` is whether an event has told of it.

    `polls_since_sent` counts how often the other side went on asking after the answer was sent.
    """

    kind: Literal["form", "url", "unsupported"]
    message: str
    schema: dict[str, Json] = field(default_factory=dict)
    url: str | None = None
    first_seen_at: datetime
    is_asked: bool = True
    is_told: bool = False
    answer: TaskAnswer | None = None
    sent_at: datetime | None = None
    polls_since_sent: int = 0

    @property
    def is_open(self) -> bool:
        """Does it wait for a person?"""
        return self.is_asked and self.answer is None


@dataclass(frozen=True, slots=True)
class TaskProduct:
    """What a task came to. The result is kept beside the row under `digest`; `preview` is its beginning, or all of it."""

    preview: str
    digest: str
    size_bytes: int
    is_truncated: bool
    is_error: bool
    artifacts: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class BackgroundTask:
    """A background task, complete but for its result.

    `errors` are counted in a row; an error text is for operators. Versions count events: the task is undelivered while
    `event_version` is above `notified_version`. `dispatch_attempt` counts the runs that were to tell of it, and never begins anew.
    `after_hook` is the hook that sees what the task came to before its conversation does, `judged_event` the fingerprint of the event
    it has seen, `veto` why it refused that. `moved` is the row as it was when it was moved to another store.
    """

    task_id: str
    user_id: str
    thread_id: str
    run_id: str
    call_id: str
    name: str
    tool: str
    created_at: datetime
    updated_at: datetime
    ended_at: datetime | None = None

    driver: str
    server: str
    principal: str
    protocol_version: str = ""
    remote_id: str | None = field(default=None, repr=False)
    driver_data: dict[str, Json] = field(default_factory=dict, repr=False)
    idempotency_key: str | None = field(default=None, repr=False)

    status: TaskStatus = TaskStatus.SUBMITTING
    status_message: str = ""
    product: TaskProduct | None = None
    error_code: str | None = None
    error: str | None = None
    questions: dict[str, TaskQuestion] = field(default_factory=dict)

    tracking: Tracking = Tracking.OK
    poll_after_seconds: float | None = None
    ttl_seconds: float | None = None
    poll_errors: int = 0
    last_poll_error: str | None = None
    times_forgotten: int = 0

    cancel_requested_at: datetime | None = None
    cancel_requested_by: str | None = None
    cancel_acknowledged_at: datetime | None = None
    cancel_errors: int = 0
    last_cancel_error: str | None = None

    after_hook: str | None = None
    judged_event: str | None = None
    veto: str | None = None

    notify: Notify = "agent"
    notification: Notification = Notification.NONE
    is_thread_gone: bool = False
    event: dict[str, Json] | None = None
    event_fingerprint: str | None = None
    event_version: int = 0
    notified_version: int = 0
    dispatch_version: int = 0
    dispatch_attempt: int = 0
    dispatch_event: dict[str, Json] | None = None
    notification_run_id: str | None = None
    notification_failures: int = 0
    notification_error: str | None = None

    moved: dict[str, Json] | None = field(default=None, repr=False)

    @property
    def is_open(self) -> bool:
        """Is something still expected of the other side?"""
        return self.status in OPEN_STATUSES

    @property
    def is_undelivered(self) -> bool:
        """Is there an event that the conversation has not been told?"""
        return self.event_version > self.notified_version

    @property
    def has_outcome(self) -> bool:
        """Did the other side say what the work came to, a result or an error?"""
        return self.status in (TaskStatus.COMPLETED, TaskStatus.FAILED)

    @property
    def is_judged(self) -> bool:
        """Has the hook seen what the task came to, where there is one?"""
        return self.after_hook is None or self.judged_event == self.event_fingerprint

    @property
    def is_withheld(self) -> bool:
        """Is what it came to kept from its conversation, since the hook refused it or has not seen it yet?"""
        return self.has_outcome and (self.veto is not None or not self.is_judged)

    @property
    def open_questions(self) -> dict[str, TaskQuestion]:
        """The questions that wait for a person, by key."""
        return {key: question for key, question in self.questions.items() if question.is_open}

    @property
    def dispatch_key(self) -> str:
        """The idempotency key of the run that tells of this event in this attempt."""
        return f"task:{self.task_id}:{self.dispatch_version}:{self.dispatch_attempt}"


def free_name(wanted: str, taken: Collection[str]) -> str:
    """`wanted`, or `wanted-2` and so on, as none of `taken` without regard to case."""
    known = {name.casefold() for name in taken}
    name, number = wanted, 1
    while name.casefold() in known:
        number += 1
        name = f"{wanted}-{number}"
    return name
