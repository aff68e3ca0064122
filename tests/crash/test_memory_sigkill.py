"""A process that is killed while it remembers leaves nothing but work to be done again."""

import shutil
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from outlast.adapters.stores.sqlite import SqliteStore
from outlast.domain.memory import Memory
from outlast.ports.memory import MemoryFilter
from outlast.runs.remembering.queue import MEMORY
from tests.unit.runs.remembering.memories import USER, mindful
from tests.unit.runs.remembering.test_remembering import read, researching

KILLS = [
    ("put#1", "before"),
    ("put#1", "after"),
    ("put#3", "after"),
    ("supersede#1", "before"),
    ("supersede#1", "after"),
]


@pytest.fixture
async def left(tmp_path: Path) -> Path:
    """A file of runs that are to be remembered."""
    file = tmp_path / "left.db"
    store = SqliteStore(file)
    async with mindful(tmp_path, researching("In Cornwall."), read, workflow="research", store=store) as on:
        await on.stage.play("Tell me about tin.")
        on.stage.answering = researching("In London.")  # type: ignore[assignment]
        await on.stage.play("Our boat is called Tin.")
    return file


def remember(file: Path, call: str, side: str) -> int:
    """Remember in a process of its own, killed at a call; returns how it ended."""
    command = [sys.executable, "-m", "tests.crash.rememberer", str(file), call, side]
    return subprocess.run(command, check=False, timeout=60).returncode


async def kept_in(file: Path) -> list[tuple[str, str, bool]]:
    store = SqliteStore(file)
    await store.open()
    found: list[Memory] = await store.memory.list_memories(USER, MemoryFilter())
    await store.close()
    return sorted((str(one.kind), one.text, one.valid_to is None) for one in found)


async def test_memory_is_the_same_whenever_the_process_that_fills_it_is_killed(left: Path) -> None:
    undisturbed = left.with_name("undisturbed.db")
    shutil.copy(left, undisturbed)
    assert remember(undisturbed, "never", "after") == 0
    expected = await kept_in(undisturbed)
    assert len(expected) == 4
    for number, (call, side) in enumerate(KILLS):
        file = left.with_name(f"killed-{number}.db")
        shutil.copy(left, file)
        assert remember(file, call, side) == -signal.SIGKILL
        store = SqliteStore(file)
        await store.open()
        for entry in await store.list_leases(MEMORY):
            await store.expire_lease(MEMORY, entry.item)
        await store.close()
        assert remember(file, "never", "after") == 0
        assert await kept_in(file) == expected, (call, side)
