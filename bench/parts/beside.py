"""Peers at the same work, in an environment of their own, on the same store in the same minutes."""

import os
from collections.abc import Iterator
from pathlib import Path
from statistics import median
from typing import Any, Final

from bench.child import probe
from bench.parts.concurrent import ROUNDS, RUNS
from bench.servers import each_served
from bench.table import Row
from bench.work import PAYLOAD_BYTES

PYTHON_VARIABLE: Final = "OUTLAST_BENCH_PEERS_PYTHON"
SCHEMA_VARIABLE: Final = "OUTLAST_BENCH_ABSURD_SQL"
"""The schema of Absurd, which its package does not bring along."""

MODULES: Final = {
    "Absurd": "bench.peers.absurd_loop",
    "DBOS": "bench.peers.dbos_loop",
    "LangGraph": "bench.peers.langgraph_loop",
}
ON_SQLITE: Final = ("DBOS", "LangGraph")
TURNS: Final = {50: 3, 500: 2}
"""How often each length is measured. Who writes most comes last in a turn."""

LONG_ROUNDS: Final = 2000
AT_LEAST: Final = {"Absurd": 6.0, "DBOS": 10.0, "LangGraph": 10.0}
"""How many times the rounds a second of each, 200 runs at once on PostgreSQL."""


def measure() -> Iterator[Row]:
    """Every peer at every length and at many runs at once, on SQLite and on PostgreSQL."""
    yield from _beside("sqlite", "", ON_SQLITE)
    for server in each_served(("postgres",)):
        yield from _beside(server.name, server.url, on_postgres())


def measure_long() -> Iterator[Row]:
    """Peers at 2,000 rounds on SQLite, which takes some of them minutes and gigabytes."""
    yield from _of_length("sqlite", "", ON_SQLITE, LONG_ROUNDS, 1)


def on_postgres() -> tuple[str, ...]:
    """All peers, but Absurd only where its schema is at hand, which a plain line says otherwise."""
    if SCHEMA_VARIABLE in os.environ:
        return tuple(MODULES)
    print(f"  Absurd is left out: set {SCHEMA_VARIABLE} to a copy of its sql/absurd.sql.", flush=True)
    return ON_SQLITE


def trouble() -> str | None:
    """What the environment lacks for measuring peers, and what to do about it."""
    if PYTHON_VARIABLE not in os.environ:
        return f"set {PYTHON_VARIABLE} to a Python that has the peers (see docs/reference/performance.md)"
    schema = os.environ.get(SCHEMA_VARIABLE)
    if schema is not None and not Path(schema).is_file():
        return f"{SCHEMA_VARIABLE} names {schema}, which is no file; name a copy of Absurd's sql/absurd.sql"
    return None


def _beside(store: str, url: str, peers: tuple[str, ...]) -> Iterator[Row]:
    for rounds, turns in TURNS.items():
        yield from _of_length(store, url, peers, rounds, turns)
    for peer in peers:
        yield from _many(store, url, peer)


def _of_length(store: str, url: str, peers: tuple[str, ...], rounds: int, turns: int) -> Iterator[Row]:
    """Ours and theirs in turn."""
    length = ("rounds", "--rounds", rounds, "--url", url)
    found = [
        (probe("bench.probes.ours", *length), [_of_peer(peer, *length) for peer in peers])
        for _ in range(turns)
    ]
    name = f"{store}, {rounds} rounds"
    yield Row(f"{name}: outlast, a round", median(ours["mean_ms"] for ours, _ in found), "ms")
    for index, peer in enumerate(peers):
        yield Row(f"{name}: {peer}, a round", median(them[index]["mean_ms"] for _, them in found), "ms")
        times = median(them[index]["mean_ms"] / ours["mean_ms"] for ours, them in found)
        yield Row(f"{name}: {peer} / outlast", times, "x")
        if "file_bytes" in found[0][1][index]:
            size = found[0][1][index]["file_bytes"] / (rounds * PAYLOAD_BYTES)
            yield Row(f"{name}: {peer}, file / payload", size, "x")


def _many(store: str, url: str, peer: str) -> Iterator[Row]:
    """Ours right before and right after theirs, of which the mean counts, since theirs takes long."""
    many = ("many", "--runs", RUNS, "--rounds", ROUNDS, "--url", url)
    before = probe("bench.probes.ours", *many)["rounds_per_second"]
    theirs = _of_peer(peer, *many)["rounds_per_second"]
    ours = (before + probe("bench.probes.ours", *many)["rounds_per_second"]) / 2
    name = f"{store}, {RUNS} runs x {ROUNDS} rounds"
    yield Row(f"{name}: outlast", ours, "rounds/s")
    yield Row(f"{name}: {peer}", theirs, "rounds/s")
    bound = AT_LEAST[peer] if url else None
    yield Row(f"{name}: outlast / {peer}", ours / theirs, "x", at_least=bound)


def _of_peer(peer: str, *words: object) -> dict[str, Any]:
    """What a peer's probe found, run by the interpreter that has the peers."""
    return probe(MODULES[peer], *words, python=os.environ[PYTHON_VARIABLE])
