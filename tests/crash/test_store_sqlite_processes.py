"""Several processes on one SQLite file, some of them killed: what was answered is there, and nothing is half there."""

import asyncio
import random
import sqlite3
import subprocess
import sys
from contextlib import closing
from pathlib import Path

import pytest

from outlast.adapters.stores.sqlite import SqliteStore
from tests.law import law

APPENDER = Path(__file__).parent / "appender.py"


def start(path: Path, count: int, *streams: str) -> subprocess.Popen[str]:
    command = [sys.executable, str(APPENDER), str(path), str(count), *streams]
    return subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)


def kill_after(process: subprocess.Popen[str], lines: int) -> list[str]:
    """Everything the process said until it was killed, which was when it had said `lines` lines."""
    assert process.stdout is not None
    assert process.stderr is not None
    said = [process.stdout.readline() for _ in range(lines)]
    process.kill()
    said += process.stdout.readlines()  # communicate() would lose what readline() has read ahead
    trouble = process.stderr.read()
    process.wait(60)
    process.stdout.close()
    process.stderr.close()
    assert said[lines - 1], trouble
    return [line.strip() for line in said if line.endswith("\n")]


async def check(path: Path, acknowledged: dict[str, int]) -> None:
    """The file is whole, what was acknowledged is there, and every batch is there in all its parts or not at all."""
    with closing(sqlite3.connect(path)) as connection:
        assert connection.execute("PRAGMA integrity_check").fetchall() == [("ok",)]
        orphans = "SELECT count(*) FROM payload_references WHERE digest NOT IN (SELECT digest FROM payloads)"
        assert connection.execute(orphans).fetchone() == (0,)
    store = SqliteStore(path)
    await store.open()
    for stream, position in acknowledged.items():
        positions = [event.position for event in await store.read_events(stream)]
        assert positions == list(range(1, len(positions) + 1))
        assert (
            position <= len(positions) <= position + 1
        )  # at most the one commit under way was not acknowledged
        payloads = await store.read_payloads([f"{stream}-{n}" for n in range(1, len(positions) + 2)])
        assert len(payloads) == len(positions)
        assert await store.read_entry("runs", stream) is not None
    await store.close()


@law("RUN-3.b")
async def test_kill_nine_loses_nothing_that_was_acknowledged(tmp_path: Path) -> None:
    path, chance, streams = tmp_path / "outlast.db", random.Random(20260301), ("a", "b", "c")
    for _ in range(10):
        said = kill_after(start(path, 0, *streams), chance.randint(3, 150))
        acknowledged = {stream: int(position) for stream, position in map(str.split, said)}
        await check(path, acknowledged)


@law("STORE-1.b")
async def test_g07_07_two_processes_write_ten_runs_in_parallel(tmp_path: Path) -> None:
    path = tmp_path / "outlast.db"
    shares = [[f"api-{n}" for n in range(5)], [f"worker-{n}" for n in range(5)]]
    processes = [start(path, 40, *share) for share in shares]
    said = [process.communicate(timeout=90) for process in processes]
    assert [process.returncode for process in processes] == [0, 0], said
    await check(path, dict.fromkeys(shares[0] + shares[1], 40))


async def test_a_commit_of_another_process_wakes_a_watch(tmp_path: Path) -> None:
    path = tmp_path / "outlast.db"
    store = SqliteStore(path)
    await store.open()
    stream, queue, other = watches = [store.watch([topic]) for topic in ("a", "queue:runs", "b")]
    for watch in watches:
        assert await watch.wait(60)  # the first look wakes everyone
    process = start(path, 3, "a")
    assert await stream.wait(60)
    assert await queue.wait(60)
    assert not await other.wait(0)
    assert await store.read_head("a") >= 1
    await asyncio.to_thread(process.communicate, timeout=60)
    await store.close()


@pytest.mark.parametrize("pragma", [("synchronous", 2), ("journal_mode", "wal"), ("busy_timeout", 10_000)])
async def test_the_writer_is_durable_and_patient(tmp_path: Path, pragma: tuple[str, object]) -> None:
    store = SqliteStore(tmp_path / "outlast.db")
    await store.open()
    name, value = pragma
    assert await store._writes.do(lambda session: session.value(f"PRAGMA {name}")) == value
    assert (
        await store._reads.do(lambda connection: connection.execute("PRAGMA busy_timeout").fetchone()[0])
        == 10_000
    )
    await store.close()
