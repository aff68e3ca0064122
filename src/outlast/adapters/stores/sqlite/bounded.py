"""Queries that are given up once they take too long."""

from __future__ import annotations

import sqlite3
import time
from collections.abc import Iterator
from contextlib import contextmanager


@contextmanager
def given_up_after(
    connection: sqlite3.Connection, seconds: float, steps_between_looks: int
) -> Iterator[None]:
    """What is executed meanwhile raises sqlite3.OperationalError (SQLITE_INTERRUPT) once so many seconds are over.

    SQLite looks at the clock every so many steps of its machine, some 30 us for 1,000; each look takes the interpreter.
    """
    ends_at = time.monotonic() + seconds
    connection.set_progress_handler(lambda: time.monotonic() > ends_at, steps_between_looks)
    try:
        yield
    finally:
        connection.set_progress_handler(None, 0)
