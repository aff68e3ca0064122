"""Due work on every store: claims and completions a second beside the floor, and from a commit to the act of another process."""

from collections.abc import Iterator
from statistics import median
from typing import Final

from bench.child import fresh_directory, probe
from bench.servers import each_served
from bench.table import Row

BATCHES: Final = {1: 1000, 32: 9600}
"""How many jobs for each size of a batch."""

TURNS, WAKE_UPS = 3, 100
WAKE_UP_MS: Final = {"sqlite": 25.0, "postgres": 5.0, "redis": 5.0}
AT_LEAST: Final = {"postgres": 0.5}


def measure() -> Iterator[Row]:
    """SQLite, then every server that can be started."""
    with fresh_directory() as directory:
        yield from _wake_ups("sqlite", "", directory)
    yield from _claims("sqlite", "")
    for server in each_served():
        yield from _wake_ups(server.name, server.url, None)
        yield from _claims(server.name, server.url)


def _claims(name: str, url: str) -> Iterator[Row]:
    for batch, jobs in BATCHES.items():
        words = ("--url", url, "--batch", batch, "--jobs", jobs)
        floor, ours = zip(
            *[
                [probe("bench.probes.queues", mode, *words)["jobs_per_second"] for mode in ("floor", "ours")]
                for _ in range(TURNS)
            ],
            strict=True,
        )
        what = f"{name}, claim and complete by {batch}"
        yield Row(f"{what}: floor, both in one statement", median(floor), "jobs/s")
        yield Row(f"{what}: outlast", median(ours), "jobs/s")
        share = median(a / b for a, b in zip(ours, floor, strict=True))
        yield Row(f"{what}: outlast / floor", share, "x", at_least=AT_LEAST.get(name))


def _wake_ups(name: str, url: str, directory: str | None) -> Iterator[Row]:
    found = probe("bench.probes.wakeups", "rouse", "--url", url, "--times", WAKE_UPS, directory=directory)
    what = f"{name}, from a commit to another process's claim"
    yield Row(f"{what}: p50", found["p50_ms"], "ms", at_most=WAKE_UP_MS[name])
    yield Row(f"{what}: p95", found["p95_ms"], "ms")
