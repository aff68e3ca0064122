"""The whole offline research over 100 documents: its CPU, and how much of it is the engine's."""

from collections.abc import Iterator

from bench.child import probe
from bench.table import Row

DOCUMENTS = 100


def measure() -> Iterator[Row]:
    """Once plainly for the CPU, once sampled for the shares."""
    plain = probe("bench.probes.research", "plain", "--documents", DOCUMENTS)
    sampled = probe("bench.probes.research", "sampled", "--documents", DOCUMENTS)
    name = f"research over {DOCUMENTS} documents"
    yield Row(
        f"{name}: CPU, children included", plain["own_seconds"] + plain["children_seconds"], "s", at_most=20
    )
    yield Row(f"{name}: wall", plain["wall_seconds"], "s")
    yield Row(f"{name}: share of the engine", sampled["engine_share"] * 100, "%", at_most=10)
    for room, seconds in list(sampled["rooms"].items())[:6]:
        yield Row(f"{name}: in {room}", seconds, "s")
