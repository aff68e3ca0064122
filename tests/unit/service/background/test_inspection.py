"""`db check` on background tasks: rows that cannot be read, rows without entries, entries without rows."""

from dataclasses import replace
from pathlib import Path

from outlast.adapters.stores.sqlite import SqliteStore
from outlast.ports.batch import Committed
from outlast.ports.queue import Enqueue
from outlast.ports.task_rows import InsertTask
from outlast.service.inspection import Problem, Progress, check_store
from outlast.tasks.codec import row_of
from tests.unit.service.background.farm import farming
from tests.unit.tasks.props import task


async def test_background_tasks_that_are_followed_and_told_of_are_sound(tmp_path: Path) -> None:
    async with farming(tmp_path) as hands:
        await hands.stage.play("render it", thread_id="t-1")
        assert [one async for one in check_store(hands.store)] == [Progress(1)]


async def test_tasks_that_nobody_would_go_on_with_or_that_cannot_be_read_are_named() -> None:
    store = SqliteStore(None)
    await store.open()
    lonely, strange = row_of(task(task_id="b-1")), row_of(task(task_id="b-2", remote_id="other", name="x"))
    now = await store.now()
    orphan = Enqueue("task_cancel", "b-3", now, "ann", "renderer")
    rows = [InsertTask(lonely), InsertTask(replace(strange, body="[]")), orphan]
    assert isinstance(await store.commit(rows), Committed)
    found = {one.where: one.what async for one in check_store(store) if isinstance(one, Problem)}
    await store.close()
    assert set(found) == {"b-1", "b-2", "b-3"}
    assert "task_poll has no entry" in found["b-1"]
    assert "task_cancel has an entry" in found["b-3"]
