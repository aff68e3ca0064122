"""The handles tests work with, opened and closed for them."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable
from typing import ClassVar, Protocol

import pytest
import pytest_asyncio

from outlast.ports.store import Store


class TestableStore(Store, Protocol):
    """A store with the one verb that only tests need."""

    __test__: ClassVar[bool] = False

    async def expire_lease(self, queue: str, item: str) -> None:
        """Let a live lease run out now, as if its time had passed."""
        ...


MakeStore = Callable[[], TestableStore]
"""Makes another handle, not yet opened, on the storage of this test, which was empty when the test began."""


class StoreFixtures:
    """What the tests are handed: `store`, and `other`, a second handle on the same storage."""

    is_shared: ClassVar[bool] = True
    """Do two handles see the same storage, and does it outlive them? Where not, `other` is `store`."""

    @pytest.fixture
    def make_store(self) -> MakeStore:
        """Override this to bind an adapter."""
        raise NotImplementedError("override the make_store fixture: return a function that makes a handle")

    @pytest_asyncio.fixture
    async def store(self, make_store: MakeStore) -> AsyncIterator[TestableStore]:
        """An open store."""
        store = make_store()
        await store.open()
        yield store
        await store.close()

    @pytest_asyncio.fixture
    async def other(self, store: TestableStore, make_store: MakeStore) -> AsyncIterator[TestableStore]:
        """Another open handle on the same storage."""
        if not self.is_shared:
            yield store
            return
        other = make_store()
        await other.open()
        yield other
        await other.close()
