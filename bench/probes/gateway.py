"""A gateway as a process: what idle streams hold, what requests cost beside them, and how long an event takes to its reader.

`python -m bench.probes.gateway --directory D --streams N --seconds S --events E`
"""

import argparse
import asyncio
import json
import os
import subprocess
import sys
import time
from datetime import UTC, datetime
from pathlib import Path
from statistics import median, quantiles
from typing import Any

import httpx2

CONFIG = """
llm: {provider: scripted, script: script.yaml}
gateway: {max_streams_per_user: 100000, max_requests_per_second: 100000}
"""
RUNS = 50
A_SECOND = 50


def main() -> None:
    """Print what was found as one line of JSON."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--directory", type=Path, required=True)
    parser.add_argument("--streams", type=int, required=True)
    parser.add_argument("--seconds", type=float, required=True)
    parser.add_argument("--events", type=int, required=True)
    asked = parser.parse_args()
    (asked.directory / "tasks").mkdir()
    (asked.directory / "tasks/t.yaml").write_text("task: {name: t, workflow: chat, tools: []}\n")
    (asked.directory / "outlast.yaml").write_text(CONFIG)
    (asked.directory / "script.yaml").write_text("- {say: Done.}\n")
    server = subprocess.Popen(
        [sys.executable, "-m", "outlast.cli", "serve", "--port", "0", "--workers", "0", "--json"],
        cwd=asked.directory,
        stdout=subprocess.PIPE,
        text=True,
    )
    assert server.stdout is not None
    try:
        text = ""
        while not text.rstrip().endswith("}"):
            text += server.stdout.readline()
        found = asyncio.run(measured(json.loads(text)["address"], server.pid, asked))
    finally:
        server.terminate()
        server.wait(20)
    print(json.dumps(found))


async def measured(address: str, pid: int, asked: argparse.Namespace) -> dict[str, Any]:
    """All figures of one server."""
    async with httpx2.AsyncClient(base_url=address, timeout=30) as client:
        runs = [await _started(client) for _ in range(RUNS)]
        before = _resident_bytes(pid)
        streams = [await _follow(address, runs[at % RUNS]) for at in range(asked.streams)]
        await asyncio.sleep(1)
        grown = _resident_bytes(pid) - before
        cpu = _cpu_seconds(pid)
        took = await _asked(client, runs, asked.seconds)
        cpu = _cpu_seconds(pid) - cpu
        late = await _delays(client, address, runs[0], asked.events)
        for _, writer in streams:
            writer.close()
    return {
        "grown_bytes": grown,
        "resident_bytes": before + grown,
        "request_ms": median(took),
        "request_p95_ms": quantiles(took, n=20)[-1],
        "requests": len(took),
        "cpu_ms_a_request": 1000 * cpu / len(took),
        "event_ms": median(late),
        "event_p95_ms": quantiles(late, n=20)[-1],
    }


async def _started(client: httpx2.AsyncClient) -> str:
    run_id: str = (await client.post("/api/runs", json={"task": "t", "input": "Go"})).json()["run_id"]
    return run_id


async def _follow(address: str, run_id: str) -> tuple[asyncio.StreamReader, asyncio.StreamWriter]:
    """A stream that has told what there is."""
    host, _, port = address.removeprefix("http://").partition(":")
    reader, writer = await asyncio.open_connection(host, int(port))
    writer.write(f"GET /api/runs/{run_id}/events HTTP/1.1\r\nHost: {host}:{port}\r\n\r\n".encode())
    await reader.readuntil(b"event: RunStarted")
    return reader, writer


async def _asked(client: httpx2.AsyncClient, runs: list[str], seconds: float) -> list[float]:
    """How many milliseconds requests took that came at an even pace, whatever the ones before took."""
    began, took, going = time.perf_counter(), list[float](), set[asyncio.Task[None]]()

    async def ask(number: int) -> None:
        sent = time.perf_counter()
        answer = await client.get(f"/api/runs/{runs[number % RUNS]}")
        assert answer.status_code == 200
        took.append(1000 * (time.perf_counter() - sent))

    for number in range(int(seconds * A_SECOND)):
        await asyncio.sleep(max(0.0, began + number / A_SECOND - time.perf_counter()))
        task = asyncio.create_task(ask(number))
        going.add(task)
        task.add_done_callback(going.discard)
    await asyncio.gather(*going)
    return took


async def _delays(client: httpx2.AsyncClient, address: str, run_id: str, events: int) -> list[float]:
    """Milliseconds from the time an event was given, before it was committed, to its frame at the reader."""
    reader, writer = await _follow(address, run_id)
    late = []
    for number in range(events):
        said = asyncio.create_task(client.post(f"/api/runs/{run_id}/say", json={"text": f"word {number}"}))
        await reader.readuntil(b"event: Said")
        await reader.readuntil(b'"at":"')
        at = datetime.fromisoformat((await reader.readuntil(b'"'))[:-1].decode())
        late.append(1000 * (datetime.now(UTC) - at).total_seconds())
        await said
    writer.close()
    return late


def _resident_bytes(pid: int) -> int:
    pages = int(Path(f"/proc/{pid}/statm").read_text().split()[1])
    return pages * os.sysconf("SC_PAGE_SIZE")


def _cpu_seconds(pid: int) -> float:
    fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


if __name__ == "__main__":
    main()
