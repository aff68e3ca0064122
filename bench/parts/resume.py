"""Going on after SIGKILL: how soon a new process begins the next step of a run that died in its middle."""

from collections.abc import Iterator
from statistics import median
from typing import Any

from bench.child import fresh_directory, killed, probe
from bench.table import Row

ROUNDS, KILLED_IN, TURNS = 2000, 1000, 3


def measure() -> Iterator[Row]:
    """Kill a run of 2,000 rounds inside its 1,001st tool call, start it again."""
    found = [turn() for _ in range(TURNS)]
    name = f"killed after {KILLED_IN:,} of {ROUNDS:,} rounds"
    yield Row(
        f"{name}: CPU of imports", median(one["import_cpu_seconds"] for one in found), "s", at_most=0.35
    )
    after_imports = median(one["next_step_at"] - one["imported_at"] for one in found)
    yield Row(f"{name}: imports done to next step", after_imports * 1000, "ms", at_most=150)
    own = median(one["next_step_cpu_seconds"] - one["import_cpu_seconds"] for one in found)
    yield Row(f"{name}: imports done to next step, CPU", own * 1000, "ms")
    whole = median(one["next_step_at"] - one["started_at"] for one in found)
    yield Row(f"{name}: process start to next step", whole * 1000, "ms")
    again = max(one["calls"] for one in found) - (ROUNDS - KILLED_IN)
    yield Row(f"{name}: finished steps done again", again, "", at_most=0)


def turn() -> dict[str, Any]:
    """One death and one resurrection."""
    with fresh_directory() as directory:
        killed("bench.probes.ours", "rounds", "--rounds", ROUNDS, "--kill", KILLED_IN, directory=directory)
        return probe("bench.probes.ours", "resume", "--rounds", ROUNDS, directory=directory)
