"""Databases that released schema versions left behind are brought forward and read."""

import shutil
import sqlite3
from contextlib import closing
from pathlib import Path

import pytest

from outlast.adapters.stores.sqlite.schema import migrations
from outlast.domain.apply import fold
from outlast.journal.history import read_history
from outlast.journal.thread import read_thread_words
from outlast.ports.run_rows import RunFilter
from outlast.ports.task_rows import TaskFilter
from outlast.tasks.codec import task_in
from outlast.testing.contracts.memory import asked, pointing
from tests.law import law
from tests.unit.adapters.stores.sqlite.making import opened

FOLDER = Path(__file__).resolve().parents[4] / "golden/databases"


def test_every_schema_version_has_left_a_database() -> None:
    assert {path.name for path in FOLDER.glob("*.db")} == {f"sqlite-v{n}.db" for n in migrations()}


@law("STORE-2.a")
@pytest.mark.parametrize("number", migrations())
async def test_a_database_of_a_released_version_is_brought_forward_and_read(
    number: int, tmp_path: Path
) -> None:
    path = tmp_path / "outlast.db"
    shutil.copy(FOLDER / f"sqlite-v{number}.db", path)
    with closing(sqlite3.connect(path)) as connection:
        assert connection.execute("PRAGMA user_version").fetchone() == (number,)
    async with opened(path) as store:
        rows = await store.list_runs(RunFilter())
        states = {row.run_id: fold(row.run_id, await read_history(store, row.run_id)) for row in rows}
        words = [said for row in rows for said in await read_thread_words(store, row.thread_id)]
    assert sorted(row.state for row in rows) == ["COMPLETED"] * 3 + ["FAILED", "WAITING"]
    assert all(states[row.run_id].state == row.state for row in rows)
    assert any("潮汐" in said.text for said in words)


@pytest.mark.parametrize("number", [number for number in migrations() if number >= 4])
async def test_the_background_task_of_a_released_version_is_read(number: int, tmp_path: Path) -> None:
    path = tmp_path / "outlast.db"
    shutil.copy(FOLDER / f"sqlite-v{number}.db", path)
    async with opened(path) as store:
        [row] = await store.list_tasks(TaskFilter())
        found = task_in(row)
        assert (await store.read_task_result(row.task_id) or "").startswith("The tide turns")
    assert (found.status, found.name, found.is_undelivered) == ("completed", "Render", True)
    assert found.event_version == 2


@pytest.mark.parametrize("number", [number for number in migrations() if number >= 6])
async def test_the_memory_of_a_released_version_is_recalled(number: int, tmp_path: Path) -> None:
    path = tmp_path / "outlast.db"
    shutil.copy(FOLDER / f"sqlite-v{number}.db", path)
    query = asked("what does Ada like", vector=pointing(30), include_outdated=True)
    async with opened(path) as store:
        found = await store.memory.search(query)
    assert [hit.memory.text for hit in found] == ["Ada likes coffee now.", "Ada likes tea."]
    assert found[1].memory.superseded_by == found[0].memory.memory_id


async def test_an_old_database_gets_the_schema_of_a_new_one(tmp_path: Path) -> None:
    def schema(path: Path) -> set[tuple[str, str]]:
        with closing(sqlite3.connect(path)) as connection:
            return set(connection.execute("SELECT name, sql FROM sqlite_schema"))

    old, new = tmp_path / "old.db", tmp_path / "new.db"
    shutil.copy(FOLDER / "sqlite-v1.db", old)
    for path in (old, new):
        async with opened(path):
            pass
    assert schema(old) == schema(new)
