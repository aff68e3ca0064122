"""What people and agents may ask about background tasks: list, show, cancel, answer, send a dead letter again.

A task is named by its local id, or by its name without regard to case; within a thread names are unique, in several threads
they may not be. Whoever asks sees tasks of their own only.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import Any, Final, NoReturn

from outlast.domain.background import BackgroundTask, TaskQuestion, TaskStatus
from outlast.domain.door import Json
from outlast.domain.errors import CallerMistake, Conflict, NotFound
from outlast.domain.notification import Notification
from outlast.ports.background_driver import Answer, BackgroundDrivers, Trouble
from outlast.ports.store import Store
from outlast.ports.task_rows import TaskFilter, TaskRow
from outlast.service.background.public import public_task, task_detail
from outlast.tasks.codec import task_in
from outlast.tasks.desk import happen
from outlast.tasks.happenings import Answered, CancelAsked, Declined, Happening, Redriven, ThreadGone, Why
from outlast.tasks.rules import Moment, TaskRules

Problems = Callable[[Mapping[str, Json], Json], list[str]]
"""What is wrong with a value by a JSON Schema; empty when nothing is."""

_OF_THIS_PROCESS: Final = frozenset({"missing_variable", "extra_missing"})
"""Troubles with drivers that workers may not have: secrets and libraries need not be where a task is only asked to end."""

_MOST: Final = 1000
_NAMED: Final = 10
_LISTED: Final = "Name one by its id or name; `outlast tasks list` shows them."


def default_rules(task: BackgroundTask) -> TaskRules:
    """Rules for verbs, none of which goes by them."""
    return TaskRules()


async def list_tasks(
    store: Store, user_id: str, *, thread_id: str | None = None, status: str | None = None, limit: int = 100
) -> list[dict[str, Any]]:
    """Tasks of a user, newest first, each in seven fields. `status` may also be `open` or `dead_letter`."""
    wanted = TaskFilter(user_id=user_id, thread_id=thread_id, limit=limit, **_by_status(status))
    return [public_task(task_in(row)) for row in await store.list_tasks(wanted)]


async def list_dead_letters(store: Store, limit: int = 100) -> list[dict[str, Any]]:
    """Notifications of all users that could not be delivered, for operators: tasks in seven fields, and whose they are."""
    rows = await store.list_tasks(TaskFilter(notification="dead_letter", limit=limit))
    return [{**public_task(task_in(row)), "user_id": row.user_id, "thread_id": row.thread_id} for row in rows]


async def count_troubles(store: Store, user_id: str | None = None) -> dict[str, int]:
    """How many notifications are dead letters, and how many open tasks cannot be followed."""
    return {
        "dead_letters": await store.count_tasks(TaskFilter(user_id=user_id, notification="dead_letter")),
        "degraded": await store.count_tasks(TaskFilter(user_id=user_id, tracking="degraded", is_open=True)),
    }


async def show_task(store: Store, user_id: str, wanted: str, thread_id: str | None = None) -> dict[str, Any]:
    """A task with its result in short, what it asks, and how far its thread was told.

    Raises NotFound (`unknown_background_task`), Conflict (`which_background_task`).
    """
    return task_detail(await find_task(store, user_id, wanted, thread_id))


async def unsettled_tasks(
    store: Store, user_id: str, *, run_id: str | None = None, thread_id: str | None = None
) -> list[dict[str, Any]]:
    """The tasks of a run or thread that go on, or of whose end the thread is still to be told."""
    wanted = TaskFilter(user_id=user_id, run_id=run_id, thread_id=thread_id, limit=_MOST)
    rows = await store.list_tasks(wanted)
    tasks = [task_in(row) for row in rows]
    return [
        public_task(task)
        for task in tasks
        if task.is_open or (task.is_undelivered and task.notification is not Notification.DEAD_LETTER)
    ]


async def read_result(store: Store, task: BackgroundTask, offset: int, limit: int) -> tuple[str, int]:
    """A part of what a task came to, in characters, and how many there are."""
    whole = await store.read_task_result(task.task_id) or (task.product.preview if task.product else "")
    return whole[offset : offset + limit], len(whole)


async def cancel_task(
    store: Store,
    user_id: str,
    wanted: str,
    thread_id: str | None = None,
    drivers: BackgroundDrivers | None = None,
) -> dict[str, Any]:
    """Ask that a task be cancelled; a worker carries it out. Asking again changes nothing.

    Raises as `show_task` does, and Conflict: `task_ended`, and with `drivers` also `cannot_cancel` when its server has no way to.
    """
    task = await find_task(store, user_id, wanted, thread_id)
    if drivers is not None and task.is_open and task.remote_id is not None:
        driver = await drivers.driver_for(task.driver, task.server)
        if isinstance(driver, Trouble) and not driver.passing and driver.code not in _OF_THIS_PROCESS:
            raise Conflict(
                "cannot_cancel", f"{task.name} cannot be cancelled: {driver.detail}", driver.next_step
            )
        if not isinstance(driver, Trouble) and not driver.can_cancel:
            detail = f"{task.name} cannot be cancelled: its server has no way to."
            raise Conflict("cannot_cancel", detail, "Let it end; its result can be left alone.")
    return await _happened(store, task, CancelAsked(user_id))


async def answer_task(
    store: Store,
    user_id: str,
    wanted: str,
    answer: Answer | str,
    problems: Problems,
    *,
    question: str | None = None,
    thread_id: str | None = None,
) -> dict[str, Any]:
    """Answer what a task asks, or one `question` of several; a worker sends it. Words are fitted to a form of one field.

    Raises as `show_task` does, Conflict (`no_question`, `which_question`, `task_ended`), CallerMistake (`bad_answer`).
    """
    task = await find_task(store, user_id, wanted, thread_id)
    key, asked = _question(task, question)
    fitted = Answer("accept", _fitted(asked, answer)) if isinstance(answer, str) else answer
    if fitted.action == "accept":
        wrong = problems(asked.schema, dict(fitted.content)) if asked.kind == "form" else []
        if wrong:
            raise CallerMistake(
                "bad_answer", f"The answer does not fit: {'; '.join(wrong)}.", _form_of(asked)
            )
    return await _happened(store, task, Answered(key, fitted, user_id))


async def redrive_task(
    store: Store, user_id: str | None, wanted: str, thread_id: str | None = None
) -> dict[str, Any]:
    """Send a notification again that could not be delivered. Without a user, that of anybody, by its id.

    Raises as `show_task` does, and Conflict (`no_dead_letter`, `thread_gone`).
    """
    task = await find_task(store, user_id, wanted, thread_id)
    return await _happened(store, task, Redriven())


async def end_tasks(store: Store, user_id: str, thread_id: str) -> None:
    """Cancel the open tasks of a thread that is deleted, and let nothing of it be told any more."""
    wanted = TaskFilter(user_id=user_id, thread_id=thread_id, limit=_MOST)
    while rows := await store.list_tasks(wanted):
        for row in rows:
            moment = Moment(await store.now())
            if row.is_open:
                await happen(store, row.task_id, CancelAsked(user_id), default_rules, moment)
            await happen(store, row.task_id, ThreadGone(by_owner=True), default_rules, moment)
        wanted = replace(wanted, offset=wanted.offset + len(rows))


async def find_task(
    store: Store, user_id: str | None, wanted: str, thread_id: str | None = None
) -> BackgroundTask:
    """The task that is meant. Raises as `show_task` does; the errors name tasks with their ids and when they began."""
    by_id = [
        row
        for row in await store.read_tasks([wanted])
        if user_id in (None, row.user_id) and thread_id in (None, row.thread_id)
    ]
    if by_id:
        return task_in(by_id[0])
    rows = await store.list_tasks(TaskFilter(user_id=user_id, thread_id=thread_id, limit=_MOST))
    named = [row for row in rows if row.name == wanted.casefold()] if user_id is not None else []
    if len(named) == 1:
        return task_in(named[0])
    if named:
        detail = f"{len(named)} background tasks are called {wanted[:80]!r}: {_listed(named)}."
        raise Conflict("which_background_task", detail, "Name one by its id.")
    there = f" There are: {_listed(rows)}." if rows and user_id is not None else ""
    raise NotFound(
        "unknown_background_task",
        f"There is no background task {wanted[:80]!r}.{there}",
        _LISTED,
    )


def _by_status(status: str | None) -> dict[str, Any]:
    if status == "open":
        return {"is_open": True}
    if status == "dead_letter":
        return {"notification": "dead_letter"}
    if status is not None and status not in list(TaskStatus):
        known = ", ".join(["open", "dead_letter", *TaskStatus])
        raise CallerMistake("unknown_status", f"There is no status {status[:80]!r}.", f"There are: {known}.")
    return {} if status is None else {"status": status}


def _listed(rows: Sequence[TaskRow]) -> str:
    named = [f"{row.name} ({row.task_id}, began {row.created_at:%Y-%m-%d %H:%M})" for row in rows[:_NAMED]]
    return ", ".join(named) + (", ..." if len(rows) > _NAMED else "")


async def _happened(store: Store, task: BackgroundTask, happening: Happening) -> dict[str, Any]:
    decided = await happen(store, task.task_id, happening, default_rules, Moment(await store.now()))
    if decided is None:
        raise NotFound("unknown_background_task", f"The background task {task.name} is gone.", _LISTED)
    if isinstance(decided, Declined):
        _refuse(task, decided.why)
    return task_detail(decided.task)


def _refuse(task: BackgroundTask, why: Why) -> NoReturn:
    match why:
        case Why.ENDED:
            detail = f"{task.name} has ended ({task.status.value})."
            raise Conflict("task_ended", detail, _see(task))
        case Why.NO_QUESTION:
            raise Conflict("no_question", f"{task.name} asks nothing, or not any more.", _see(task))
        case Why.NO_DEAD_LETTER:
            detail = f"The notification of {task.name} is no dead letter ({task.notification.value})."
            raise Conflict("no_dead_letter", detail, "Only what could not be delivered is sent again.")
        case Why.THREAD_GONE:
            detail = f"The thread of {task.name} is gone; nobody is there to be told."
            raise Conflict(
                "thread_gone", detail, f"Read what it came to with `outlast tasks show {task.task_id}`."
            )
        case _:
            detail = f"That cannot be done to {task.name} as it stands ({why.value})."
            raise Conflict("not_now", detail, _see(task))


def _see(task: BackgroundTask) -> str:
    return f"See how it stands with `outlast tasks show {task.task_id}`."


def _question(task: BackgroundTask, key: str | None) -> tuple[str, TaskQuestion]:
    if not task.is_open:
        _refuse(task, Why.ENDED)
    asked = task.open_questions
    if key is not None:
        if key not in asked:
            _refuse(task, Why.NO_QUESTION)
        return key, asked[key]
    if not asked:
        _refuse(task, Why.NO_QUESTION)
    if len(asked) > 1:
        detail = f"{task.name} asks several things: {', '.join(asked)}."
        raise Conflict("which_question", detail, "Name one with --question (`key` over HTTP).")
    return next(iter(asked.items()))


def _fitted(question: TaskQuestion, words: str) -> dict[str, Json]:
    """Words as the content of a form of one field. Raises CallerMistake (`bad_answer`) for another."""
    if question.kind == "url":
        return {}
    properties = question.schema.get("properties")
    if not isinstance(properties, dict) or len(properties) != 1:
        raise CallerMistake("bad_answer", "The form has not just one field.", _form_of(question))
    name, schema = next(iter(properties.items()))
    kind = schema.get("type") if isinstance(schema, dict) else None
    return {name: _coerced(words.strip(), kind)}


def _coerced(words: str, kind: Json) -> Json:
    if kind == "boolean" and words.lower() in ("yes", "true", "no", "false"):
        return words.lower() in ("yes", "true")
    if kind in ("integer", "number"):
        try:
            return int(words) if kind == "integer" else float(words)
        except ValueError:
            return words
    return words


def _form_of(question: TaskQuestion) -> str:
    properties = question.schema.get("properties")
    fields = ", ".join(properties) if isinstance(properties, dict) else "none"
    return f"Answer with a JSON object of these fields: {fields}."
