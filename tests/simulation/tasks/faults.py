"""Bugs put into the machine on purpose: each must be found by the simulation."""

from collections.abc import Callable
from dataclasses import replace
from datetime import timedelta
from typing import Any

import pytest

from outlast.domain.background import Tracking
from outlast.domain.notification import Notification
from outlast.ports.queue import Release
from outlast.ports.task_rows import UpdateTask
from outlast.tasks import acts, announcing, asking, desk, notifying, polling, wishes
from outlast.tasks.happenings import Decided, Declined, Queue

Patch = pytest.MonkeyPatch


def _wrap(patch: Patch, module: Any, name: str, change: Callable[..., Any]) -> None:
    """Let `change`, given what the function was and its arguments, stand in its place."""
    was = getattr(module, name)
    patch.setattr(module, name, lambda *args, **kwargs: change(was, *args, **kwargs))


def _task(decided: Any, **changes: Any) -> Any:
    return (
        decided if isinstance(decided, Declined) else replace(decided, task=replace(decided.task, **changes))
    )


def newest_is_marked_as_told(patch: Patch) -> None:
    """The version that was dispatched is not the newest one."""

    def change(was: Any, task: Any, moment: Any) -> Any:
        return was(replace(task, dispatch_version=task.event_version), moment)

    _wrap(patch, notifying, "_delivered", change)


def any_run_counts(patch: Patch) -> None:
    """The late word of an old run is taken for that of the newest."""

    def change(was: Any, task: Any, happening: Any, *rest: Any) -> Any:
        ours = replace(happening, run_id=task.notification_run_id or "", version=task.dispatch_version)
        return was(task, ours, *rest)

    _wrap(patch, notifying, "run_ended", change)


def attempts_begin_anew(patch: Patch) -> None:
    """A key of a run is used again."""
    _wrap(patch, notifying, "redriven", lambda was, *args: _task(was(*args), dispatch_attempt=0))


def every_failure_is_forgiven(patch: Patch) -> None:
    """Failures are not counted."""

    def change(was: Any, task: Any, *rest: Any) -> Any:
        return was(replace(task, notification_failures=0), *rest)

    _wrap(patch, notifying, "_failed", change)


def a_retry_is_never_due(patch: Patch) -> None:
    """A failed notification waits for ever."""

    def change(was: Any, *args: Any) -> Any:
        decided = was(*args)
        return replace(decided, due={}) if decided.task.notification is Notification.RETRY else decided

    _wrap(patch, notifying, "_failed", change)


def error_texts_are_events(patch: Patch) -> None:
    """Every other text of an outage is told."""

    def change(was: Any, before: Any, task: Any) -> bool:
        return bool(was(before, task) or before.last_poll_error != task.last_poll_error)

    def event(was: Any, task: Any) -> Any:
        return {**was(task), "text": task.last_poll_error}

    _wrap(patch, announcing, "_is_notable", change)
    _wrap(patch, announcing, "event_of", event)


def questions_are_told_again(patch: Patch) -> None:
    """Nobody remembers that a question was told."""

    def change(was: Any, task: Any, *rest: Any) -> Any:
        found = was(task, *rest)
        questions = {key: replace(one, is_told=False) for key, one in found.questions.items()}
        return replace(found, questions=questions)

    _wrap(patch, polling, "asked", change)
    _wrap(patch, announcing, "event_of", lambda was, task: {**was(task), "version": task.event_version})


def the_last_end_holds(patch: Patch) -> None:
    """What is told after the end counts."""

    def change(was: Any, task: Any, happening: Any, rules: Any, moment: Any) -> Any:
        if task.is_open or task.remote_id is None:
            return was(task, happening, rules, moment)
        return was(replace(task, status="working"), happening, rules, moment)

    async def poll(self: Any, held: Any, kept: Any) -> None:
        await self._write(held, kept, await self._asked(kept.task))

    _wrap(patch, polling, "polled", change)
    patch.setattr(acts.Acts, "poll", poll)
    patch.setattr(polling, "retention_seconds", lambda rules: 60.0)


def a_poll_undoes_a_cancel(patch: Patch) -> None:
    """What the server says of a task puts the wish out of mind."""

    def change(was: Any, *args: Any) -> Any:
        decided = was(*args)
        return _task(decided, cancel_requested_at=None) if decided.task.is_open else decided

    _wrap(patch, polling, "_open", change)


def rows_are_written_over(patch: Patch) -> None:
    """Whatever was read first is written, whoever wrote since."""

    def change(was: Any, kept: Any, decided: Any, *rest: Any) -> Any:
        items = was(kept, decided, *rest)
        return [
            _Blind(item.row, item.after, item.result) if isinstance(item, UpdateTask) else item
            for item in items
        ]

    for module in (acts, desk):
        _wrap(patch, module, "items_to_write", change)
    from tests.simulation.tasks import shelf

    def update(was: Any, self: Any, item: Any) -> Any:
        known = self.tasks.get(item.row.task_id)
        is_blind = isinstance(item, _Blind) and known is not None
        return was(self, replace(item, after=known.revision) if is_blind else item)

    _wrap(patch, shelf.Shelf, "_update_task", update)


class _Blind(UpdateTask):
    """An update that does not look."""


def leases_are_not_looked_at(patch: Patch) -> None:
    """A worker writes though another has the lease by now."""

    def change(was: Any, kept: Any, decided: Any, held: Any = None, result: Any = None) -> Any:
        items = was(kept, decided, held, result)
        free = [replace(item, generation=None) if isinstance(item, UpdateTask) else item for item in items]
        return [item for item in free if not isinstance(item, Release)] if held is not None else free

    _wrap(patch, acts, "items_to_write", change)


def answers_are_sent_once(patch: Patch) -> None:
    """An answer that was taken and lost is not sent again."""
    _wrap(patch, asking, "_is_to_be_sent", lambda was, question: was(question) and question.sent_at is None)


def a_busy_thread_is_not_looked_at_again(patch: Patch) -> None:
    """A notification that found its thread busy is forgotten."""

    def change(was: Any, *args: Any) -> Any:
        decided = was(*args)
        if isinstance(decided, Declined):
            return decided
        return Decided(replace(decided.task, notification=Notification.DELIVERED))

    _wrap(patch, notifying, "busy", change)


def forgotten_once_is_lost(patch: Patch) -> None:
    """A deploy of the server loses tasks."""
    patch.setattr(polling, "TIMES_FORGOTTEN", 1)


def the_first_error_degrades(patch: Patch) -> None:
    """Every hiccup is an outage."""
    _wrap(patch, polling, "_trouble", lambda was, *args: _task(was(*args), tracking=Tracking.DEGRADED))


def a_newer_event_runs_beside(patch: Patch) -> None:
    """Two runs tell of one task at the same time."""
    more = announcing.REVIVED | {Notification.DISPATCHED}
    patch.setattr(announcing, "REVIVED", more)


def the_gone_are_called_back(patch: Patch) -> None:
    """A newer event wakes a conversation that is gone."""

    def change(was: Any, task: Any, *rest: Any) -> Any:
        return was(replace(task, is_thread_gone=False), *rest)

    _wrap(patch, announcing, "_made_pending", change)


def cancels_are_tried_once(patch: Patch) -> None:
    """A cancel that failed, or was taken and ignored, is not tried again."""

    def change(was: Any, *args: Any) -> Any:
        decided = was(*args)
        if isinstance(decided, Declined):
            return decided
        return replace(decided, due={queue: at for queue, at in decided.due.items() if queue != Queue.CANCEL})

    _wrap(patch, wishes, "cancel_tried", change)
    _wrap(patch, polling, "_open", change)


def a_silent_server_ends_polling(patch: Patch) -> None:
    """After an error nobody asks again."""

    def change(was: Any, *args: Any) -> Any:
        decided = was(*args)
        return replace(decided, due={queue: at + timedelta(days=9) for queue, at in decided.due.items()})

    _wrap(patch, polling, "_trouble", change)


FAULTS: dict[str, Callable[[Patch], None]] = {
    fault.__name__: fault
    for fault in (
        newest_is_marked_as_told,
        any_run_counts,
        attempts_begin_anew,
        every_failure_is_forgiven,
        a_retry_is_never_due,
        error_texts_are_events,
        questions_are_told_again,
        the_last_end_holds,
        a_poll_undoes_a_cancel,
        rows_are_written_over,
        leases_are_not_looked_at,
        answers_are_sent_once,
        a_busy_thread_is_not_looked_at_again,
        forgotten_once_is_lost,
        the_first_error_degrades,
        a_newer_event_runs_beside,
        the_gone_are_called_back,
        cancels_are_tried_once,
        a_silent_server_ends_polling,
    )
}
