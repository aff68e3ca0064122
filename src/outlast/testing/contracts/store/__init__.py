"""The store contract: what every store is held to, one class of tests a promise.

Bind an adapter by a subclass of `StoreContract` with one fixture; tests are async and need pytest-asyncio.

    class TestAcme(StoreContract):
        @pytest.fixture
        def make_store(self, tmp_path):
            return lambda: AcmeStore(tmp_path / "store")

May import: `ports`, `domain`, pytest.
To add one: a test in the class whose promise it checks, through the port alone.
"""

from outlast.testing.contracts.store.atomicity import AtomicityContract
from outlast.testing.contracts.store.fencing import FencingContract
from outlast.testing.contracts.store.handles import MakeStore, StoreFixtures, TestableStore
from outlast.testing.contracts.store.journal import JournalContract
from outlast.testing.contracts.store.lifetime import LifetimeContract
from outlast.testing.contracts.store.queues import QueueContract
from outlast.testing.contracts.store.removal import RemovalContract
from outlast.testing.contracts.store.rows import RowContract
from outlast.testing.contracts.store.sharing import SharingContract
from outlast.testing.contracts.store.taking_on import TakingOnContract
from outlast.testing.contracts.store.tasks import TaskContract
from outlast.testing.contracts.store.text import TextContract
from outlast.testing.contracts.store.watching import WatchContract

__all__ = ["MakeStore", "StoreContract", "TestableStore"]


class StoreContract(
    JournalContract,
    RowContract,
    QueueContract,
    SharingContract,
    TakingOnContract,
    FencingContract,
    AtomicityContract,
    TextContract,
    WatchContract,
    RemovalContract,
    TaskContract,
    LifetimeContract,
    StoreFixtures,
):
    """Every promise of `outlast.ports.store`. Set `is_shared` to False when a second handle does not see what the first wrote."""
