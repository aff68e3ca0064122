"""Runs move to another store with their background tasks, which are followed in one store and no other."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from outlast.adapters.tools.ask_human import AskHuman
from outlast.domain.background import TaskStatus
from outlast.domain.errors import CallerMistake, Conflict
from outlast.domain.events import TaskReported
from outlast.domain.notification import Notification
from outlast.journal.thread import read_thread_words
from outlast.ports.background_driver import Product, RemoteStatus, Snapshot
from outlast.ports.provider import ModelAnswer, ModelRequest
from outlast.ports.queue import Enqueue
from outlast.ports.store import Store
from outlast.runs.background import LOCAL, begin_item, stream_of_begin
from outlast.service.background.inspection import check_tasks
from outlast.service.exporting import export_run
from outlast.service.importing import Imported, import_run
from outlast.service.portable import read_portable
from outlast.tasks.desk import happen
from outlast.tasks.happenings import CancelAsked, Queue
from outlast.tasks.rules import Moment
from tests.unit.runs.parts import ask_for, call, results, say
from tests.unit.service.background.farm import RULES, SECRET, Hands, farming

LONG = "a very long result. " * 20_000
DONE = Snapshot(status=RemoteStatus.COMPLETED, product=Product(LONG))


def rendering_and_asking(request: ModelRequest) -> ModelAnswer:
    """Begin a task, then ask a person."""
    seen = len(results(request))
    if seen == 0:
        return ask_for(call("render", scene="a"))
    return ask_for(call("ask_human", question="Which colour?")) if seen == 1 else say("Done.")


@asynccontextmanager
async def two_places(tmp_path: Path, *playing: Any) -> AsyncIterator[tuple[Hands, Hands]]:
    """Two stores whose workers reach the same server."""
    async with farming(tmp_path, *playing) as here, farming(tmp_path, *playing) as there:
        there.farm.remote = here.farm.remote
        there.stage.drivers = here.stage.drivers
        yield here, there


async def moved(store: Store, run_id: str) -> list[bytes]:
    return [line async for line in export_run(store, run_id, moves=True)]


async def taken(store: Store, lines: list[bytes]) -> Imported:
    return await import_run(store, read_portable(lines))


async def all_done(hands: Hands) -> None:
    """Whatever workers of this place would do."""
    for queue in (Queue.CANCEL, Queue.POLL, Queue.NOTIFY):
        await hands.do(queue)
    await hands.work_due()


async def is_left_alone(hands: Hands) -> bool:
    """Would no worker of this place ask the server of anything, however long it ran?"""
    asked = (hands.farm.remote.polls.total(), hands.farm.remote.cancels.total())
    for queue in Queue:
        for item in await hands.store.list_entries(queue.value):
            task = await hands.task()
            await hands.store.commit(
                [Enqueue(queue.value, item, await hands.store.now(), task.user_id, task.server)]
            )
    await all_done(hands)
    return asked == (hands.farm.remote.polls.total(), hands.farm.remote.cancels.total())


async def test_a_run_at_work_is_not_exported_away_from_its_tasks(tmp_path: Path) -> None:
    async with farming(tmp_path, rendering_and_asking, AskHuman) as hands:
        run_id = await hands.stage.play("go")
        with pytest.raises(Conflict) as caught:
            [line async for line in export_run(hands.store, run_id)]
        assert caught.value.code == "tasks_open"
        assert "--move" in str(caught.value.next_step)


async def test_a_run_that_ended_is_exported_though_its_task_goes_on_here(tmp_path: Path) -> None:
    async with two_places(tmp_path) as (here, there):
        run_id = await here.stage.play("render it")
        assert (await here.stage.state(run_id)).has_ended
        await taken(there.store, [line async for line in export_run(here.store, run_id)])
        assert await there.tasks() == []
        assert (await here.task()).is_open


async def test_a_run_that_waits_moves_with_its_task_and_is_told_there(tmp_path: Path) -> None:
    async with two_places(tmp_path, rendering_and_asking, AskHuman) as (here, there):
        run_id = await here.stage.play("go")
        lines = await moved(here.store, run_id)
        before = await here.task()
        assert (before.status, before.is_open, before.remote_id) == (TaskStatus.MOVED, False, None)
        assert (await taken(there.store, lines)).tasks == 1
        assert [found async for found in check_tasks(there.store)] == []
        here.farm.remote.default = DONE
        assert await is_left_alone(here)
        await all_done(there)
        after = await there.task()
        assert (after.status, after.notification) == (TaskStatus.COMPLETED, Notification.DELIVERED)
        assert len(await there.stage.events(run_id, TaskReported)) == 1
        assert await is_left_alone(here)
        assert not await here.stage.events(run_id, TaskReported)


async def test_a_result_that_was_not_told_is_told_there_once_and_whole(tmp_path: Path) -> None:
    async with two_places(tmp_path) as (here, there):
        run_id = await here.stage.play("render it", thread_id="t-1")
        here.farm.remote.default = DONE
        await here.poll()
        assert (await here.task()).is_undelivered
        lines = await moved(here.store, run_id)
        for _ in range(3):
            await taken(there.store, lines)
            await all_done(there)
        assert await is_left_alone(here)
        told = [words for words in await read_thread_words(there.store, "t-1") if words.text == "It is done."]
        assert len(told) == 1
        assert not [
            words for words in await read_thread_words(here.store, "t-1") if words.text == "It is done."
        ]
        task = await there.task()
        assert await there.store.read_task_result(task.task_id) == LONG
        assert task.notified_version == task.event_version


async def test_a_wish_to_cancel_travels(tmp_path: Path) -> None:
    async with two_places(tmp_path) as (here, there):
        run_id = await here.stage.play("render it", thread_id="t-1")
        task, now = await here.task(), await here.store.now()
        await happen(here.store, task.task_id, CancelAsked("ann"), lambda _: RULES, Moment(now))
        await taken(there.store, await moved(here.store, run_id))
        assert await is_left_alone(here)
        await there.do(Queue.CANCEL)
        assert there.farm.remote.cancels.total() == 1


async def test_importing_again_leaves_alone_what_has_gone_on_since(tmp_path: Path) -> None:
    async with two_places(tmp_path) as (here, there):
        run_id = await here.stage.play("render it", thread_id="t-1")
        lines = await moved(here.store, run_id)
        first, again = await taken(there.store, lines), await taken(there.store, lines)
        assert (first.is_new, again.is_new) == (True, False)
        there.farm.remote.default = DONE
        await all_done(there)
        task = await there.task()
        assert (await taken(there.store, lines)).tasks == 0
        assert await there.task() == task
        assert len(await there.tasks()) == 1


@pytest.mark.parametrize("queue", [Queue.POLL, Queue.CANCEL])
async def test_nothing_moves_while_a_worker_is_at_work_on_a_task(tmp_path: Path, queue: Queue) -> None:
    async with two_places(tmp_path) as (here, there):
        run_id = await here.stage.play("render it", thread_id="t-1")
        await here.stage.play("render it", thread_id="t-2")
        task, now = await here.task(), await here.store.now()
        await happen(here.store, task.task_id, CancelAsked("ann"), lambda _: RULES, Moment(now))
        before = await here.tasks()
        assert await here.store.claim(queue.value, "a worker", 600, item=task.task_id)
        with pytest.raises(Conflict) as busy:
            await moved(here.store, run_id)
        assert busy.value.code == "tasks_busy"
        assert await here.tasks() == before
        await here.store.expire_lease(queue.value, task.task_id)  # type: ignore[attr-defined]
        assert (await taken(there.store, await moved(here.store, run_id))).tasks == 1


async def test_a_worker_that_was_slow_writes_nothing_of_a_task_that_was_moved(tmp_path: Path) -> None:
    async with two_places(tmp_path) as (here, _):
        run_id = await here.stage.play("render it", thread_id="t-1")
        task = await here.task()
        assert await here.store.claim(Queue.POLL.value, "slow", 600, item=task.task_id)
        await here.store.expire_lease(Queue.POLL.value, task.task_id)  # type: ignore[attr-defined]
        await moved(here.store, run_id)
        marked = await here.task()
        here.farm.remote.default = DONE
        assert await is_left_alone(here)
        assert await here.task() == marked


async def test_a_run_that_tells_of_a_task_ends_first(tmp_path: Path) -> None:
    async with two_places(tmp_path) as (here, _):
        run_id = await here.stage.play("render it", thread_id="t-1")
        here.farm.remote.default = DONE
        await here.poll()
        await here.do(Queue.NOTIFY)
        assert (await here.task()).notification is Notification.DISPATCHED
        with pytest.raises(Conflict) as busy:
            await moved(here.store, run_id)
        assert busy.value.code == "tasks_busy"
        await here.work_due()
        assert await moved(here.store, run_id)


async def test_what_was_marked_can_be_written_again_and_taken_back(tmp_path: Path) -> None:
    async with farming(tmp_path, rendering_and_asking, AskHuman) as here:
        run_id = await here.stage.play("go")
        before = await here.task()
        first = await moved(here.store, run_id)
        assert [line async for line in export_run(here.store, run_id)] == first
        assert await moved(here.store, run_id) == first
        back = await taken(here.store, first)
        assert (back.is_new, back.tasks) == (False, 1)
        assert await here.task() == before
        here.farm.remote.default = DONE
        await all_done(here)
        assert (await here.task()).status is TaskStatus.COMPLETED


async def test_a_fork_cannot_take_tasks_along(tmp_path: Path) -> None:
    async with farming(tmp_path, rendering_and_asking, AskHuman) as here:
        lines = await moved(here.store, await here.stage.play("go"))
        with pytest.raises(Conflict) as refused:
            await import_run(here.store, read_portable(lines), bytes(40))
        assert refused.value.code == "tasks_open"


async def test_a_task_that_is_settled_is_copied_without_what_leads_to_its_server(tmp_path: Path) -> None:
    async with two_places(tmp_path) as (here, there):
        run_id = await here.stage.play("render it", thread_id="t-1")
        here.farm.remote.default = DONE
        await here.poll()
        await here.do(Queue.NOTIFY)
        await here.work_due()
        lines = [line async for line in export_run(here.store, run_id)]
        assert SECRET not in b"".join(lines).decode()
        assert (await taken(there.store, lines)).tasks == 0
        task = await there.task()
        assert await there.store.read_task_result(task.task_id) == LONG
        assert (await here.task()).status is TaskStatus.COMPLETED
        await all_done(there)
        assert (await there.task()).notification is Notification.DELIVERED


async def test_work_of_ours_that_was_begun_is_known_to_have_been(tmp_path: Path) -> None:
    async with two_places(tmp_path) as (here, there):
        here.farm.driver, here.farm.next_ids = LOCAL, ["the-key"]
        run_id = await here.stage.play("render it", thread_id="t-1")
        await here.store.commit([begin_item("the-key", await here.store.now())])
        await taken(there.store, await moved(here.store, run_id))
        assert await there.store.read_head(stream_of_begin("the-key")) == 1


async def test_a_task_of_another_run_in_the_file_is_refused(tmp_path: Path) -> None:
    async with two_places(tmp_path) as (here, there):
        first = await moved(here.store, await here.stage.play("render it", thread_id="t-1"))
        second = await moved(here.store, await here.stage.play("render it", thread_id="t-1"))
        whole, other = read_portable(first), read_portable(second)
        with pytest.raises(CallerMistake) as damaged:
            await import_run(there.store, replace(whole, tasks=other.tasks))
        assert damaged.value.code == "export_damaged"
