"""The tables, brought forward by numbered migrations; the database's `user_version` is the number of the last one."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator, Mapping
from functools import cache
from pathlib import Path

from outlast.domain.errors import Broken

_FOLDER = Path(__file__).parent / "migrations"

APPLICATION_ID = 0x6F75746C
"""`outl`: marks a SQLite file as ours."""


@cache
def migrations() -> Mapping[int, str]:
    """The SQL of every migration, by number."""
    return {int(file.name[:4]): file.read_text("utf-8") for file in sorted(_FOLDER.glob("[0-9]*.sql"))}


def migrate(connection: sqlite3.Connection, steps: Mapping[int, str]) -> None:
    """Bring the database to the newest of `steps`, all in one transaction; do nothing when it is there.

    Safe when several processes do it at once: the write lock is taken first and the version read under it. Raises Broken with
    `store_newer` for a database of a later program and `store_damaged` for one of another program.
    """
    newest = max(steps)
    if _version(connection) == newest:
        return
    connection.execute("BEGIN IMMEDIATE")
    try:
        _forward(connection, steps, newest)
        connection.execute("COMMIT")
    except BaseException:
        if connection.in_transaction:
            connection.execute("ROLLBACK")
        raise


def _forward(connection: sqlite3.Connection, steps: Mapping[int, str], newest: int) -> None:
    found = _version(connection)
    if found > newest:
        raise Broken(
            "store_newer",
            f"The store has schema version {found}, this program knows versions up to {newest}.",
            "Upgrade outlast to the version that wrote the store, or use another store.",
        )
    if found == 0:
        _refuse_foreign(connection)
        connection.execute(f"PRAGMA application_id = {APPLICATION_ID}")
    for number in range(found + 1, newest + 1):
        for statement in _statements(steps[number]):
            connection.execute(statement)
    connection.execute(f"PRAGMA user_version = {newest}")


def _version(connection: sqlite3.Connection) -> int:
    version: int = connection.execute("PRAGMA user_version").fetchone()[0]
    return version


def _refuse_foreign(connection: sqlite3.Connection) -> None:
    if connection.execute("SELECT count(*) FROM sqlite_schema").fetchone()[0]:
        raise Broken(
            "store_damaged",
            "The file is a SQLite database of another program.",
            "Set harness.persistence.path to a file of its own.",
        )


def _statements(script: str) -> Iterator[str]:
    statement = ""
    for line in script.splitlines(keepends=True):
        statement += line
        if sqlite3.complete_statement(statement):
            yield statement
            statement = ""
    if statement.strip():
        yield statement
