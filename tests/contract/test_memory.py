"""The contract of memory, over every store."""

from collections.abc import AsyncIterator, Iterator
from pathlib import Path

import pytest

from outlast.adapters.stores.postgres import PostgresStore
from outlast.adapters.stores.redis import RedisStore
from outlast.adapters.stores.sqlite import SqliteStore
from outlast.ports.memory import MemoryStore
from outlast.testing.contracts.memory import MemoryContract
from outlast.testing.servers.redis import RedisServer, find_binary
from tests.law import law


@law("MEM-3.b", "MEM-3.d", "MEM-3.f", "MEM-4.b", "MEM-4.c")
class TestSqliteFile(MemoryContract):
    @pytest.fixture
    async def memory(self, tmp_path: Path) -> AsyncIterator[MemoryStore]:
        store = SqliteStore(tmp_path / "outlast.db")
        await store.open()
        yield store.memory
        await store.close()


class TestSqliteMemory(MemoryContract):
    @pytest.fixture
    async def memory(self) -> AsyncIterator[MemoryStore]:
        store = SqliteStore(None)
        await store.open()
        yield store.memory
        await store.close()


@law("MEM-3.b", "MEM-3.d", "MEM-3.f", "MEM-4.b", "MEM-4.c")
class TestPostgres(MemoryContract):
    @pytest.fixture
    async def memory(self, postgres_store_url: str) -> AsyncIterator[MemoryStore]:
        store = PostgresStore(postgres_store_url)
        await store.open()
        yield store.memory
        await store.close()


@pytest.fixture(scope="module")
def redis_url() -> Iterator[str]:
    with RedisServer(find_binary("valkey")) as server:
        yield server.url


class TestRedis(MemoryContract):
    @pytest.fixture
    async def memory(self, redis_url: str, tmp_path: Path) -> AsyncIterator[MemoryStore]:
        store = RedisStore(redis_url, memory_file=tmp_path / "memory.db")
        await store.open()
        assert store.memory is not None
        yield store.memory
        await store.close()
