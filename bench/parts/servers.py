"""The same work on PostgreSQL and Redis, beside the floor of each: a durable round, many runs at once, runs that wait."""

from collections.abc import Iterator
from statistics import median
from typing import Final

from bench.child import probe
from bench.parts import concurrent
from bench.parts.concurrent import MEGABYTE, ROUNDS, RUNS
from bench.servers import Served, each_served
from bench.table import Row

LONG, TURNS, WAITING_RUNS = 500, 7, 2000
AT_MOST: Final = {"postgres": 2.0}
AT_LEAST: Final = {"postgres": 2500.0}


def measure() -> Iterator[Row]:
    """Every server that can be started."""
    for server in each_served():
        yield from _rounds(server)
        yield from _many(server)
        yield from _waiting(server)


def _rounds(server: Served) -> Iterator[Row]:
    length = ("--rounds", LONG, "--url", server.url)
    found = [
        (probe("bench.probes.floor_servers", "bare", *length), probe("bench.probes.ours", "rounds", *length))
        for _ in range(TURNS)
    ]
    name = f"{server.name}, {LONG} rounds"
    yield Row(f"{name}: floor, a round", median(floor["mean_ms"] for floor, _ in found), "ms")
    yield Row(f"{name}: outlast, a round", median(ours["mean_ms"] for _, ours in found), "ms")
    times = median(ours["mean_ms"] / floor["mean_ms"] for floor, ours in found)
    yield Row(f"{name}: outlast / floor", times, "x", at_most=AT_MOST.get(server.name))
    yield Row(f"{name}: CPU a round", median(ours["cpu_ms"] for _, ours in found), "ms")
    yield Row(f"{name}: commits a round", median(ours["commits"] for _, ours in found), "")


def _many(server: Served) -> Iterator[Row]:
    many = ("--runs", RUNS, "--rounds", ROUNDS, "--url", server.url)
    found = [
        (probe("bench.probes.floor_servers", "group", *many), probe("bench.probes.ours", "many", *many))
        for _ in range(concurrent.TURNS)
    ]
    name = f"{server.name}, {RUNS} runs x {ROUNDS} rounds"
    floor, ours = (median(turn[side]["rounds_per_second"] for turn in found) for side in (0, 1))
    yield Row(f"{name}: floor, grouped", floor, "rounds/s")
    yield Row(f"{name}: outlast", ours, "rounds/s", at_least=AT_LEAST.get(server.name))
    yield Row(f"{name}: CPU a round", median(one["cpu_ms"] for _, one in found), "ms")


def _waiting(server: Served) -> Iterator[Row]:
    """What every waiting run takes is bounded; what the process took in once on the way, in jumps, is told beside it."""
    grown = probe("bench.probes.waiting", "park", "--runs", WAITING_RUNS, "--url", server.url)
    name = f"{server.name}, {WAITING_RUNS:,} waiting runs: resident memory"
    yield Row(f"{name}, steadily", grown["steadily_bytes"] / MEGABYTE, "MB", at_most=2)
    yield Row(f"{name}, jumps included", grown["grown_bytes"] / MEGABYTE, "MB")
