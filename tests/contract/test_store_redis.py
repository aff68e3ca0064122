"""The store contract, over the newest server of its kind and the oldest that is served."""

import os
from collections.abc import Callable, Iterator

import pytest

from outlast.adapters.stores.redis.scratch import scratch_stores
from outlast.testing.contracts.store import MakeStore, StoreContract
from outlast.testing.servers.redis import Kind, RedisServer, find_binary
from tests.law import law

GIVEN = os.environ.get("OUTLAST_TEST_REDIS_URL", "")

NewStorage = Callable[[], MakeStore]


def served(kind: Kind) -> Iterator[NewStorage]:
    """Makes empty stores on the server that OUTLAST_TEST_REDIS_URL names, which keeps nothing of them, else on one of our own."""
    if GIVEN:
        with scratch_stores(GIVEN) as new_storage:
            yield new_storage
        return
    with RedisServer(find_binary(kind)) as server, scratch_stores(server.url) as new_storage:
        yield new_storage


@pytest.fixture(scope="module")
def valkey() -> Iterator[NewStorage]:
    yield from served("valkey")


@pytest.fixture(scope="module")
def oldest_redis() -> Iterator[NewStorage]:
    yield from served("redis")


@law("STORE-1.d", "STORE-1.e")
class TestValkey(StoreContract):
    @pytest.fixture
    def make_store(self, valkey: NewStorage) -> MakeStore:
        return valkey()


@law("STORE-1.d")
class TestOldestRedis(StoreContract):
    @pytest.fixture
    def make_store(self, oldest_redis: NewStorage) -> MakeStore:
        return oldest_redis()
