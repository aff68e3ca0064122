"""How a conversation is told of a task, rule by rule."""

from collections.abc import Sequence
from dataclasses import replace

import pytest

from outlast.domain.background import BackgroundTask
from outlast.domain.notification import NOTIFICATION_TRANSITIONS, Notification
from outlast.tasks.decide import decide
from outlast.tasks.happenings import (
    Decided,
    Declined,
    Dispatched,
    DispatchFailed,
    Happening,
    NotificationClaimed,
    Queue,
    Redriven,
    RunEnded,
    ThreadBusy,
    ThreadGone,
    Told,
    Why,
)
from outlast.tasks.rules import BUSY_WAIT_SECONDS
from tests.law import law
from tests.unit.tasks.props import (
    QUESTION,
    RULES,
    START,
    after,
    asking,
    at,
    completed,
    task,
    trouble,
)


def declined(before: BackgroundTask, happening: Happening) -> Why:
    found = decide(before, happening, RULES, at(9))
    assert isinstance(found, Declined)
    return found.why


def due_in(decided: Decided, queue: Queue, moment: float) -> float:
    return (decided.due[queue] - START).total_seconds() - moment


def test_an_event_is_taken_and_told() -> None:
    found = after(task(), completed(), NotificationClaimed(), Dispatched("r-2"))
    assert found.task.dispatch_key == "task:k-1:1:1"
    assert found.due == {}
    told = after(found.task, RunEnded("r-2", 1))
    assert (told.task.notification, told.task.is_undelivered) == (Notification.DELIVERED, False)
    assert declined(told.task, RunEnded("r-2", 1)) is Why.NOT_DISPATCHED
    assert declined(told.task, NotificationClaimed()) is Why.NOTHING_DUE


@pytest.mark.parametrize("ended", [RunEnded("r-3", 1), RunEnded("r-2", 2), RunEnded("r-3", 2, "no")])
def test_only_the_run_and_version_that_were_dispatched_count(ended: RunEnded) -> None:
    found = after(task(), completed(), NotificationClaimed(), Dispatched("r-2"))
    assert declined(found.task, ended) is Why.NOT_DISPATCHED


@law("TASK-4.d", "TASK-4.e", "TASK-4.f")
def test_five_failures_make_a_dead_letter_that_can_be_revived() -> None:
    found, keys = after(task(), completed()), []
    for attempt in range(1, 6):
        dispatched = after(found.task, NotificationClaimed(), Dispatched(f"r-{attempt}"))
        keys.append(dispatched.task.dispatch_key)
        found = after(dispatched.task, RunEnded(f"r-{attempt}", 1, "model_auth: no key"), seconds=0)
        if attempt < 5:
            assert due_in(found, Queue.NOTIFY, 0) == pytest.approx(5 * 2**attempt)
    assert found.task.notification is Notification.DEAD_LETTER
    assert declined(found.task, NotificationClaimed()) is Why.NOTHING_DUE
    revived = after(found.task, Redriven(), seconds=4)
    assert revived.due == {Queue.NOTIFY: at(4).now}
    assert revived.task.notification_failures == 0
    keys.append(after(revived.task, NotificationClaimed(), Dispatched("r-6")).task.dispatch_key)
    assert len(set(keys)) == 6
    assert declined(revived.task, Redriven()) is Why.NO_DEAD_LETTER


def test_a_newer_event_revives_a_dead_letter() -> None:
    rules = replace(RULES, max_attempts=1)
    found = after(task(), *[trouble()] * 3, NotificationClaimed(), DispatchFailed("no"), rules=rules)
    assert found.task.notification is Notification.DEAD_LETTER
    newer = after(found.task, completed(), rules=rules)
    assert (newer.task.notification, newer.task.notification_failures) == (Notification.PENDING, 0)


def test_a_newer_event_while_one_is_told_is_told_after_it() -> None:
    found = after(task(), asking(k=QUESTION), NotificationClaimed(), Dispatched("r-2"), completed())
    assert found.task.notification is Notification.DISPATCHED
    assert Queue.NOTIFY not in found.due
    next_one = after(found.task, RunEnded("r-2", 1), seconds=9)
    assert next_one.task.notification is Notification.PENDING
    assert next_one.due == {Queue.NOTIFY: at(9).now}
    assert after(next_one.task, NotificationClaimed(), Dispatched("r-3")).task.dispatch_version == 2


def test_the_last_failure_of_an_old_event_does_not_take_the_newer_one_with_it() -> None:
    rules = replace(RULES, max_attempts=1)
    happened: list[Happening] = [
        asking(k=QUESTION),
        NotificationClaimed(),
        Dispatched("r-2"),
        completed(),
        RunEnded("r-2", 1, "no"),
    ]
    found = after(task(), *happened, rules=rules)
    assert (found.task.notification, found.task.notification_failures) == (Notification.PENDING, 0)


@law("TASK-4.b")
def test_a_busy_conversation_is_no_failure() -> None:
    found = after(task(), completed(), NotificationClaimed(), ThreadBusy())
    assert (found.task.notification, found.task.notification_failures) == (Notification.PENDING, 0)
    assert due_in(found, Queue.NOTIFY, 3) == BUSY_WAIT_SECONDS


@law("TASK-4.c")
def test_a_conversation_that_is_gone_is_told_nothing_for_ever() -> None:
    found = after(task(), asking(k=QUESTION), NotificationClaimed(), ThreadGone()).task
    assert found.notification is Notification.DEAD_LETTER
    later = after(found, completed())
    assert later.task.notification is Notification.DEAD_LETTER
    assert Queue.NOTIFY not in later.due
    assert declined(found, Redriven()) is Why.THREAD_GONE


@pytest.mark.parametrize(
    "before", [[], [completed()], [completed(), NotificationClaimed(), Dispatched("r-2")]]
)
def test_who_deleted_the_conversation_hears_no_more_and_leaves_no_dead_letter(
    before: Sequence[Happening],
) -> None:
    found = after(after(task(), *before).task, ThreadGone(by_owner=True)).task
    assert (found.notification, found.is_undelivered) == (Notification.NONE, False)
    if found.is_open:
        later = after(found, completed())
        assert (later.task.notification, later.task.is_undelivered) == (Notification.NONE, False)


def test_who_wants_to_hear_nothing_is_told_nothing() -> None:
    found = after(task(notify="off"), completed())
    assert found.has_event
    assert (found.task.notification, found.task.is_undelivered, found.task.event_version) == (
        Notification.NONE,
        False,
        1,
    )
    assert Queue.NOTIFY not in found.due


@pytest.mark.parametrize(
    "happening", [Dispatched("r"), Told(), ThreadBusy(), ThreadGone(), DispatchFailed("no"), RunEnded("r", 0)]
)
def test_what_is_not_claimed_is_not_told(happening: Happening) -> None:
    assert declined(after(task(), completed()).task, happening) in {Why.NOT_CLAIMED, Why.NOT_DISPATCHED}


OWNER = ThreadGone(by_owner=True)
CLAIM = NotificationClaimed()
RUN = Dispatched("r-2")
OUTAGE = [trouble(), trouble(), trouble()]
ONCE = replace(RULES, max_attempts=1)
PATHS: list[list[Happening]] = [
    [completed(), OWNER],
    [completed(), CLAIM, OWNER],
    [completed(), CLAIM, ThreadBusy()],
    [completed(), CLAIM, DispatchFailed("no"), CLAIM],
    [completed(), CLAIM, DispatchFailed("no"), OWNER],
    [completed(), CLAIM, ThreadGone(), OWNER],
    [completed(), CLAIM, Told(), OWNER],
    [*OUTAGE, CLAIM, Told(), completed()],
    [completed(), CLAIM, RUN, OWNER],
    [completed(), CLAIM, RUN, RunEnded("r-2", 1)],
    [completed(), CLAIM, RUN, RunEnded("r-2", 1, "no")],
    [*OUTAGE, CLAIM, RUN, completed(), RunEnded("r-2", 1)],
]
LAST_TRY: list[Happening] = [completed(), CLAIM, RUN, RunEnded("r-2", 1, "no"), Redriven()]


def test_every_arrow_of_the_table_is_walked_and_no_other() -> None:
    walked = set()
    for path, rules in [*((path, RULES) for path in PATHS), (LAST_TRY, ONCE)]:
        now = task()
        for number, happening in enumerate(path):
            found = after(now, happening, rules=rules, seconds=number).task
            walked.add((now.notification, found.notification))
            now = found
    table = {(source, target) for source, targets in NOTIFICATION_TRANSITIONS.items() for target in targets}
    assert {arrow for arrow in walked if arrow[0] is not arrow[1]} == table
