"""Whatever happens to a task in whatever order, its laws hold, and what is kept of it is read back the same."""

from dataclasses import replace
from datetime import timedelta
from typing import Any

import hypothesis.strategies as st
from hypothesis import settings
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, rule

from outlast.domain.background import BackgroundTask, TaskStatus, Tracking
from outlast.domain.notification import NOTIFICATION_TRANSITIONS, Notification
from outlast.ports.background_driver import (
    Acknowledged,
    Answer,
    Forgotten,
    Handle,
    Product,
    Question,
    RemoteStatus,
    Snapshot,
    Trouble,
)
from outlast.tasks.codec import row_of, task_in
from outlast.tasks.decide import decide
from outlast.tasks.happenings import (
    Answered,
    CancelAsked,
    CancelTried,
    Decided,
    Dispatched,
    DispatchFailed,
    Happening,
    NotificationClaimed,
    Polled,
    Queue,
    Redriven,
    RunEnded,
    Submitted,
    SubmitUnknown,
    ThreadBusy,
    ThreadGone,
    Told,
)
from outlast.tasks.polling import kept_until
from outlast.tasks.rules import Moment, TaskRules
from tests.law import law
from tests.unit.tasks.props import START, task

RULES = TaskRules(max_attempts=2, max_backoff_seconds=60)

seconds = st.one_of(st.none(), st.floats(allow_nan=True, allow_infinity=True), st.floats(0, 1000))
texts = st.text(max_size=20)
json_values = st.recursive(
    st.none() | st.booleans() | st.floats() | texts, lambda inner: st.lists(inner, max_size=2)
)
questions = st.dictionaries(
    st.sampled_from(["a", "b", "c"]),
    st.builds(
        Question,
        st.sampled_from(["form", "url", "unsupported"]),
        st.sampled_from(["Which?", "Why?"]),
        st.sampled_from([{}, {"type": "object"}]),
    ),
    max_size=3,
)
snapshots = st.builds(
    Snapshot,
    status=st.sampled_from(RemoteStatus),
    message=texts,
    product=st.none() | st.builds(Product, json_values, st.booleans()),
    error_code=st.none() | texts,
    error=st.none() | texts,
    questions=questions,
    poll_after_seconds=seconds,
    ttl_seconds=seconds,
)
troubles = st.builds(Trouble, texts, texts, texts, st.booleans(), seconds)
polls = st.builds(
    Polled, snapshots | st.just(Forgotten()) | troubles, st.frozensets(st.sampled_from(["a", "b", "c", "d"]))
)
runs = st.sampled_from(["r-1", "r-2"])
handle = Handle(driver="mcp", server="renderer", principal="p", protocol_version="", remote_id="far")


class TaskMachine(RuleBasedStateMachine):
    """One task."""

    def __init__(self) -> None:
        super().__init__()
        self.task: BackgroundTask = task()
        self.now = START
        self.chance = 0.5

    @initialize(is_new=st.booleans(), notify=st.sampled_from(["agent", "note", "off"]))
    def begin(self, is_new: bool, notify: Any) -> None:
        status = TaskStatus.SUBMITTING if is_new else TaskStatus.WORKING
        self.task = task(status=status, remote_id=None if is_new else "far", notify=notify)

    def happen(self, happening: Happening) -> None:
        moment = Moment(self.now, self.chance)
        found = decide(self.task, happening, RULES, moment)
        assert found == decide(self.task, happening, RULES, moment), "the same is decided twice"
        if isinstance(found, Decided):
            self.check(self.task, found)
            self.task = found.task

    def check(self, before: BackgroundTask, found: Decided) -> None:
        now, old, new = found.task, before.notification, found.task.notification
        if old is not new:
            assert new in NOTIFICATION_TRANSITIONS[old]
        assert found.has_event == (now.event_version == before.event_version + 1)
        assert now.event_version in (before.event_version, before.event_version + 1)
        if found.has_event:
            assert now.event != before.event
        for queue, due_at in found.due.items():
            assert due_at >= self.now
            if now.is_open and queue is not Queue.POLL:
                assert due_at <= self.now + timedelta(seconds=66)
        if not before.is_open and before.status is not TaskStatus.UNKNOWN_OUTCOME:
            assert now.status is before.status
        if (
            now.is_open
            and now.remote_id is not None
            and before.is_open
            and before.tracking is not now.tracking
        ):
            assert found.has_event or now.tracking is Tracking.OK

    @rule(by=st.floats(0, 100), chance=st.floats(0, 1))
    def time_passes(self, by: float, chance: float) -> None:
        self.now += timedelta(seconds=by)
        self.chance = chance

    @rule(poll=polls)
    def poll(self, poll: Polled) -> None:
        self.happen(poll)

    @rule(times=st.integers(1, 4))
    def server_is_away(self, times: int) -> None:
        for number in range(times):
            self.happen(Polled(Trouble("unreachable", str(number), "")))

    @rule(
        key=st.sampled_from(["a", "b", "c"]),
        action=st.sampled_from(["accept", "decline", "cancel"]),
        n=st.integers(),
    )
    def answer(self, key: str, action: Any, n: int) -> None:
        self.happen(Answered(key, Answer(action, {"n": n}), "ann"))

    @rule(reply=st.just(Acknowledged()) | st.just(Forgotten()) | troubles)
    def cancel(self, reply: Any) -> None:
        self.happen(CancelAsked("ann"))
        self.happen(CancelTried(reply))

    @rule(what=st.sampled_from([Submitted(handle), SubmitUnknown(), Redriven(), ThreadGone(by_owner=True)]))
    def something_rare(self, what: Happening) -> None:
        if not isinstance(what, ThreadGone) or self.chance > 0.9:
            self.happen(what)

    @rule(
        what=st.sampled_from(
            [Dispatched("r-1"), Dispatched("r-2"), Told(), ThreadBusy(), ThreadGone(), DispatchFailed("no")]
        )
    )
    def tell(self, what: Happening) -> None:
        self.happen(NotificationClaimed())
        self.happen(what)

    @rule(run=runs, version=st.integers(0, 3), error=st.none() | texts)
    def a_run_ends(self, run: str, version: int, error: str | None) -> None:
        self.happen(RunEnded(run, version, error))

    @rule(error=st.none() | texts)
    def the_run_ends(self, error: str | None) -> None:
        self.happen(RunEnded(self.task.notification_run_id or "", self.task.dispatch_version, error))

    @invariant()
    def it_is_kept_as_it_is(self) -> None:
        assert task_in(replace(row_of(self.task), revision=7)) == self.task

    @invariant()
    def versions_are_in_order(self) -> None:
        found = self.task
        assert 0 <= found.notified_version <= found.event_version
        assert found.dispatch_version <= found.event_version
        if found.notification in (Notification.PENDING, Notification.RETRY):
            assert found.is_undelivered
        if found.notification is Notification.DELIVERED:
            assert not found.is_undelivered

    @invariant()
    def an_ended_task_asks_nothing_and_goes_in_the_end(self) -> None:
        if not self.task.is_open:
            assert not self.task.questions
            assert self.task.tracking is Tracking.OK
            later = kept_until(self.task, RULES, Moment(self.now))
            assert later is None or later > self.now


TestTaskMachine = TaskMachine.TestCase
TestTaskMachine.settings = settings(max_examples=150, stateful_step_count=40, deadline=None)
TestTaskMachine = law("TASK-3.a", "TASK-3.b")(TestTaskMachine)
