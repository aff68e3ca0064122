"""The store contract, over a file and over memory."""

from pathlib import Path

import pytest

from outlast.adapters.stores.sqlite import SqliteStore
from outlast.testing.contracts.store import MakeStore, StoreContract
from tests.law import law


@law("STORE-1.b", "STORE-1.e")
class TestSqliteFile(StoreContract):
    @pytest.fixture
    def make_store(self, tmp_path: Path) -> MakeStore:
        return lambda: SqliteStore(tmp_path / "outlast.db")


@law("STORE-1.a")
class TestSqliteMemory(StoreContract):
    is_shared = False

    @pytest.fixture
    def make_store(self) -> MakeStore:
        return lambda: SqliteStore(None)
