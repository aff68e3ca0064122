"""What every store of memory promises, as tests to inherit.

class TestMyMemory(MemoryContract):
    @pytest.fixture
    async def memory(self) -> AsyncIterator[MemoryStore]:
        ...

May import: `ports`, `domain`, pytest.
To add one: a test in the file of its subject; every store then has to pass it.
"""

from outlast.testing.contracts.memory.finding import Finding
from outlast.testing.contracts.memory.keeping import Keeping
from outlast.testing.contracts.memory.samples import NOW, asked, note, pointing
from outlast.testing.contracts.memory.vectors import Vectors

__all__ = ["NOW", "MemoryContract", "asked", "note", "pointing"]


class MemoryContract(Keeping, Finding, Vectors):
    """Inherit, and give a fixture `memory`: a store of memory, open and empty."""
