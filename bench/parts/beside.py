"""Peers at the same work, in an environment of their own, in the same minutes."""

import os
from collections.abc import Iterator
from statistics import median
from typing import Any, Final

from bench.child import probe
from bench.parts.concurrent import ROUNDS, RUNS
from bench.table import Row

PYTHON_VARIABLE: Final = "OUTLAST_BENCH_PEERS_PYTHON"
PEERS: Final = {"LangGraph": "bench.peers.langgraph_loop", "DBOS": "bench.peers.dbos_loop"}
LENGTHS: Final = (50, 500)
LONG_LENGTHS: Final = (2000,)
TURNS: Final = 3


def measure() -> Iterator[Row]:
    """Every peer at every length, and at many runs at once."""
    for rounds in LENGTHS:
        yield from of_length(rounds, TURNS)
    ours = probe("bench.probes.ours", "many", "--runs", RUNS, "--rounds", ROUNDS)["rounds_per_second"]
    yield Row(f"{RUNS} runs x {ROUNDS} rounds: outlast", ours, "rounds/s")
    for peer in PEERS:
        theirs = of_peer(peer, "many", "--runs", RUNS, "--rounds", ROUNDS)["rounds_per_second"]
        yield Row(f"{RUNS} runs x {ROUNDS} rounds: {peer}", theirs, "rounds/s")
        yield Row(f"{RUNS} runs x {ROUNDS} rounds: outlast / {peer}", ours / theirs, "x")


def measure_long() -> Iterator[Row]:
    """Every peer at 2,000 rounds, which takes some of them minutes and gigabytes."""
    for rounds in LONG_LENGTHS:
        yield from of_length(rounds, 1)


def of_length(rounds: int, turns: int) -> Iterator[Row]:
    """Ours and theirs in turn."""
    length = ("--rounds", rounds)
    found = [
        (probe("bench.probes.ours", "rounds", *length), *[of_peer(peer, "rounds", *length) for peer in PEERS])
        for _ in range(turns)
    ]
    yield Row(f"{rounds} rounds: outlast, a round", median(turn[0]["mean_ms"] for turn in found), "ms")
    for index, peer in enumerate(PEERS, start=1):
        yield Row(f"{rounds} rounds: {peer}, a round", median(turn[index]["mean_ms"] for turn in found), "ms")
        times = median(turn[index]["mean_ms"] / turn[0]["mean_ms"] for turn in found)
        yield Row(f"{rounds} rounds: {peer} / outlast", times, "x")
        size = found[0][index]["file_bytes"] / (rounds * 1024)
        yield Row(f"{rounds} rounds: {peer}, file / payload", size, "x")


def of_peer(peer: str, *words: object) -> dict[str, Any]:
    """What a peer's probe found, run by the interpreter that has the peers."""
    return probe(PEERS[peer], *words, python=os.environ[PYTHON_VARIABLE])
