"""Giving room back: all of it, or nothing when others are at work or it takes too long."""

import sqlite3
from contextlib import closing
from pathlib import Path

import pytest

from outlast.adapters.stores.sqlite import compaction
from outlast.adapters.stores.sqlite.compaction import compact_file
from outlast.ports.run_rows import DeleteRun, InsertRun
from outlast.ports.stream import PutPayload
from outlast.ports.thread_rows import InsertThread
from outlast.testing.contracts.store.samples import append, put, run, thread
from tests.unit.adapters.stores.sqlite.making import opened


async def with_room(path: Path) -> Path:
    """A store in which a large run was deleted."""
    async with opened(path) as store:
        payloads = [PutPayload("r", f"{n:064x}", bytes(50_000)) for n in range(40)]
        await put(
            store, InsertThread(thread()), InsertRun(run("r", is_active=False)), append("r", 0), *payloads
        )
        await put(store, DeleteRun("r", 1))
    return path


async def test_all_room_is_given_back_once(tmp_path: Path) -> None:
    path = await with_room(tmp_path / "outlast.db")
    size = path.stat().st_size
    given = compact_file(path, 60)
    assert given is not None
    assert given > 1_500_000
    assert path.stat().st_size == size - given
    assert compact_file(path, None) == 0
    async with opened(path) as store:
        assert await store.read_thread("t") == thread()


async def test_it_is_given_up_when_it_takes_too_long_or_others_write(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = await with_room(tmp_path / "outlast.db")
    size = path.stat().st_size
    monkeypatch.setattr(compaction, "_STEPS_BETWEEN_LOOKS", 1)
    monkeypatch.setattr(compaction, "_LOCK_SECONDS", 0.0)
    assert compact_file(path, -1.0) is None
    with closing(sqlite3.connect(path, isolation_level=None)) as other:
        other.execute("BEGIN IMMEDIATE")
        assert compact_file(path, None) is None
        other.execute("ROLLBACK")
    assert path.stat().st_size == size
    assert compact_file(path, None)
