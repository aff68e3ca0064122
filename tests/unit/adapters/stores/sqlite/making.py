"""Stores of a test, opened and closed, and connections that do not do as they are told."""

from __future__ import annotations

import asyncio
import sqlite3
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from outlast.adapters.stores.sqlite import SqliteStore

AT = datetime(2026, 3, 1, tzinfo=UTC)


@asynccontextmanager
async def opened(path: Path | None, **options: Any) -> AsyncIterator[SqliteStore]:
    """An open store."""
    store = SqliteStore(path, **options)
    await store.open()
    try:
        yield store
    finally:
        await store.close()


@asynccontextmanager
async def turns_counted() -> AsyncIterator[Callable[[], int]]:
    """How many turns the loop has had so far."""
    turns = 0

    async def count() -> None:
        nonlocal turns
        while True:
            turns += 1
            await asyncio.sleep(0)

    counting = asyncio.create_task(count())
    await asyncio.sleep(0)
    try:
        yield lambda: turns
    finally:
        counting.cancel()


def heard(hear: Callable[[str], None]) -> type[sqlite3.Connection]:
    """Connections that tell of every statement before they execute it; what `hear` raises is raised."""

    class Heard(sqlite3.Connection):
        def execute(self, sql: str, parameters: Any = (), /) -> sqlite3.Cursor:  # type: ignore[override]
            hear(sql)
            return super().execute(sql, parameters)

    return Heard


def sqlite_error(code: int) -> sqlite3.OperationalError:
    """An error as SQLite raises it."""
    error = sqlite3.OperationalError(f"injected {code}")
    error.sqlite_errorcode = code
    return error
