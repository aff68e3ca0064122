"""Giving the room that deletions left in a file back to the file system."""

from __future__ import annotations

import math
import sqlite3
from contextlib import closing
from pathlib import Path
from typing import Final

from outlast.adapters.stores.sqlite.bounded import given_up_after
from outlast.adapters.stores.sqlite.troubles import in_our_words, primary_code

_STEPS_BETWEEN_LOOKS: Final = 10_000
_LOCK_SECONDS: Final = 1.0
_GIVEN_UP: Final = {sqlite3.SQLITE_INTERRUPT, sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED}


def compact_file(path: Path, limit_seconds: float | None) -> int | None:
    """Write the file anew without its free pages; returns the bytes given back.

    Nobody else can write meanwhile, so it is given up after `limit_seconds` (None: never), and when others keep the file locked:
    None, and the room is kept for what comes. Raises Broken, `store_full` when there is no room for a second file.
    """
    try:
        with closing(sqlite3.connect(path, timeout=_LOCK_SECONDS, isolation_level=None)) as connection:
            connection.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchone()
            before = path.stat().st_size
            if connection.execute("PRAGMA freelist_count").fetchone()[0] == 0:
                return 0
            limit = math.inf if limit_seconds is None else limit_seconds
            with given_up_after(connection, limit, _STEPS_BETWEEN_LOOKS):
                connection.execute("VACUUM")
            connection.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchone()
            return max(0, before - path.stat().st_size)
    except sqlite3.Error as error:
        if primary_code(error) in _GIVEN_UP:
            return None
        raise in_our_words(error, path) from error
