"""Reads in the loop that asks: short ones, one at a time, with a turn for others before each."""

import asyncio
import math
import sqlite3
import threading
from pathlib import Path
from typing import Any

import pytest

from outlast.adapters.stores.lane import Job
from outlast.adapters.stores.sqlite.connection import Opener
from outlast.adapters.stores.sqlite.reader import Reader
from outlast.domain.errors import Broken
from outlast.ports.stream import Append, EventRow
from tests.unit.adapters.stores.sqlite.making import AT, heard, opened, sqlite_error, turns_counted

HERE = threading.current_thread().name
LONG = """
WITH RECURSIVE counted (n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM counted WHERE n < 3000000) SELECT max(n) FROM counted
"""


def append(stream: str, after: int) -> Append:
    return Append(stream, after, (EventRow(after + 1, "Noted", 1, AT, "{}"),))


class Threads:
    """In which thread each query was made."""

    def __init__(self) -> None:
        self.names: list[str] = []

    def hear(self, sql: str) -> None:
        if sql.lstrip().startswith(("SELECT", "WITH")):
            self.names.append(threading.current_thread().name)


@pytest.mark.parametrize(("quick_seconds", "where"), [(math.inf, HERE), (0, "outlast-store-reader")])
async def test_a_short_read_is_made_by_the_thread_that_asks_where_the_disk_is_quick(
    tmp_path: Path, quick_seconds: float, where: str
) -> None:
    threads = Threads()
    options: dict[str, Any] = {"connection_class": heard(threads.hear), "quick_seconds": quick_seconds}
    async with opened(tmp_path / "a.db", **options) as store:
        await store.commit([append("r", 0)])
        threads.names.clear()
        assert [event.position for event in await store.read_events("r")] == [1]
        assert threads.names == [where]


async def test_a_long_read_is_given_up_by_the_loop_and_made_aside(tmp_path: Path) -> None:
    threads = Threads()
    async with opened(
        tmp_path / "a.db", connection_class=heard(threads.hear), quick_seconds=math.inf
    ) as store:
        threads.names.clear()
        found = await store._read(lambda connection: connection.execute(LONG).fetchone()[0])
        assert found == 3_000_000
        assert threads.names == [HERE, "outlast-store-reader"]
        assert await store.read_head("r") == 0


async def test_who_reads_much_in_a_row_keeps_nobody_from_their_turn(tmp_path: Path) -> None:
    async with opened(tmp_path / "a.db", quick_seconds=math.inf) as store, turns_counted() as turns:
        before = turns()
        for _ in range(50):
            await store.read_head("r")
        assert turns() >= before + 50


async def test_trouble_of_a_read_is_told_as_the_thread_tells_it(tmp_path: Path) -> None:
    is_failing = False

    def hear(sql: str) -> None:
        if is_failing and sql.lstrip().startswith("SELECT"):
            raise sqlite_error(sqlite3.SQLITE_CORRUPT)

    async with opened(tmp_path / "a.db", connection_class=heard(hear), quick_seconds=math.inf) as store:
        is_failing = True
        with pytest.raises(Broken) as told:
            await store.read_head("r")
        assert told.value.code == "store_damaged"
        is_failing = False
        assert await store.read_head("r") == 0


async def test_nothing_is_read_at_once_while_the_thread_reads_or_when_it_has_closed(tmp_path: Path) -> None:
    async with opened(tmp_path / "a.db", quick_seconds=math.inf) as store:
        assert store._reader is not None
        with store._reader._turn:
            waiting = asyncio.create_task(store.read_head("r"))
            await asyncio.sleep(0)
            await asyncio.sleep(0)
            assert not waiting.done()
        assert await waiting == 0
    with pytest.raises(Broken, match="not open"):
        await store.read_head("r")
    async with opened(tmp_path / "a.db", quick_seconds=math.inf) as store:
        assert await store.read_head("r") == 0


async def test_a_reader_that_opens_late_has_nothing_to_read_with_at_once(tmp_path: Path) -> None:
    async with opened(tmp_path / "a.db", quick_seconds=math.inf):
        late = Reader(Opener(tmp_path / "a.db"), opens_late=True)
        assert late.serve_at_once(Job(lambda connection: connection.total_changes)) is False
        late.close()
