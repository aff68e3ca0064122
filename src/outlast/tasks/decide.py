"""The machine of background tasks: from a task and what just happened to the task as it is from now on, and when what is due.

Pure: the time and the chance that spreads waits are handed in, so that tests and the simulation drive the very code that runs.
"""

from __future__ import annotations

from typing import assert_never

from outlast.domain.background import BackgroundTask
from outlast.tasks import notifying, polling, wishes
from outlast.tasks.happenings import (
    Answered,
    CancelAsked,
    CancelTried,
    Decided,
    Declined,
    Dispatched,
    DispatchFailed,
    Happening,
    NotificationClaimed,
    Polled,
    Redriven,
    RunEnded,
    Submitted,
    SubmitUnknown,
    ThreadBusy,
    ThreadGone,
    Told,
)
from outlast.tasks.rules import Moment, TaskRules


def decide(  # noqa: C901 - one case a happening
    task: BackgroundTask, happening: Happening, rules: TaskRules, moment: Moment
) -> Decided | Declined:
    """What comes of a happening."""
    match happening:
        case Submitted():
            return wishes.submitted(task, happening, rules, moment)
        case SubmitUnknown():
            return wishes.submit_unknown(task, rules, moment)
        case Polled():
            return polling.polled(task, happening, rules, moment)
        case Answered():
            return wishes.answered(task, happening, moment)
        case CancelAsked():
            return wishes.cancel_asked(task, happening, moment)
        case CancelTried():
            return wishes.cancel_tried(task, happening, rules, moment)
        case NotificationClaimed():
            return notifying.claimed(task)
        case Dispatched():
            return notifying.dispatched(task, happening)
        case Told():
            return notifying.told(task, moment)
        case ThreadBusy():
            return notifying.busy(task, moment)
        case ThreadGone():
            return notifying.gone(task, happening)
        case DispatchFailed():
            return notifying.dispatch_failed(task, happening, rules, moment)
        case RunEnded():
            return notifying.run_ended(task, happening, rules, moment)
        case Redriven():
            return notifying.redriven(task, moment)
        case _:
            assert_never(happening)
