"""The store contract, over a file and over memory."""

import math
from pathlib import Path

import pytest

from outlast.adapters.stores.sqlite import SqliteStore
from outlast.testing.contracts.store import MakeStore, StoreContract
from tests.law import law


@law("STORE-1.b", "STORE-1.e")
class TestSqliteFile(StoreContract):
    """Light commits in the loop that asks, whatever the disk of the test is like."""

    @pytest.fixture
    def make_store(self, tmp_path: Path) -> MakeStore:
        return lambda: SqliteStore(tmp_path / "outlast.db", quick_seconds=math.inf)


@law("STORE-1.b", "STORE-1.e")
class TestSqliteFileOnASlowDisk(StoreContract):
    """All commits in the thread of the store."""

    @pytest.fixture
    def make_store(self, tmp_path: Path) -> MakeStore:
        return lambda: SqliteStore(tmp_path / "outlast.db", quick_seconds=0)


@law("STORE-1.a")
class TestSqliteMemory(StoreContract):
    is_shared = False

    @pytest.fixture
    def make_store(self) -> MakeStore:
        return lambda: SqliteStore(None)
