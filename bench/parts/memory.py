"""Recall from long-term memory: how much of the evidence it finds beside plain BM25 and plain vectors, and how fast among many."""

from collections.abc import Iterator

from bench.child import fresh_directory, probe
from bench.servers import each_served
from bench.table import Row

ENTRIES = 100_000
MEDIAN_MS = 50.0
GROWN_MEGABYTES = 60.0
DEPTHS = (5, 10)


def measure() -> Iterator[Row]:
    """The sets, then the stores."""
    yield from measure_quality()
    yield from measure_speed()


def measure_quality() -> Iterator[Row]:
    """Ours has to find at least as much as the better of the two, on every set and at both depths."""
    found = probe("bench.probes.memory_quality")
    del found["started_at"]
    for name, ways in found.items():
        for place, depth in enumerate(DEPTHS):
            bm25, vectors, ours = (ways[way][place] for way in ("bm25", "vectors", "ours"))
            yield Row(f"{name}: recall at {depth}, plain BM25", bm25, "%")
            yield Row(f"{name}: recall at {depth}, plain vectors", vectors, "%")
            yield Row(f"{name}: recall at {depth}, ours", ours, "%", at_least=max(bm25, vectors))


def measure_speed() -> Iterator[Row]:
    """A store with many entries, asked by a process that has just begun."""
    with fresh_directory() as directory:
        yield from _asked("SQLite", directory)
        for server in each_served(("postgres",)):
            yield from _asked(server.name, directory, "--url", server.url)


def _asked(name: str, directory: str, *place: str) -> Iterator[Row]:
    filled = probe("bench.probes.memories", "fill", "--entries", ENTRIES, *place, directory=directory)
    found = probe("bench.probes.memories", "recall", *place, directory=directory)
    title = f"{name}, {ENTRIES:,} memories"
    yield Row(f"{title}: put, each", filled["seconds"] * 1000 / ENTRIES, "ms")
    yield Row(f"{title}: first recall of a process", found["first_ms"], "ms")
    yield Row(f"{title}: recall, median", found["median_ms"], "ms", at_most=MEDIAN_MS)
    yield Row(f"{title}: recall, the fastest tenth", found["fast_tenth_ms"], "ms")
    yield Row(f"{title}: recall, CPU of the process", found["median_cpu_ms"], "ms")
    yield Row(f"{title}: growth of resident memory", found["grown_megabytes"], "MB", at_most=GROWN_MEGABYTES)
