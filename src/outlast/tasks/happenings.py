"""What may happen to a background task, and what comes of it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import field
from datetime import datetime
from enum import StrEnum

from outlast.domain.background import BackgroundTask
from outlast.domain.dataclass import dataclass
from outlast.ports.background_driver import Acknowledged, Answer, Forgotten, Handle, Snapshot, Trouble


class Queue(StrEnum):
    """The queues of a background task. The item of each is the task's id, the label its server."""

    POLL = "task_poll"
    CANCEL = "task_cancel"
    NOTIFY = "task_notify"
    ALERT = "task_alert"


@dataclass(frozen=True, slots=True)
class Submitted:
    """The other side gave a handle, at once or after all."""

    handle: Handle


@dataclass(frozen=True, slots=True)
class SubmitUnknown:
    """The connection died before a handle came, or none came in time."""


@dataclass(frozen=True, slots=True)
class Polled:
    """The other side was asked how the task stands. `sent` are the keys of the questions whose answers it took just before."""

    reply: Snapshot | Forgotten | Trouble
    sent: frozenset[str] = frozenset()


@dataclass(frozen=True, slots=True)
class Answered:
    """A person answered a question; the answer fits the question's schema."""

    key: str
    answer: Answer
    by: str


@dataclass(frozen=True, slots=True)
class CancelAsked:
    """Somebody wants the task cancelled."""

    by: str


@dataclass(frozen=True, slots=True)
class CancelTried:
    """The other side was asked to cancel."""

    reply: Acknowledged | Forgotten | Trouble


@dataclass(frozen=True, slots=True)
class NotificationClaimed:
    """A worker holds the lease on the notification and takes the newest event."""


@dataclass(frozen=True, slots=True)
class Dispatched:
    """A run was started to tell of the event that was taken."""

    run_id: str


@dataclass(frozen=True, slots=True)
class Told:
    """The event that was taken is in the conversation without a run of its own: a note, or the word to a run that waits."""


@dataclass(frozen=True, slots=True)
class ThreadBusy:
    """A run of the conversation is at work."""


@dataclass(frozen=True, slots=True)
class ThreadGone:
    """There is no such conversation any more. `by_owner` is whether its owner deleted it just now, and wants to hear no more."""

    by_owner: bool = False


@dataclass(frozen=True, slots=True)
class DispatchFailed:
    """No run could be started for the event that was taken."""

    error: str


@dataclass(frozen=True, slots=True)
class RunEnded:
    """The run that was to tell of `version` ended; `error` says why it did not."""

    run_id: str
    version: int
    error: str | None = None


@dataclass(frozen=True, slots=True)
class Redriven:
    """A person wants the newest event told again."""


Happening = (
    Submitted
    | SubmitUnknown
    | Polled
    | Answered
    | CancelAsked
    | CancelTried
    | NotificationClaimed
    | Dispatched
    | Told
    | ThreadBusy
    | ThreadGone
    | DispatchFailed
    | RunEnded
    | Redriven
)


@dataclass(frozen=True, slots=True)
class Decided:
    """The task as it is from now on, when which queue is due, and whether there is a new event to tell.

    A queue that is not named is not due: whoever holds its lease gives it back without a time, for others nothing changes.
    """

    task: BackgroundTask
    due: Mapping[Queue, datetime] = field(default_factory=dict)
    has_event: bool = False


class Why(StrEnum):
    """Why a happening is not one for this task as it stands."""

    ENDED = "ended"
    NO_QUESTION = "no_question"
    NOT_CLAIMED = "not_claimed"
    NOTHING_DUE = "nothing_due"
    NOT_DISPATCHED = "not_dispatched"
    NO_DEAD_LETTER = "no_dead_letter"
    THREAD_GONE = "thread_gone"
    HAS_HANDLE = "has_handle"
    NO_HANDLE = "no_handle"


@dataclass(frozen=True, slots=True)
class Declined:
    """Nothing changes, and why."""

    why: Why
