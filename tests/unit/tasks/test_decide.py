"""The machine of background tasks, rule by rule."""

from dataclasses import replace
from datetime import timedelta
from typing import Any

import pytest

from outlast.domain.background import BackgroundTask, TaskStatus, Tracking
from outlast.domain.notification import Notification
from outlast.ports.background_driver import Acknowledged, Answer, Forgotten, Handle, Question, Trouble
from outlast.tasks.asking import answers_to_send
from outlast.tasks.decide import decide
from outlast.tasks.happenings import (
    Answered,
    CancelAsked,
    CancelTried,
    Decided,
    Declined,
    Happening,
    NotificationClaimed,
    Queue,
    Submitted,
    SubmitUnknown,
    Told,
    Why,
)
from outlast.tasks.polling import kept_until, result_of
from outlast.tasks.rules import poll_wait_seconds, retry_wait_seconds
from outlast.tasks.wishes import begun, handle_of
from tests.law import law
from tests.unit.tasks.props import (
    FORGOTTEN,
    QUESTION,
    RULES,
    START,
    after,
    asking,
    at,
    completed,
    failed,
    task,
    trouble,
    working,
)

HANDLE = Handle(
    driver="mcp", server="renderer", principal="p", protocol_version="2", remote_id="far", data={"s": 1}
)
TOLD: list[Happening] = [NotificationClaimed(), Told()]


def declined(before: BackgroundTask, happening: Happening) -> Why:
    found = decide(before, happening, RULES, at(9))
    assert isinstance(found, Declined)
    return found.why


def due_in(decided: Decided, queue: Queue, moment: float) -> float:
    return (decided.due[queue] - START).total_seconds() - moment


def test_a_task_without_a_handle_must_have_one_in_time() -> None:
    new = task(status=TaskStatus.SUBMITTING, remote_id=None)
    assert begun(new, RULES, at(0), submit_seconds=60).due == {Queue.POLL: START + timedelta(seconds=60)}
    unknown = after(new, SubmitUnknown())
    assert (unknown.task.status, unknown.has_event, unknown.task.is_open) == (
        TaskStatus.UNKNOWN_OUTCOME,
        True,
        False,
    )
    late = after(unknown.task, Submitted(HANDLE))
    assert (late.task.status, late.task.ended_at) == (TaskStatus.WORKING, None)
    assert handle_of(late.task).remote_id == "far"
    assert declined(late.task, SubmitUnknown()) is Why.HAS_HANDLE
    assert declined(late.task, Submitted(HANDLE)) is Why.HAS_HANDLE


def test_a_task_cancelled_before_its_handle_is_cancelled_as_soon_as_it_has_one() -> None:
    new = task(status=TaskStatus.SUBMITTING, remote_id=None)
    wished = after(new, CancelAsked("ann"))
    assert wished.due == {}
    found = after(wished.task, Submitted(HANDLE), seconds=5)
    assert found.task.status is TaskStatus.CANCELLING
    assert due_in(found, Queue.CANCEL, 5) == 0


@law("TASK-3.b")
def test_polls_that_find_no_change_change_nothing() -> None:
    first = after(task(), working(message="at it")).task
    for number in range(5):
        again = after(first, working(message="at it"), seconds=10 + number)
        assert again.task == first
        assert not again.has_event


def test_progress_is_kept_and_is_no_event() -> None:
    found = after(task(), working(message="half"), working(message="more"))
    assert (found.task.status_message, found.task.event_version) == ("more", 0)
    assert after(found.task, trouble()).task.updated_at == START
    assert after(found.task, asking(k=QUESTION), seconds=8).task.updated_at == at(8).now


@law("TASK-3.a")
@pytest.mark.parametrize("end", [completed(), failed(), FORGOTTEN])
def test_an_end_is_one_event_and_the_first_end_holds(end: Happening) -> None:
    found = after(task(times_forgotten=2), end)
    assert found.has_event
    assert found.task.event_version == 1
    assert found.task.notification is Notification.PENDING
    assert found.due[Queue.NOTIFY] == at(1).now
    for later in (completed("else"), failed(), FORGOTTEN, trouble(), working()):
        assert declined(found.task, later) is Why.ENDED


def test_only_the_third_time_it_is_unknown_a_task_is_lost() -> None:
    found = after(task(), FORGOTTEN, FORGOTTEN)
    assert found.task.status is TaskStatus.WORKING
    assert due_in(found, Queue.POLL, 2) >= 9
    assert after(found.task, working()).task.times_forgotten == 0
    assert after(found.task, FORGOTTEN).task.status is TaskStatus.LOST


@law("TASK-3.a")
def test_an_outage_is_one_event_and_so_is_its_end() -> None:
    texts = [trouble(f"Connection {number} refused") for number in range(20)]
    found = after(task(), *texts)
    assert (found.task.event_version, found.task.tracking) == (1, Tracking.DEGRADED)
    assert found.task.poll_errors == 20
    recovered = after(found.task, working())
    assert (recovered.task.event_version, recovered.task.tracking) == (2, Tracking.OK)
    assert after(task(), *texts[:2], working(), *texts[:2]).task.event_version == 0


def test_trouble_that_needs_an_operator_is_told_at_once() -> None:
    assert after(task(), trouble(passing=False)).task.tracking is Tracking.DEGRADED


def test_a_task_that_ends_while_degraded_is_one_event() -> None:
    found = after(task(), *[trouble()] * 3, completed())
    assert (found.task.event_version, found.task.tracking) == (2, Tracking.OK)


def waits(errors: int = 0, asked: float | None = None, ttl: float | None = None, **more: Any) -> list[float]:
    return [
        poll_wait_seconds(asked, ttl, RULES, at(0, chance), errors=errors, **more)
        for chance in (0.0, 0.5, 1.0)
    ]


def test_waits_keep_their_bounds() -> None:
    assert waits() == pytest.approx([4.5, 5, 5.5])
    assert waits(asked=20) == pytest.approx([18, 20, 22])
    assert waits(asked=1e9) == pytest.approx([270, 300, 300])
    assert waits(errors=3) == pytest.approx([36, 40, 44])
    assert waits(errors=10**9) == pytest.approx([270, 300, 300])
    assert waits(at_least_seconds=100) == pytest.approx([90, 100, 110])
    assert max(waits(ttl=9)) < 3
    assert waits(ttl=0.001) == [0.05] * 3
    for nonsense in (float("nan"), float("inf"), -1.0, 0.0):
        assert waits(asked=nonsense, ttl=nonsense) == waits()
    quick = replace(RULES, poll_interval_seconds=0.05)
    assert poll_wait_seconds(None, None, quick, at(0, 0.0)) == 0.05
    assert [round(retry_wait_seconds(n, RULES, at(0))) for n in range(1, 8)] == [
        10,
        20,
        40,
        80,
        160,
        300,
        300,
    ]


def test_a_passed_ttl_is_not_the_end() -> None:
    found = after(task(ttl_seconds=10.0), working(ttl_seconds=10.0), seconds=100)
    assert found.task.status is TaskStatus.WORKING
    assert due_in(found, Queue.POLL, 100) < 10 / 3


def test_a_question_is_told_once_and_not_again_because_polling_failed() -> None:
    found = after(task(), asking(k=QUESTION))
    assert (found.task.status, found.task.event_version) == (TaskStatus.INPUT_REQUIRED, 1)
    found = after(
        found.task, asking(k=QUESTION), trouble(), asking(k=QUESTION), working(), asking(k=QUESTION)
    )
    assert found.task.event_version == 1
    found = after(found.task, *[trouble()] * 3, asking(k=QUESTION))
    assert found.task.event_version == 3, "an outage and its end, and no question anew"
    other = after(found.task, asking(k=QUESTION, more=Question("form", "And which size?")))
    assert other.task.event_version == 4


def test_a_question_that_is_withdrawn_waits_for_nobody() -> None:
    found = after(task(), asking(k=QUESTION), working())
    assert (found.task.status, found.task.open_questions) == (TaskStatus.WORKING, {})
    assert declined(found.task, Answered("k", Answer("accept"), "ann")) is Why.NO_QUESTION


@law("TASK-6.d")
def test_an_answer_is_stored_sent_and_sent_again_from_the_store() -> None:
    answer = Answer("accept", {"colour": "red"})
    found = after(task(), asking(k=QUESTION), Answered("k", answer, "ann"), seconds=7)
    assert found.task.status is TaskStatus.WORKING
    assert found.due[Queue.POLL] == at(8).now
    assert answers_to_send(found.task) == {"k": answer}
    assert declined(found.task, Answered("k", answer, "bob")) is Why.NO_QUESTION
    found = after(found.task, asking(frozenset({"k"}), k=QUESTION))
    for _ in range(3):
        assert answers_to_send(found.task) == {}
        found = after(found.task, asking(k=QUESTION))
    assert answers_to_send(found.task) == {"k": answer}
    assert found.task.event_version == 1, "the person is not asked again"
    found = after(found.task, asking(frozenset({"k"}), k=QUESTION), working())
    assert answers_to_send(found.task) == {}


def test_an_answer_that_was_not_taken_is_sent_at_the_next_poll() -> None:
    found = after(task(), asking(k=QUESTION), Answered("k", Answer("decline"), "ann"), trouble())
    assert answers_to_send(found.task) == {"k": Answer("decline")}


def test_what_no_person_can_answer_is_declined_without_asking() -> None:
    found = after(task(), asking(k=Question("unsupported", "Sample this")))
    assert (found.task.event_version, found.task.status) == (0, TaskStatus.WORKING)
    assert answers_to_send(found.task) == {"k": Answer("decline")}
    huge = Question("form", "Fill in", {"properties": {f"f{n}": {"type": "string"} for n in range(5000)}})
    assert answers_to_send(after(task(), asking(k=huge)).task) == {"k": Answer("decline")}


def test_many_questions_are_bounded() -> None:
    many = {f"k{n}": QUESTION for n in range(5_000)}
    found = after(task(), asking(**many), asking(), asking(**{f"l{n}": QUESTION for n in range(500)}))
    assert len(found.task.questions) <= 64


@law("TASK-5.a")
def test_a_wish_to_cancel_fences_what_is_under_way_and_stays() -> None:
    wished = after(task(), CancelAsked("ann"))
    assert wished.task.status is TaskStatus.CANCELLING
    assert wished.due == {Queue.CANCEL: at(1).now}
    assert after(wished.task, working()).task.status is TaskStatus.CANCELLING
    assert after(wished.task, asking(k=QUESTION)).task.event_version == 0
    again = after(wished.task, CancelAsked("bob"), seconds=50)
    assert again.task == wished.task, "who asked first is remembered"
    assert again.due == {Queue.CANCEL: at(50).now}
    assert after(wished.task, completed()).task.status is TaskStatus.COMPLETED
    assert declined(after(task(), completed()).task, CancelAsked("ann")) is Why.ENDED


def test_a_cancel_that_was_taken_is_followed_by_a_poll_and_one_that_was_not_is_tried_again() -> None:
    wished = after(task(), CancelAsked("ann")).task
    taken = after(wished, CancelTried(Acknowledged()), seconds=3)
    assert taken.due == {Queue.POLL: at(3).now}
    assert after(wished, CancelTried(Forgotten()), seconds=3).due == {Queue.POLL: at(3).now}
    assert Queue.CANCEL not in after(taken.task, working(), seconds=60).due
    assert after(taken.task, working(), seconds=63).due[Queue.CANCEL] == at(63).now
    failing = Trouble("refused", "no", "", passing=False)
    found, lengths = wished, []
    for _ in range(4):
        tried = after(found, CancelTried(failing), seconds=0)
        lengths.append(due_in(tried, Queue.CANCEL, 0))
        found = tried.task
    assert lengths == pytest.approx([10, 20, 40, 80])
    assert Queue.CANCEL not in after(found, working(), seconds=500).due
    assert after(found, completed()).task.event_version == 1
    assert declined(after(found, completed()).task, CancelTried(Acknowledged())) is Why.ENDED


def test_an_ended_task_is_kept_for_its_retention_and_until_it_is_told() -> None:
    found = after(task(), completed(), seconds=0).task
    month = 30 * 86_400
    assert kept_until(found, RULES, at(5)) == START + timedelta(days=30)
    assert kept_until(found, RULES, at(month)) == at(month + 3600).now
    assert kept_until(after(found, *TOLD).task, RULES, at(month)) is None


def test_hostile_texts_are_bounded_and_clean() -> None:
    found = after(task(), completed("x" * 3_000_000, message="\ud800" + "y" * 100_000))
    assert found.task.product is not None
    assert found.task.product.is_truncated
    assert len(found.task.product.preview) <= 2_000
    assert len(found.task.status_message) <= 4_000
    assert "\ud800" not in found.task.status_message
    happening = completed({"deep": float("nan")})
    assert after(task(), happening).task.product is not None
    product = happening.reply.product  # type: ignore[union-attr]
    assert product is not None
    assert "NaN" in result_of(product).text
