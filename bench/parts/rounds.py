"""A durable round: outlast beside the floor, in turn, so that a busy machine disturbs both."""

from collections.abc import Iterator
from statistics import median
from typing import Any

from bench.child import probe
from bench.table import Row

TURNS = {50: 5, 500: 5, 2000: 3}
"""How often each length is measured."""

LONG_ROUNDS = 20_000
ALONE_ROUNDS = 1_500

Found = dict[str, Any]


def measure() -> Iterator[Row]:
    """Rounds of runs of three lengths, and what one of them stores."""
    for rounds, turns in TURNS.items():
        yield from of_length(rounds, turns)
    alone = min(probe("bench.probes.ours", "alone", "--rounds", ALONE_ROUNDS)["fastest_ms"] for _ in range(3))
    yield Row("a round without a store, of the fastest twentieth", alone, "ms")


def measure_long() -> Iterator[Row]:
    """A run of 20,000 rounds."""
    found = probe("bench.probes.ours", "rounds", "--rounds", LONG_ROUNDS)
    yield Row(f"{LONG_ROUNDS} rounds: a round", found["mean_ms"], "ms")
    yield Row(
        f"{LONG_ROUNDS} rounds: last 50 / first 50", found["last_ms"] / found["first_ms"], "x", at_most=1.2
    )


def of_length(rounds: int, turns: int) -> Iterator[Row]:
    """Medians over some turns of floor, floor through a thread, and outlast."""
    bare, thread, ours = zip(*[turn(rounds) for _ in range(turns)], strict=True)
    name = f"{rounds} rounds"
    yield Row(f"{name}: floor, a round", of(bare, "mean_ms"), "ms")
    yield Row(f"{name}: floor through a thread, a round", of(thread, "mean_ms"), "ms")
    yield Row(f"{name}: outlast, a round", of(ours, "mean_ms"), "ms")
    yield Row(f"{name}: outlast / floor", ratio(ours, bare, "mean_ms"), "x")
    bound = 2.0 if rounds >= 500 else None
    yield Row(f"{name}: outlast / floor through a thread", ratio(ours, thread, "mean_ms"), "x", at_most=bound)
    own = median(a["cpu_ms"] - b["cpu_ms"] for a, b in zip(ours, thread, strict=True))
    yield Row(f"{name}: CPU a round, whole process", of(ours, "cpu_ms"), "ms")
    yield Row(f"{name}: CPU a round beyond the floor's", own, "ms", at_most=0.25 if rounds >= 500 else None)
    if rounds >= 2000:
        yield from of_growth(ours, name)


def of_growth(ours: tuple[Found, ...], name: str) -> Iterator[Row]:
    """What must not grow with the history, and what is counted and not timed."""
    yield Row(
        f"{name}: last 50 / first 50 after a warm-up",
        median(f["last_ms"] / f["first_ms"] for f in ours),
        "x",
        1.2,
    )
    yield Row(f"{name}: statements a round", of(ours, "statements"), "", at_most=2.05)
    yield Row(f"{name}: commits made durable a round", of(ours, "syncs"), "", at_most=2.05)
    yield Row(
        f"{name}: text stored beyond the payload, a round", of(ours, "extra_bytes"), "bytes", at_most=600
    )
    yield Row(f"{name}: file after a checkpoint / payload", of(ours, "file_in_payloads"), "x", at_most=2.5)


def turn(rounds: int) -> tuple[Found, Found, Found]:
    """All three, one after another."""
    length = ("--rounds", rounds)
    bare, thread = (probe("bench.probes.floor", mode, *length) for mode in ("bare", "thread"))
    return bare, thread, probe("bench.probes.ours", "rounds", *length)


def of(found: tuple[Found, ...], key: str) -> float:
    """The median of a figure."""
    return float(median(one[key] for one in found))


def ratio(ours: tuple[Found, ...], other: tuple[Found, ...], key: str) -> float:
    """The median of the ratios of each turn."""
    return float(median(a[key] / b[key] for a, b in zip(ours, other, strict=True)))
