"""The schema: brought forward once, by whoever comes first, or refused with the reason."""

import multiprocessing
import sqlite3
from contextlib import closing
from pathlib import Path

import pytest

from outlast.adapters.stores.sqlite.connection import Opener
from outlast.adapters.stores.sqlite.schema import APPLICATION_ID, migrate, migrations
from outlast.domain.errors import Broken
from tests.law import law
from tests.unit.adapters.stores.sqlite.making import heard, opened, sqlite_error

STEPS = {
    1: "CREATE TABLE a (x); -- one; of two\nCREATE TABLE b (x);",
    2: "CREATE TRIGGER t AFTER INSERT ON a BEGIN DELETE FROM b; INSERT INTO b VALUES (';'); END;\n",
    3: "ALTER TABLE a ADD COLUMN y;\n",
}


def tables(connection: sqlite3.Connection) -> set[str]:
    return {name for (name,) in connection.execute("SELECT name FROM sqlite_schema WHERE type = 'table'")}


def version(connection: sqlite3.Connection) -> int:
    found: int = connection.execute("PRAGMA user_version").fetchone()[0]
    return found


def test_migrations_are_numbered_without_gaps() -> None:
    assert list(migrations()) == list(range(1, len(migrations()) + 1))


@law("STORE-2.a")
@pytest.mark.parametrize("released", range(len(STEPS)))
def test_every_released_version_is_brought_forward(released: int) -> None:
    with closing(sqlite3.connect(":memory:", isolation_level=None)) as connection:
        if released:
            migrate(connection, {number: STEPS[number] for number in range(1, released + 1)})
            connection.execute("INSERT INTO a (x) VALUES (1)")
        migrate(connection, STEPS)
        migrate(connection, STEPS)
        assert version(connection) == 3
        assert connection.execute("SELECT x, y FROM a").fetchall() == ([(1, None)] if released else [])


def test_a_migration_that_fails_leaves_the_old_version() -> None:
    with closing(sqlite3.connect(":memory:", isolation_level=None)) as connection:
        migrate(connection, {1: STEPS[1]})
        with pytest.raises(sqlite3.OperationalError):
            migrate(connection, {1: STEPS[1], 2: "CREATE TABLE c (x);\nCREATE TABLE a (x);"})
        assert version(connection) == 1
        assert tables(connection) == {"a", "b"}
        assert not connection.in_transaction


async def test_a_newer_store_is_refused_and_left_alone(tmp_path: Path) -> None:
    path = tmp_path / "outlast.db"
    async with opened(path):
        pass
    with closing(sqlite3.connect(path)) as connection:
        connection.execute("PRAGMA user_version = 999")
    with pytest.raises(
        Broken, match=f"schema version 999, this program knows versions up to {max(migrations())}"
    ) as refused:
        async with opened(path):
            pass
    assert refused.value.code == "store_newer"
    assert "Upgrade outlast" in refused.value.next_step


async def test_the_database_of_another_program_is_refused_and_left_alone(tmp_path: Path) -> None:
    path = tmp_path / "outlast.db"
    with closing(sqlite3.connect(path)) as connection:
        connection.execute("CREATE TABLE theirs (x)")
    with pytest.raises(Broken, match="another program") as refused:
        async with opened(path):
            pass
    assert refused.value.code == "store_damaged"
    with closing(sqlite3.connect(path)) as connection:
        assert tables(connection) == {"theirs"}


def _open_once(path: Path, start: "multiprocessing.synchronize.Barrier") -> None:
    start.wait(30)
    Opener(path).open_writer().close()


def test_many_processes_may_open_a_new_store_at_once(tmp_path: Path) -> None:
    spawn = multiprocessing.get_context("spawn")
    for round_number in range(2):
        path, start = tmp_path / f"{round_number}.db", spawn.Barrier(4)
        openers = [spawn.Process(target=_open_once, args=(path, start)) for _ in range(4)]
        for opener in openers:
            opener.start()
        for opener in openers:
            opener.join(60)
        assert [opener.exitcode for opener in openers] == [0] * 4
        with closing(sqlite3.connect(path)) as connection:
            assert version(connection) == max(migrations())
            assert connection.execute("PRAGMA application_id").fetchone()[0] == APPLICATION_ID
            assert connection.execute("PRAGMA journal_mode").fetchone()[0] == "wal"


@pytest.mark.parametrize("busy_times", [1, 3, 10**9])
async def test_a_log_that_another_process_turns_on_is_waited_for(tmp_path: Path, busy_times: int) -> None:
    tries = 0

    def hear(sql: str) -> None:
        nonlocal tries
        if sql == "PRAGMA journal_mode = WAL":
            tries += 1
            if tries <= busy_times:
                raise sqlite_error(sqlite3.SQLITE_BUSY)

    async def opening() -> str:
        try:
            async with opened(tmp_path / "outlast.db", connection_class=heard(hear), busy_seconds=0.2):
                return "open"
        except Broken as error:
            return error.code

    assert await opening() == ("open" if busy_times < 10 else "store_unavailable")
    assert tries > 1
