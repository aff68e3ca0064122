"""Many runs in one process: rounds a second of 200 at once, and the memory of 10,000 that wait."""

from collections.abc import Iterator
from statistics import median

from bench.child import probe
from bench.table import Row

RUNS, ROUNDS, TURNS = 200, 20, 5
WAITING_RUNS = 10_000
MEGABYTE = 1_000_000


def measure() -> Iterator[Row]:
    """200 runs of 20 rounds under one worker, beside a group commit of nothing else."""
    many = ("--runs", RUNS, "--rounds", ROUNDS)
    floor, ours = zip(
        *[
            (probe("bench.probes.floor", "group", *many), probe("bench.probes.ours", "many", *many))
            for _ in range(TURNS)
        ],
        strict=True,
    )
    name = f"{RUNS} runs x {ROUNDS} rounds"
    rate = median(one["rounds_per_second"] for one in ours)
    yield Row(f"{name}: floor, group commit", median(one["rounds_per_second"] for one in floor), "rounds/s")
    yield Row(f"{name}: outlast", rate, "rounds/s", at_least=2500)
    yield Row(f"{name}: CPU a round", median(one["cpu_ms"] for one in ours), "ms")
    yield Row(f"{name}: commits made durable a round", median(one["syncs"] for one in ours), "")


def measure_waiting() -> Iterator[Row]:
    """10,000 runs that wait for an approval."""
    grown = probe("bench.probes.waiting", "park", "--runs", WAITING_RUNS)["grown_bytes"]
    yield Row(f"{WAITING_RUNS:,} waiting runs: growth of resident memory", grown / MEGABYTE, "MB", at_most=10)
