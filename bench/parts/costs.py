"""What each verb of a store costs its server, in microseconds of CPU: what `bench/simulation/costs.py` is written from."""

from collections.abc import Iterator
from typing import Final

from bench.child import probe
from bench.servers import each_served
from bench.table import Row

TOGETHER: Final = {"redis": 8}
PLACES: Final = {
    "claim_user_due": "claim, a user with something due",
    "claim_user_waiting": "claim, a user who waits",
}


def measure() -> Iterator[Row]:
    """SQLite in memory, whose verbs run in the worker, then the servers."""
    yield from _rows("sqlite", probe("bench.probes.costs", "here"))
    for server in each_served():
        asked = ("--url", server.url, "--pid", server.pid, "--together", TOGETHER.get(server.name, 1))
        yield from _rows(server.name, probe("bench.probes.costs", "server", *asked))


def _rows(name: str, found: dict[str, float]) -> Iterator[Row]:
    del found["started_at"]
    for verb, seconds in found.items():
        yield Row(f"{name}: {PLACES.get(verb, verb.replace('_', ', each '))}", seconds * 1e6, "us")
