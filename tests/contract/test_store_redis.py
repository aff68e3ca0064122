"""The store contract, over the newest server of its kind and the oldest that is served."""

import os
import uuid
from collections.abc import Iterator

import pytest
import redis as vendor

from outlast.adapters.stores.redis import RedisStore
from outlast.testing.contracts.store import MakeStore, StoreContract
from outlast.testing.servers.redis import Kind, RedisServer, find_binary
from tests.law import law

GIVEN = os.environ.get("OUTLAST_TEST_REDIS_URL", "")


def served(kind: Kind) -> Iterator[str]:
    """The address of a server: the one that OUTLAST_TEST_REDIS_URL names, else one of our own."""
    if GIVEN:
        yield GIVEN
        return
    with RedisServer(find_binary(kind)) as server:
        yield server.url


@pytest.fixture(scope="module")
def valkey() -> Iterator[str]:
    yield from served("valkey")


@pytest.fixture(scope="module")
def oldest_redis() -> Iterator[str]:
    yield from served("redis")


def stores(url: str) -> Iterator[MakeStore]:
    """Makes handles on a store of one test, which leaves nothing behind on a server that was given."""
    name = f"test-{uuid.uuid4().hex}"
    yield lambda: RedisStore(url, name=name)
    if GIVEN:
        with vendor.Redis.from_url(url) as client:
            for key in client.scan_iter(match=f"{{outlast:{name}}}:*", count=1000):
                client.delete(key)


@law("STORE-1.d", "STORE-1.e")
class TestValkey(StoreContract):
    @pytest.fixture
    def make_store(self, valkey: str) -> Iterator[MakeStore]:
        yield from stores(valkey)


@law("STORE-1.d")
class TestOldestRedis(StoreContract):
    @pytest.fixture
    def make_store(self, oldest_redis: str) -> Iterator[MakeStore]:
        yield from stores(oldest_redis)
