"""Tasks as rows: what is written is read back, columns are told once, older bodies are read, newer ones refused."""

import json
from dataclasses import replace

import pytest

from outlast.domain.background import BackgroundTask, TaskQuestion, TaskStatus
from outlast.domain.errors import Broken
from outlast.ports.background_driver import Answer
from outlast.tasks.codec import BODY_VERSION, row_of, task_in
from outlast.tasks.happenings import Answered, CancelAsked, NotificationClaimed
from tests.unit.tasks.props import QUESTION, START, after, asking, completed, task, trouble, working

TASKS = {
    "new": task(status=TaskStatus.SUBMITTING, remote_id=None),
    "asked": after(
        task(driver_data={"session": "s"}),
        asking(k=QUESTION),
        Answered("k", Answer("accept", {"colour": "red"}), "ann"),
    ).task,
    "degraded": after(task(), *[trouble("潮汐 \U0001f30a")] * 3, CancelAsked("ann")).task,
    "told": after(task(), working(), completed({"n": [1, 2.5, None]}), NotificationClaimed()).task,
}


@pytest.mark.parametrize("name", TASKS)
def test_a_task_is_read_as_it_was_written(name: str) -> None:
    known = TASKS[name]
    row = row_of(known)
    assert task_in(row) == replace(known)
    assert row.name == "render"
    assert row.is_open is known.is_open


def test_a_body_repeats_nothing_that_a_column_holds() -> None:
    row = row_of(TASKS["told"])
    assert "secret-remote" not in row.body
    assert not json.loads(row.body).keys() & {"status", "server", "user_id", "event_version", "created_at"}


def test_a_body_of_an_older_program_lacks_fields_and_is_read() -> None:
    row = row_of(TASKS["asked"])
    body = json.loads(row.body)
    for later in ("dispatch_attempt", "poll_errors", "event", "event_fingerprint", "questions"):
        body.pop(later, None)
    found = task_in(replace(row, body=json.dumps(body)))
    assert (found.questions, found.dispatch_attempt, found.name) == ({}, 0, "Render")


def test_a_body_of_a_later_program_is_left_to_one_that_knows_it() -> None:
    with pytest.raises(Broken) as refused:
        task_in(replace(row_of(task()), body_version=BODY_VERSION + 1))
    assert refused.value.code == "task_newer"


@pytest.mark.parametrize("body", ["", "[]", '{"name":3}', '{"what":1}'])
def test_a_damaged_body_is_told(body: str) -> None:
    with pytest.raises(Broken) as refused:
        task_in(replace(row_of(task()), body=body))
    assert refused.value.code == "store_damaged"


def test_secrets_are_not_in_a_repr() -> None:
    known: BackgroundTask = task(
        driver_data={"token": "canary"}, idempotency_key="canary", remote_id="canary"
    )
    assert "canary" not in repr(known)
    assert "canary" not in repr(row_of(known))
    assert isinstance(TaskQuestion(kind="form", message="", first_seen_at=START), TaskQuestion)
