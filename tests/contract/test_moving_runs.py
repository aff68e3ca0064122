"""A run goes from SQLite over PostgreSQL and Redis and comes back byte for byte."""

import shutil
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager
from pathlib import Path

import pytest

from outlast.adapters.stores.postgres import PostgresStore
from outlast.adapters.stores.sqlite import SqliteStore
from outlast.ports.store import Store
from outlast.service.exporting import export_run
from outlast.service.importing import import_run
from outlast.service.inspection import Problem, check_store
from outlast.service.portable import read_portable
from outlast.service.removal import remove_run
from tests.contract.test_store_redis import NewStorage, served

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
