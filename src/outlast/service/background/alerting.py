"""Alerts: operators are told of dead letters and of tasks that cannot be followed, until somebody took the word."""

from __future__ import annotations

import logging
from collections.abc import Sequence
from typing import Any, Final

from outlast.domain.background import BackgroundTask, Tracking
from outlast.domain.notification import Notification
from outlast.ports.alarm import Alarm
from outlast.ports.queue import Release
from outlast.ports.store import Store
from outlast.service.background.public import public_task
from outlast.tasks.acts import Held
from outlast.tasks.desk import Kept

DEADLINE_SECONDS: Final = 10.0

AGAIN_SECONDS: Final = 60.0
"""How long until an alert that nobody took is sent again."""

_log = logging.getLogger("outlast.tasks")


class Alerting:
    """The act on alerts. Each says how its task stands when it is sent; of one that is well again nobody is told."""

    def __init__(self, store: Store, alarms: Sequence[Alarm]) -> None:
        self._store = store
        self._alarms = alarms

    async def __call__(self, held: Held, kept: Kept) -> None:
        """Tell of one task, in the log and wherever alerts go."""
        told, again = alert_of(kept.task), False
        if told is not None:
            _log.warning("%s: background task %s (%s)", told["alert"], kept.task.name, kept.task.task_id)
            for alarm in self._alarms:
                trouble = await alarm.send(told, DEADLINE_SECONDS)
                if trouble is not None:
                    again = True
                    _log.warning("an alert could not be sent: %s", trouble)
        claim = held.claim
        due_at = held.moment().after(AGAIN_SECONDS) if again else None
        await self._store.commit([Release(claim.queue, claim.item, claim.generation, due_at)])


def alert_of(task: BackgroundTask) -> dict[str, Any] | None:
    """What operators are told of a task as it stands; None when nothing is wrong with it."""
    if task.notification is Notification.DEAD_LETTER:
        next_step = f"See `outlast tasks show {task.task_id}`, then `outlast tasks redrive {task.task_id}`."
        return {"alert": "dead_letter", **_about(task), "next": next_step}
    if task.tracking is Tracking.DEGRADED:
        next_step = f"See `outlast tasks show {task.task_id}`; its server cannot be asked how it stands."
        return {"alert": "degraded", **_about(task), "next": next_step}
    return None


def _about(task: BackgroundTask) -> dict[str, Any]:
    return {"task": public_task(task), "user_id": task.user_id, "thread_id": task.thread_id}
