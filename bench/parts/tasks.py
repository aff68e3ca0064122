"""Background tasks: how soon what is due is asked for, and how soon what ended is told, on SQLite and PostgreSQL."""

from collections.abc import Iterator

from bench.child import probe
from bench.servers import each_served
from bench.table import Row

TASKS, TOGETHER, SINGLY = 1000, 200, 40


def measure() -> Iterator[Row]:
    """The figures a notification lives by."""
    for mode in (_polls, _endings, _first):
        yield from mode("sqlite", "")
    for mode in (_polls, _endings, _first):
        for server in each_served(("postgres",)):  # each with a database of its own, as in a file
            yield from mode(server.name, server.url)


def _polls(name: str, url: str) -> Iterator[Row]:
    polls = probe("bench.probes.tasks", "polls", "--url", url, "--count", TASKS)
    what = f"{name}, {TASKS:,} polls due at the same moment"
    yield Row(f"{what}: half asked after", polls["p50_ms"], "ms")
    yield Row(f"{what}: all asked after", polls["last_ms"], "ms", at_most=2000.0)


def _endings(name: str, url: str) -> Iterator[Row]:
    endings = probe("bench.probes.tasks", "endings", "--url", url, "--count", TOGETHER)
    what = f"{name}, {TOGETHER} tasks that end together"
    yield Row(f"{what}: half have their run after", endings["p50_ms"], "ms")
    yield Row(f"{what}: all have their run after", endings["last_ms"], "ms", at_most=2000.0)
    yield Row(f"{what}: CPU of the worker for each, until it was told", endings["cpu_ms"], "ms")


def _first(name: str, url: str) -> Iterator[Row]:
    first = probe("bench.probes.tasks", "first", "--url", url, "--count", SINGLY)
    what = f"{name}, from the end of a task to the first event of the run that tells of it"
    yield Row(f"{what}: p50", first["p50_ms"], "ms", at_most=20.0)
    yield Row(f"{what}: p95", first["p95_ms"], "ms")
