"""Events of asking people."""

from __future__ import annotations

from datetime import datetime

from outlast.domain.dataclass import dataclass
from outlast.domain.door import Json
from outlast.domain.events.event import Event


@dataclass(frozen=True, slots=True, kw_only=True)
class ApprovalAsked(Event):
    """A ticket is open: `subject` may only go on when a person agrees to what is `shown`, of which `digest` is the digest."""

    ticket: str
    subject: str
    digest: str
    shown: Json
    expires_at: datetime | None = None


@dataclass(frozen=True, slots=True)
class TicketExpired(Event):
    """Nobody decided in time."""

    ticket: str


@dataclass(frozen=True, slots=True)
class TicketVoided(Event):
    """What the ticket was about is gone or has changed."""

    ticket: str
    reason: str


@dataclass(frozen=True, slots=True)
class QuestionAsked(Event):
    """A person is asked something; `call` is the call that the answer becomes the result of."""

    question: str
    text: str
    call: str | None = None
    choices: tuple[str, ...] = ()
