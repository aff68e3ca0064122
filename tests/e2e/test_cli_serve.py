"""`outlast serve` as a process: it answers, works, is killed and replaced, and ends in good order."""

import json
import signal
import socket
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import httpx2
import pytest

from tests.e2e import over_http
from tests.e2e.command_line import Going, Home
from tests.law import law
from tests.patience import PATIENCE_SECONDS

HOLD = """
- {when: {turn: 0}, call: {tool: hold, arguments: {}}}
- {say: "Held."}
"""


def served(home: Home, *words: str) -> tuple[Going, str]:
    """A server, and where it listens."""
    going = home.start("serve", *words)
    return going, going.until("Listening on").split()[2]


@contextmanager
def frames(address: str, run_id: str, after: int = 0) -> Iterator[Iterator[dict[str, Any]]]:
    """The trace lines of a run's stream, as they come; it ends where the connection does."""
    path = f"{address}/api/runs/{run_id}/events"
    with httpx2.stream(
        "GET", path, headers={"Last-Event-ID": str(after)}, timeout=PATIENCE_SECONDS
    ) as answer:
        yield _lines(answer)


def _lines(answer: httpx2.Response) -> Iterator[dict[str, Any]]:
    try:
        for line in answer.iter_lines():
            if line.startswith("data: ") and '"seq"' in line:
                yield json.loads(line.removeprefix("data: "))
    except httpx2.TransportError:
        return


@law("DOOR-1.b", "RUN-3.b")
def test_stream_goes_on_where_it_was_after_the_server_was_killed_and_replaced(talking: Home) -> None:
    talking.write("script.yaml", HOLD)
    first, address = served(talking, "--port", "0", "--set", "harness.lease_seconds=1")
    run_id = over_http.post(f"{address}/api/runs", json={"task": "talk", "input": "Go"}).json()["run_id"]
    seen: list[dict[str, Any]] = []
    with frames(address, run_id) as coming:
        for line in coming:
            seen.append(line)
            if line["kind"] == "ToolRequested":
                first.kill()
    second, address = served(talking, "--port", "0")
    talking.write("go", "")
    with frames(address, run_id, seen[-1]["seq"]) as coming:
        seen += coming
    assert [line["seq"] for line in seen] == list(range(1, len(seen) + 1)), "nothing missing, nothing doubled"
    assert seen == talking.trace(run_id)
    assert seen[-1]["state"] == "COMPLETED"
    second.signal(signal.SIGTERM)
    assert second.end().code == 0


def test_server_that_is_told_to_stop_tells_its_streams_and_gives_its_runs_back(talking: Home) -> None:
    talking.write("script.yaml", HOLD)
    going, address = served(talking, "--port", "0", "--set", "harness.drain_seconds=0")
    run_id = over_http.post(f"{address}/api/runs", json={"task": "talk", "input": "Go"}).json()["run_id"]
    with frames(address, run_id) as coming:
        for line in coming:
            if line["kind"] == "ToolRequested":
                going.signal(signal.SIGTERM)
    assert going.end().code == 0
    entry = talking.here("doctor", run_id).out
    assert "due" in entry
    talking.write("go", "")
    assert talking.outlast("resume", run_id).code == 0


def test_port_that_is_taken_is_refused_with_what_to_do(talking: Home) -> None:
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        refused = talking.outlast("serve", "--port", str(taken.getsockname()[1]))
    assert refused.code == 5
    assert "--port 0" in refused.err


@pytest.mark.parametrize("host", ["0.0.0.0", "::"])
@law("DOOR-5.c")
def test_address_that_others_reach_is_refused_without_a_token(talking: Home, host: str) -> None:
    refused = talking.outlast("serve", "--host", host, "--port", "0")
    assert refused.code == 2
    assert "token" in refused.err


def test_address_that_is_none_is_refused_with_what_to_do(talking: Home) -> None:
    refused = talking.outlast("serve", "--host", "192.0.2.1", "--port", "0", "--set", "gateway.token=abc")
    assert (refused.code, "Choose another address" in refused.err) == (2, True)


def test_memory_store_is_served_by_the_one_process_there_is(home: Home) -> None:
    home.write(
        "outlast.yaml",
        "harness: {persistence: {backend: memory}}\nllm: {provider: scripted, script: s.yaml}\n",
    )
    home.write("s.yaml", '- {say: "Hello."}\n')
    home.write("tasks/talk.yaml", "task: {name: talk, workflow: chat, tools: []}\n")
    going, address = served(home, "--port", "0")
    run_id = over_http.post(f"{address}/api/runs", json={"task": "talk", "input": "Hi"}).json()["run_id"]
    with frames(address, run_id) as coming:
        assert list(coming)[-1]["state"] == "COMPLETED"
    going.signal(signal.SIGINT)
    assert going.end().code == 0
