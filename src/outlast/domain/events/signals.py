"""Signals: what people and other runs ask of a run."""

from __future__ import annotations

from outlast.domain.dataclass import dataclass
from outlast.domain.door import Json
from outlast.domain.events.event import Event


@dataclass(frozen=True, slots=True)
class PauseRequested(Event):
    """Start no new call; calls in flight may finish."""

    by: str


@dataclass(frozen=True, slots=True)
class ResumeRequested(Event):
    """Go on from where the run was paused or failed."""

    by: str


@dataclass(frozen=True, slots=True)
class CancelRequested(Event):
    """End the run now; calls in flight are killed."""

    by: str
    reason: str = ""


@dataclass(frozen=True, slots=True)
class Said(Event):
    """A person said something to the run. What is `pinned` is shown in every conversation, also in those opened later."""

    by: str
    text: str
    pinned: bool = False


@dataclass(frozen=True, slots=True)
class EndAwaited(Event):
    """Something waits for this run to end: the entry `item` of `queue`, which is due from then on."""

    queue: str
    item: str


@dataclass(frozen=True, slots=True)
class TaskReported(Event):
    """What became of a background task of the thread, told to a run that stands still or waits for it.

    `is_open` says that more is to come; `material` is untrusted text from the other side.
    """

    task: str
    name: str
    status: str
    is_open: bool
    material: str = ""


@dataclass(frozen=True, slots=True)
class MessageSent(Event):
    """This run told another run of its thread something; `message` is the same at both ends."""

    message: str
    to: str
    text: str


@dataclass(frozen=True, slots=True)
class MessageReceived(Event):
    """Another run of the thread told this one something; `message` is the same at both ends."""

    message: str
    sender: str
    text: str


@dataclass(frozen=True, slots=True)
class Approved(Event):
    """A person agreed to a ticket, perhaps with other arguments."""

    by: str
    ticket: str
    edit: dict[str, Json] | None = None


@dataclass(frozen=True, slots=True)
class Rejected(Event):
    """A person refused a ticket."""

    by: str
    ticket: str
    comment: str = ""


@dataclass(frozen=True, slots=True)
class Answered(Event):
    """A person answered a question."""

    by: str
    question: str
    text: str


@dataclass(frozen=True, slots=True)
class LimitsChanged(Event):
    """A person changed limits: the new values by name."""

    by: str
    changes: dict[str, Json]
