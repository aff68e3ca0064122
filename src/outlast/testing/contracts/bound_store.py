"""The store contract, bound to the storage that `outlast.testing.conformance` hands in."""

from __future__ import annotations

from typing import Any, cast

import pytest

from outlast.testing.conformance import STORAGE
from outlast.testing.contracts.store import MakeStore, StoreContract


class TestStore(StoreContract):
    """Every promise of a store, each on an empty storage."""

    @pytest.fixture
    def make_store(self, pytestconfig: pytest.Config) -> MakeStore:
        """Handles on the storage of one test."""
        storage: Any = pytestconfig.pluginmanager.get_plugin(STORAGE)
        return cast("MakeStore", storage.new())
