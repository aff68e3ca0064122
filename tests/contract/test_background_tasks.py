"""Threads and their background tasks on every store: turns in order, one telling, nothing left of what is deleted."""

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from outlast.adapters.stores.postgres import PostgresStore
from outlast.adapters.stores.sqlite import SqliteStore
from outlast.domain.background import TaskStatus
from outlast.domain.notification import Notification
from outlast.journal.thread import read_thread_words
from outlast.ports.run_rows import RunFilter
from outlast.ports.task_rows import TaskFilter
from outlast.runs.line import IN_LINE
from outlast.service.messages import send_message
from outlast.service.thread_removal import Ender, Gone, delete_thread
from outlast.tasks.happenings import Queue
from tests.contract.test_store_redis import NewStorage, served
from tests.unit.service.background.farm import farming
from tests.unit.tasks.remote import DONE

ENDER = Ender(holder="me", is_gone=lambda holder: False)


@pytest.fixture(scope="module")
def new_on_redis() -> Iterator[NewStorage]:
    yield from served("valkey")


@pytest.fixture(params=["sqlite", "postgres", "redis"])
def new_store(request: pytest.FixtureRequest, tmp_path: Path) -> Callable[[], Any]:
    """Makes the store of one kind; the servers of the others are not asked for."""

    match request.param:
        case "sqlite":
            return lambda: SqliteStore(tmp_path / "outlast.db")
        case "postgres":
            place: str = request.getfixturevalue("postgres_store_url")
            return lambda: PostgresStore(place)
        case _:
            storage: NewStorage = request.getfixturevalue("new_on_redis")
            return storage()


async def test_a_thread_has_its_turns_in_order_and_is_told_once(
    tmp_path: Path, new_store: Callable[[], Any]
) -> None:
    async with farming(tmp_path, store=new_store()) as hands:
        stage = hands.stage
        first = await stage.start("render it", thread_id="t-1")
        second = await stage.start("two", thread_id="t-1", strategy="enqueue")
        third = await stage.start("three", thread_id="t-1", strategy="enqueue")
        await send_message(hands.store, first, second, "Mind this.", "local")
        assert await stage.work(third) == IN_LINE
        await stage.work(first)
        hands.farm.remote.default = DONE
        await hands.poll()
        assert await stage.work(second) == "ended"
        await hands.do(Queue.NOTIFY)
        assert (await hands.task()).notification is Notification.PENDING, "the next of the line is at work"
        assert await stage.work(third) == "ended"
        assert await hands.do(Queue.NOTIFY) == 1
        task = await hands.task()
        assert await stage.work(task.notification_run_id or "") == "ended"
        task = await hands.task()
        assert (task.status, task.notification) == (TaskStatus.COMPLETED, Notification.DELIVERED)
        said = [
            words.text for words in await read_thread_words(hands.store, "t-1") if words.speaker == "user"
        ]
        assert said == ["render it", "two", "three"]
        assert len(await hands.store.list_runs(RunFilter(thread_id="t-1"))) == 4


async def test_a_handle_is_followed_once(tmp_path: Path, new_store: Callable[[], Any]) -> None:
    async with farming(tmp_path, store=new_store()) as hands:
        hands.farm.next_ids = ["same", "same"]
        await hands.stage.play("render it", thread_id="t-1")
        second = await hands.stage.play("render it", thread_id="t-2")
        error = (await hands.stage.outcomes(second))[0].error
        assert error is not None
        assert error.code == "already_tracked"
        assert len(await hands.tasks()) == 1


async def test_a_deleted_thread_is_told_nothing(tmp_path: Path, new_store: Callable[[], Any]) -> None:
    async with farming(tmp_path, store=new_store()) as hands:
        await hands.stage.play("render it", thread_id="t-1")
        await hands.stage.start("two", thread_id="t-1")
        await hands.stage.start("three", thread_id="t-1", strategy="enqueue")
        assert await delete_thread(hands.store, None, "t-1", "local", ENDER) == Gone(3, 0)
        assert await hands.store.read_thread("t-1") is None
        await hands.do(Queue.CANCEL)
        assert sum(hands.farm.remote.cancels.values()) == 1
        hands.farm.remote.default = DONE
        await hands.poll()
        assert await hands.do(Queue.NOTIFY) == 0
        rows = await hands.store.list_tasks(TaskFilter(thread_id="t-1"))
        assert [row.notification for row in rows] == ["none"]
        assert await hands.store.list_runs(RunFilter(thread_id="t-1")) == []
