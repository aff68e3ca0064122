"""Commits in the loop that asks: where nothing has to be waited for, and nowhere else."""

import asyncio
import math
import sqlite3
import threading
from contextlib import closing
from datetime import timedelta
from itertools import count
from pathlib import Path
from typing import Any

import pytest

from outlast.adapters.stores.sqlite import SqliteStore
from outlast.adapters.stores.sqlite.nearby import LIGHT_BYTES, MOST_IN_A_ROW
from outlast.adapters.stores.sqlite.quickness import QUICK_SECONDS, Quickness
from outlast.domain.errors import Broken, CallerMistake
from outlast.ports.batch import Committed, Guard, Refused
from outlast.ports.queue import ClaimDue, Enqueue, Shares
from outlast.ports.stream import Append, EventRow, PutPayload
from tests.unit.adapters.stores.sqlite.making import AT, heard, opened, sqlite_error, turns_counted

AT_ONCE: dict[str, Any] = {"quick_seconds": math.inf}
HERE = threading.current_thread().name


def append(stream: str, after: int, body: str = "{}") -> Append:
    return Append(stream, after, (EventRow(after + 1, "Noted", 1, AT, body),))


class Threads:
    """In which thread each transaction was committed."""

    def __init__(self) -> None:
        self.names: list[str] = []

    def hear(self, sql: str) -> None:
        if sql == "COMMIT":
            self.names.append(threading.current_thread().name)


async def test_light_commits_of_a_quick_disk_are_made_by_the_thread_that_asks(tmp_path: Path) -> None:
    threads = Threads()
    async with opened(tmp_path / "a.db", connection_class=heard(threads.hear), **AT_ONCE) as store:
        threads.names.clear()
        for position in range(3):
            assert await store.commit([append("r", position)]) == Committed()
        assert threads.names == [HERE] * 3
        assert await store.commit([append("r", 1)]) == Refused(Guard.POSITION, 0)
        assert await store.read_head("r") == 3


async def test_without_a_quick_disk_they_are_made_by_the_thread_of_the_store(tmp_path: Path) -> None:
    threads = Threads()
    async with opened(tmp_path / "a.db", connection_class=heard(threads.hear), quick_seconds=0) as store:
        threads.names.clear()
        assert await store.commit([append("r", 0)]) == Committed()
        assert threads.names == ["outlast-store-writer"]


async def test_what_is_long_or_may_take_long_is_made_aside(tmp_path: Path) -> None:
    threads = Threads()
    async with opened(tmp_path / "a.db", connection_class=heard(threads.hear), **AT_ONCE) as store:
        threads.names.clear()
        await store.commit([append("r", 0, "x" * (LIGHT_BYTES + 1))])
        await store.commit([append("r", 1), PutPayload("r", "d", b"x" * (LIGHT_BYTES + 1))])
        await store.commit([Append("r", 2, append("r", 2).events * 500)])
        await store.commit([Enqueue("runs", f"r{n}", AT, "ann") for n in range(500)])
        await store.claim("runs", "w", 60)
        assert set(threads.names) == {"outlast-store-writer"}


async def test_a_claim_is_made_aside_where_much_has_become_due_since_the_last(tmp_path: Path) -> None:
    threads, now = Threads(), [AT]
    options = {"connection_class": heard(threads.hear), "clock": lambda: now[0], **AT_ONCE}
    async with opened(tmp_path / "a.db", **options) as store:
        due_at = AT + timedelta(seconds=1)
        await store.commit([Enqueue("runs", f"r{n}", due_at, f"u{n}") for n in range(150)])
        now[0] += timedelta(seconds=2)
        threads.names.clear()
        wish = ClaimDue("runs", "w", 60, 1, 1, Shares())
        for position in range(3):
            written = await store.commit([append("r", position), wish])
            assert isinstance(written, Committed)
            assert len(written.claims) == 1
        assert threads.names == ["outlast-store-writer", HERE, HERE]


async def test_a_run_that_is_alone_does_not_wait_for_a_turn_and_gives_others_theirs(tmp_path: Path) -> None:
    async with opened(tmp_path / "a.db", **AT_ONCE) as store, turns_counted() as turns:
        await store.commit([append("r", 0)])
        before = turns()
        for position in range(1, MOST_IN_A_ROW + 1):
            await store.commit([append("r", position)])
        assert turns() == before
        await store.commit([append("r", MOST_IN_A_ROW + 1)])
        assert turns() > before


async def test_commits_of_several_runs_share_a_sync(tmp_path: Path) -> None:
    async with opened(tmp_path / "a.db", **AT_ONCE) as store:
        before = store.counts().durable_syncs
        answers = await asyncio.gather(*[store.commit([append(f"s{n}", 0)]) for n in range(100)])
        assert answers == [Committed()] * 100
        assert store.counts().durable_syncs == before + 1


async def test_a_loop_does_not_wait_for_another_process(tmp_path: Path) -> None:
    path = tmp_path / "a.db"
    async with opened(path, **AT_ONCE) as store:
        with closing(sqlite3.connect(path, isolation_level=None)) as holder:
            holder.execute("BEGIN IMMEDIATE")
            commit = asyncio.create_task(store.commit([append("r", 0)]))
            assert await store.read_head("r") == 0  # the loop turns while the writer's thread waits
            assert not commit.done()
            holder.execute("ROLLBACK")
        async with asyncio.timeout(20):
            assert await commit == Committed()
        assert await store._writes.do(lambda session: session.value("PRAGMA busy_timeout")) == 10_000


async def test_one_that_cannot_be_stored_takes_none_with_it(tmp_path: Path) -> None:
    async with opened(tmp_path / "a.db", **AT_ONCE) as store:
        commits = [store.commit([append(f"s{n}", 0, "\ud800" if n == 3 else "{}")]) for n in range(9)]
        answers = await asyncio.gather(*commits, return_exceptions=True)
        assert isinstance(answers.pop(3), CallerMistake)
        assert answers == [Committed()] * 8


@pytest.mark.parametrize(
    ("trouble", "told"),
    [(sqlite_error(sqlite3.SQLITE_IOERR_FSYNC), "commit_unknown"), (LookupError("a bug"), None)],
)
async def test_trouble_at_the_commit_is_told_to_who_asked(
    tmp_path: Path, trouble: Exception, told: str | None
) -> None:
    is_failing = False

    def hear(sql: str) -> None:
        if is_failing and sql == "COMMIT":
            raise trouble

    async with opened(tmp_path / "a.db", connection_class=heard(hear), **AT_ONCE) as store:
        is_failing = True
        answers = await asyncio.gather(
            *[store.commit([append(f"s{n}", 0)]) for n in range(3)], return_exceptions=True
        )
        assert {getattr(answer, "code", None) for answer in answers} == {told}
        assert {type(answer) for answer in answers} == {Broken if told else LookupError}
        is_failing = False
        assert await store.commit([append("s0", 0)]) == Committed()


async def test_what_is_gathered_when_the_store_is_closed_is_written(tmp_path: Path) -> None:
    path = tmp_path / "a.db"
    store = SqliteStore(path, **AT_ONCE)
    await store.open()
    commits = [asyncio.create_task(store.commit([append(f"s{n}", 0)])) for n in range(2)]
    await asyncio.sleep(0)
    await store.close()
    assert await asyncio.gather(*commits) == [Committed()] * 2
    with pytest.raises(Broken, match="not open"):
        await store.commit([append("s0", 1)])


async def test_loops_in_several_threads_share_a_store(tmp_path: Path) -> None:
    async def write(store: SqliteStore, stream: str) -> list[object]:
        return [await store.commit([append(stream, position)]) for position in range(40)]

    async with opened(tmp_path / "a.db", **AT_ONCE) as store:
        aside = [asyncio.to_thread(asyncio.run, write(store, f"t{n}")) for n in range(3)]
        answers = await asyncio.gather(write(store, "r"), *aside)
        assert [answer for each in answers for answer in each] == [Committed()] * 160
        assert [await store.read_head(stream) for stream in ("r", "t0", "t1", "t2")] == [40] * 4


async def test_who_watches_hears_of_others_and_not_of_its_own_process_twice(tmp_path: Path) -> None:
    path = tmp_path / "a.db"
    async with opened(path, **AT_ONCE) as store, opened(path, **AT_ONCE) as other:
        own, theirs = store.watch(["own"]), store.watch(["theirs"])
        for watch in (own, theirs):
            assert await watch.wait(60)  # the first look wakes everyone
        for position in range(5):
            await store.commit([append("own", position)])
        assert await own.wait(60)
        await other.commit([append("theirs", 0)])
        assert await theirs.wait(60)
        assert not await own.wait(0)
        await other.commit([append("theirs", 1)])
        await store.commit([append("own", 5)])  # in between: what is not seen here is seen at the next look
        assert await theirs.wait(60)


async def test_a_queue_that_is_filled_here_wakes_who_watches_it(tmp_path: Path) -> None:
    async with opened(tmp_path / "a.db", **AT_ONCE) as store:
        watch = store.watch(["queue:runs"])
        await watch.wait(60)
        await store.commit([Enqueue("runs", "r", AT, "ann")])
        assert await watch.wait(60)


def test_a_disk_is_slow_after_some_slow_syncs_and_not_after_one() -> None:
    quickness = Quickness()
    quickness.note(1.0)
    assert quickness.is_quick
    for _ in range(5):
        quickness.note(2 * QUICK_SECONDS)
    assert quickness._wait_seconds > QUICK_SECONDS
    for _ in range(20):
        quickness.note(0.0)
    assert quickness._wait_seconds < QUICK_SECONDS


def test_a_slow_disk_is_tried_again_once_its_wait_is_small_beside_the_time_that_went_by(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    now = [1000.0]
    monkeypatch.setattr("outlast.adapters.stores.sqlite.quickness.time.monotonic", lambda: now[0])
    quickness = Quickness()
    for _ in range(20):
        quickness.note(0.05)
    now[0] += 4.9
    assert quickness.is_quick is False
    now[0] += 0.2
    assert quickness.is_quick


async def test_many_commits_may_wait_longer_together(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Every transaction takes 3 ms: too long for one commit, not for sixty that share it."""
    ticks = count(0.0, 0.003)
    monkeypatch.setattr("outlast.adapters.stores.sqlite.nearby.monotonic", lambda: next(ticks))
    async with opened(tmp_path / "a.db", quick_seconds=0.002) as store:
        for position in range(30):
            await asyncio.gather(*[store.commit([append(f"s{n}", position)]) for n in range(60)])
        assert store._nearby._quickness._wait_seconds == 0.0
        for position in range(30):
            await store.commit([append("r", position)])
        assert store._nearby._quickness._wait_seconds > 0.002
