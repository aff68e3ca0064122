"""Several processes on one PostgreSQL, some of them killed: what was answered is there, and nothing is half there."""

import asyncio
import random
import subprocess
import sys
from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from outlast.adapters.stores.postgres import PostgresStore
from tests.law import law

APPENDER = Path(__file__).parent / "appender.py"


@pytest.fixture
async def store(postgres_store_url: str) -> AsyncIterator[PostgresStore]:
    store = PostgresStore(postgres_store_url)
    await store.open()
    yield store
    await store.close()


def begin(url: str, count: int, *streams: str) -> subprocess.Popen[str]:
    command = [sys.executable, str(APPENDER), url, str(count), *streams]
    return subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)


async def check(store: PostgresStore, acknowledged: dict[str, int]) -> None:
    """What was acknowledged is there, and every batch is there in all its parts or not at all."""
    for stream, position in acknowledged.items():
        positions = [event.position for event in await store.read_events(stream)]
        assert positions == list(range(1, len(positions) + 1))
        assert position <= len(positions) <= position + 1  # at most the one under way was not acknowledged
        payloads = await store.read_payloads([f"{stream}-{n}" for n in range(1, len(positions) + 2)])
        assert len(payloads) == len(positions)
        assert await store.read_entry("runs", stream) is not None


@law("RUN-3.b")
async def test_kill_nine_loses_nothing_that_was_acknowledged(
    store: PostgresStore, postgres_store_url: str
) -> None:
    chance = random.Random(20260301)
    for _ in range(3):
        process = begin(postgres_store_url, 0, "a", "b", "c")
        assert process.stdout is not None
        said = [process.stdout.readline() for _ in range(chance.randint(3, 150))]
        process.kill()
        said += process.stdout.readlines()  # communicate() would lose what readline() has read ahead
        _, trouble = process.communicate(timeout=60)
        assert said[0], trouble
        whole = [line for line in said if line.endswith("\n")]
        await check(store, {stream: int(position) for stream, position in map(str.split, whole)})


@law("STORE-1.c")
async def test_two_processes_write_ten_runs_in_parallel_and_a_third_hears_them(
    store: PostgresStore, postgres_store_url: str
) -> None:
    stream, queue = store.watch(["api-0"]), store.watch(["queue:runs"])
    while await stream.wait(0.1) or await queue.wait(0.1):  # the first to listen is woken once
        pass
    shares = [[f"{kind}-{n}" for n in range(5)] for kind in ("api", "worker")]
    processes = [begin(postgres_store_url, 30, *share) for share in shares]
    assert await stream.wait(60)
    assert await queue.wait(60)
    said = [await asyncio.to_thread(process.communicate, timeout=90) for process in processes]
    assert [process.returncode for process in processes] == [0, 0], said
    await check(store, dict.fromkeys(shares[0] + shares[1], 30))
