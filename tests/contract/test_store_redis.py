"""The store contract, over the newest server of its kind and the oldest that is served."""

import itertools
import os
from collections.abc import Iterator

import pytest

from outlast.adapters.stores.redis import RedisStore
from outlast.testing.contracts.store import MakeStore, StoreContract
from outlast.testing.servers.redis import Kind, RedisServer, find_binary
from tests.law import law

NAMES = itertools.count()


def served(kind: Kind) -> Iterator[str]:
    """The address of a server: the one that OUTLAST_TEST_REDIS_URL names, else one of our own."""
    given = os.environ.get("OUTLAST_TEST_REDIS_URL")
    if given:
        yield given
        return
    with RedisServer(find_binary(kind)) as server:
        yield server.url


@pytest.fixture(scope="module")
def valkey() -> Iterator[str]:
    yield from served("valkey")


@pytest.fixture(scope="module")
def oldest_redis() -> Iterator[str]:
    yield from served("redis")


def maker(url: str) -> MakeStore:
    """Makes handles on a store that no other test has used."""
    name = f"test-{os.getpid()}-{next(NAMES)}"
    return lambda: RedisStore(url, name=name)


@law("STORE-1.d", "STORE-1.e")
class TestValkey(StoreContract):
    @pytest.fixture
    def make_store(self, valkey: str) -> MakeStore:
        return maker(valkey)


@law("STORE-1.d")
class TestOldestRedis(StoreContract):
    @pytest.fixture
    def make_store(self, oldest_redis: str) -> MakeStore:
        return maker(oldest_redis)
