"""The gateway: 500 idle streams, 50 requests a second beside them, and the way of an event to its reader."""

from collections.abc import Iterator

from bench.child import probe
from bench.table import Row

STREAMS, SECONDS, EVENTS = 500, 10, 200
MEGABYTE = 1_000_000


def measure() -> Iterator[Row]:
    """One server with no worker, asked by another process."""
    asked = ("--streams", STREAMS, "--seconds", SECONDS, "--events", EVENTS)
    found = probe("bench.probes.gateway", *asked)
    yield Row(
        f"{STREAMS} idle streams: growth of resident memory",
        found["grown_bytes"] / MEGABYTE,
        "MB",
        at_most=100,
    )
    yield Row(
        f"{STREAMS} idle streams: resident memory", found["resident_bytes"] / MEGABYTE, "MB", at_most=1000
    )
    yield Row("50 requests a second: p50", found["request_ms"], "ms")
    yield Row("50 requests a second: p95", found["request_p95_ms"], "ms")
    yield Row("CPU a request, the streams' share included", found["cpu_ms_a_request"], "ms", at_most=20)
    yield Row("event to its reader: p50", found["event_ms"], "ms", at_most=15)
    yield Row("event to its reader: p95", found["event_p95_ms"], "ms")
