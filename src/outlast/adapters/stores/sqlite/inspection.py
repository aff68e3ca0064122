"""A closer look at a database file, without changing it."""

from __future__ import annotations

import sqlite3
from contextlib import closing
from pathlib import Path

from outlast.adapters.stores.sqlite.schema import migrations
from outlast.adapters.stores.sqlite.troubles import in_our_words
from outlast.domain.dataclass import dataclass


@dataclass(frozen=True, slots=True)
class Inspection:
    """What was found: the version of the file's schema and the one of this program, its size, and what is damaged."""

    version: int
    newest_version: int
    size_bytes: int
    problems: tuple[str, ...]


def inspect_file(path: Path) -> Inspection:
    """Read the whole file and check it; takes as long as reading it does. Raises Broken when it cannot be opened."""
    try:
        with closing(sqlite3.connect(f"{path.absolute().as_uri()}?mode=ro", uri=True)) as connection:
            version: int = connection.execute("PRAGMA user_version").fetchone()[0]
            found = [str(row[0]) for row in connection.execute("PRAGMA integrity_check(20)")]
    except sqlite3.Error as error:
        raise in_our_words(error, path) from error
    problems = tuple(line for line in found if line != "ok")
    return Inspection(version, max(migrations()), path.stat().st_size, problems)
