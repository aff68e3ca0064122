"""A store with many memories, and recall over it: `python -m bench.probes.memories fill|recall --entries N --directory D [--url U]`.

The texts are made of a vocabulary whose words are as unevenly common as those of a language, the vectors lie in clusters.
"""

import argparse
import asyncio
import json
import resource
import time
from datetime import UTC, datetime, timedelta
from pathlib import Path
from statistics import median

import numpy as np

from outlast.adapters.stores.postgres import PostgresStore
from outlast.adapters.stores.sqlite import SqliteStore
from outlast.domain.memory import Memory, MemoryKind, Origin, Scope, Vector
from outlast.ports.memory import Entry, MemoryQuery

NOW = datetime(2026, 11, 30, tzinfo=UTC)
WORDS, DIMENSIONS, CLUSTERS, AT_ONCE, QUERIES = 30_000, 384, 200, 500, 60


class World:
    """Texts and vectors, the same every time."""

    def __init__(self, seed: int) -> None:
        self._random = np.random.default_rng(seed)
        weights = 1 / np.arange(1, WORDS + 1)
        self._weights = weights / weights.sum()
        self._centres = np.random.default_rng(1).normal(size=(CLUSTERS, DIMENSIONS))

    def text(self, words: int) -> str:
        """So many words, each as often as its rank says."""
        return " ".join(f"w{rank}" for rank in self._random.choice(WORDS, words, p=self._weights))

    def vector(self) -> Vector:
        """A vector near one of the centres."""
        centre = self._centres[self._random.integers(CLUSTERS)]
        return Vector.of("made", centre * 0.8 + self._random.normal(size=DIMENSIONS))

    def entry(self, number: int) -> Entry:
        """A fact of a few lines."""
        memory = Memory(
            kind=MemoryKind.FACT,
            text=self.text(40),
            scope=Scope("ada"),
            created_at=NOW,
            valid_from=NOW,
            origin=Origin("t", "r", number),
        )
        return Entry(memory, self.vector())


async def fill(store: SqliteStore | PostgresStore, entries: int) -> dict[str, float]:
    """Put that many entries."""
    world, began = World(2), time.perf_counter()
    for start in range(0, entries, AT_ONCE):
        await store.memory.put([world.entry(start + place) for place in range(AT_ONCE)])
    return {"seconds": time.perf_counter() - began}


async def recall(store: SqliteStore | PostgresStore) -> dict[str, float]:
    """Ask, once to warm up and then QUERIES times."""
    world, before = World(3), _peak_megabytes()
    walls, cpus = [], []
    for number in range(QUERIES + 1):
        query = MemoryQuery(
            text=world.text((3, 6, 10)[number % 3]),
            asker=Scope("ada", "t", "r"),
            at=NOW + timedelta(days=1),
            vector=world.vector(),
        )
        wall, cpu = time.perf_counter(), time.process_time()
        hits = await store.memory.search(query)
        walls.append((time.perf_counter() - wall) * 1000)
        cpus.append((time.process_time() - cpu) * 1000)
        assert len(hits) == query.limit
    return {
        "first_ms": walls[0],
        "median_ms": median(walls[1:]),
        "fast_tenth_ms": sorted(walls[1:])[QUERIES // 10],
        "median_cpu_ms": median(cpus[1:]),
        "grown_megabytes": _peak_megabytes() - before,
    }


def _peak_megabytes() -> float:
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024


async def main() -> None:
    """Do one verb on one store and print what was measured."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("verb", choices=("fill", "recall"))
    parser.add_argument("--entries", type=int, default=0)
    parser.add_argument("--directory", type=Path, required=True)
    parser.add_argument("--url")
    asked = parser.parse_args()
    store = PostgresStore(asked.url) if asked.url else SqliteStore(asked.directory / "memory.db")
    await store.open()
    try:
        found = await (fill(store, asked.entries) if asked.verb == "fill" else recall(store))
    finally:
        await store.close()
    print(json.dumps(found))


if __name__ == "__main__":
    asyncio.run(main())
