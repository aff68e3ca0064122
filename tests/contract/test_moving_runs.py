"""A run goes from SQLite over PostgreSQL and Redis and comes back byte for byte."""

import shutil
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager
from pathlib import Path

import pytest

from outlast.adapters.stores.postgres import PostgresStore
from outlast.adapters.stores.sqlite import SqliteStore
from outlast.domain.errors import Conflict
from outlast.ports.background_driver import Product, RemoteStatus, Snapshot
from outlast.ports.store import Store
from outlast.ports.task_rows import TaskFilter
from outlast.service.background.moving import mark_as_moved
from outlast.service.exporting import export_run
from outlast.service.importing import import_run
from outlast.service.inspection import Problem, check_store
from outlast.service.portable import read_portable
from outlast.service.removal import remove_run
from outlast.tasks.codec import task_in
from tests.contract.test_store_redis import NewStorage, served
from tests.unit.service.background.farm import farming

GOLDEN = Path(__file__).resolve().parents[1] / "golden/databases/sqlite-v1.db"


@pytest.fixture(scope="module")
def new_on_redis() -> Iterator[NewStorage]:
    yield from served("valkey")


@asynccontextmanager
async def opened(store: Store) -> AsyncIterator[Store]:
    await store.open()
    try:
        yield store
    finally:
        await store.close()


async def lines(store: Store, run_id: str) -> list[bytes]:
    return [line async for line in export_run(store, run_id)]


async def test_runs_move_between_all_stores_and_back(
    tmp_path: Path, postgres_store_url: str, new_on_redis: NewStorage
) -> None:
    shutil.copy(GOLDEN, tmp_path / "outlast.db")
    way: list[Store] = [
        SqliteStore(tmp_path / "outlast.db"),
        PostgresStore(postgres_store_url),
        new_on_redis()(),
        SqliteStore(None),
    ]
    async with opened(way[0]) as first:
        whole = {run_id: await lines(first, run_id) for run_id in await first.list_run_ids()}
    for store in way[1:]:
        async with opened(store):
            for run_id, text in whole.items():
                assert (await import_run(store, read_portable(text))).is_new
                assert await lines(store, run_id) == text
            assert [found async for found in check_store(store) if isinstance(found, Problem)] == []
            for run_id, text in whole.items():
                row = await store.read_run(run_id)
                assert row is not None
                gone = await remove_run(store, row, len(read_portable(text).events))
                assert gone is not row.is_active
            assert (await store.find_stray()).payloads == {}


async def test_tasks_that_go_on_move_between_all_stores(
    tmp_path: Path, postgres_store_url: str, new_on_redis: NewStorage
) -> None:
    way: list[Store] = [PostgresStore(postgres_store_url), new_on_redis()(), SqliteStore(None)]
    async with farming(tmp_path) as hands:
        run_id = await hands.stage.play("render it", thread_id="t-1")
        hands.farm.remote.default = Snapshot(status=RemoteStatus.COMPLETED, product=Product("long " * 9_000))
        await hands.poll()
        before = (await hands.tasks())[0]
        text = [line async for line in export_run(hands.store, run_id, moves=True)]
        for store in way:
            async with opened(store):
                for _ in range(2):
                    assert (await import_run(store, read_portable(text))).tasks == 1
                row = (await store.list_tasks(TaskFilter(run_id=run_id)))[0]
                assert task_in(row) == before
                assert await store.claim("task_notify", "a worker", 60)
                assert [found async for found in check_store(store) if isinstance(found, Problem)] == []
                with pytest.raises(Conflict):
                    await mark_as_moved(store, run_id)
                await store.expire_lease("task_notify", before.task_id)  # type: ignore[attr-defined]
                assert [line async for line in export_run(store, run_id, moves=True)] == text
                assert (await store.list_tasks(TaskFilter(run_id=run_id)))[0].status == "moved"
                assert await store.next_due("task_poll") is None
