"""How far a conversation has been told of the newest event of its background task, and the one table of what may follow."""

from __future__ import annotations

from enum import StrEnum
from typing import Final


class Notification(StrEnum):
    """Where the notification of a background task stands: when; what happens next.

    none: nothing is to be told; the first event makes it pending.
    pending: an event is to be told, now or when the conversation's run has ended; a worker claims it.
    claimed: a worker holds the lease and looks at the conversation; it starts a run, tells a run that waits, or gives the lease back.
    dispatched: a run tells it; the last commit of that run says how it ended.
    retry: the run failed, or could not be started; it is claimed again after a growing wait.
    delivered: the newest event was told; a newer event makes it pending.
    dead_letter: it failed too often, or the conversation is gone; a person, or a newer event, makes it pending.
    """

    NONE = "none"
    PENDING = "pending"
    CLAIMED = "claimed"
    DISPATCHED = "dispatched"
    RETRY = "retry"
    DELIVERED = "delivered"
    DEAD_LETTER = "dead_letter"


NOTIFICATION_TRANSITIONS: Final[dict[Notification, frozenset[Notification]]] = {
    Notification.NONE: frozenset({Notification.PENDING}),
    Notification.PENDING: frozenset({Notification.CLAIMED, Notification.NONE}),
    Notification.CLAIMED: frozenset(
        {
            Notification.PENDING,
            Notification.DISPATCHED,
            Notification.RETRY,
            Notification.DELIVERED,
            Notification.DEAD_LETTER,
            Notification.NONE,
        }
    ),
    Notification.DISPATCHED: frozenset(
        {
            Notification.PENDING,
            Notification.RETRY,
            Notification.DELIVERED,
            Notification.DEAD_LETTER,
            Notification.NONE,
        }
    ),
    Notification.RETRY: frozenset({Notification.CLAIMED, Notification.NONE}),
    Notification.DELIVERED: frozenset({Notification.PENDING, Notification.NONE}),
    Notification.DEAD_LETTER: frozenset({Notification.PENDING, Notification.NONE}),
}
"""From each state, the states that may follow. Only the owner's deletion of the conversation leads back to `none`."""
