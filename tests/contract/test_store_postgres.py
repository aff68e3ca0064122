"""The store contract, over a real server."""

import pytest

from outlast.adapters.stores.postgres import PostgresStore
from outlast.testing.contracts.store import MakeStore, StoreContract
from tests.law import law


@law("STORE-1.c", "STORE-1.e")
class TestPostgres(StoreContract):
    @pytest.fixture
    def make_store(self, postgres_store_url: str) -> MakeStore:
        return lambda: PostgresStore(postgres_store_url)
