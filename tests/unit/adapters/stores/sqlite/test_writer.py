"""The writer: one statement an append, one sync a group, and trouble only for whom it concerns."""

import asyncio
import sqlite3
import threading
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from outlast.adapters.stores.lane import Job
from outlast.adapters.stores.sqlite import SqliteStore
from outlast.adapters.stores.sqlite.connection import Opener
from outlast.adapters.stores.sqlite.session import Session, Unsynced
from outlast.adapters.stores.sqlite.writer import Writer
from outlast.adapters.stores.watches import Watches
from outlast.domain.errors import Broken, CallerMistake
from outlast.ports.batch import Committed
from outlast.ports.queue import Enqueue, Release
from outlast.ports.store import StoreCounts
from outlast.ports.stream import Append, EventRow, PutPayload
from tests.law import law
from tests.unit.adapters.stores.sqlite.making import AT, heard, opened, sqlite_error

KIBIBYTE = "x" * 1024


def append(stream: str, after: int, body: str = KIBIBYTE, count: int = 1) -> Append:
    return Append(
        stream, after, tuple(EventRow(after + n, "Noted", 1, AT, body) for n in range(1, count + 1))
    )


def difference(before: StoreCounts, after: StoreCounts) -> tuple[int, int, int]:
    return (
        after.statements - before.statements,
        after.commits - before.commits,
        after.durable_syncs - before.durable_syncs,
    )


async def test_a_round_of_two_commits_is_two_statements_and_two_syncs(tmp_path: Path) -> None:
    async with opened(tmp_path / "outlast.db") as store:
        await store.commit([Enqueue("runs", "r", AT, "ann")])
        await store.claim("runs", "w", 60)
        before = store.counts()
        for position in range(2):
            events = append("r", position).events
            assert await store.commit([Append("r", position, events, generation=1)]) == Committed()
        assert difference(before, store.counts()) == (2, 2, 2)


async def test_several_events_are_one_statement(tmp_path: Path) -> None:
    async with opened(tmp_path / "outlast.db") as store:
        before = store.counts()
        await store.commit([append("r", 0, count=40)])
        assert difference(before, store.counts()) == (1, 1, 1)


class Levels(sqlite3.Connection):
    """Notes how durable each transaction is when it ends: 1 is NORMAL, 2 is FULL."""

    at_commit: list[int] = []  # noqa: RUF012 - of all connections

    def execute(self, sql: str, *parameters: Any) -> sqlite3.Cursor:
        if sql == "COMMIT":
            self.at_commit.append(super().execute("PRAGMA synchronous").fetchone()[0])
        return super().execute(sql, *parameters)


async def test_leases_alone_are_not_synced_and_whatever_is_committed_is(tmp_path: Path) -> None:
    async with opened(tmp_path / "outlast.db", connection_class=Levels) as store:
        for number in range(2):
            await store.commit([Enqueue("runs", f"r{number}", AT, "ann")])
        Levels.at_commit.clear()
        before = store.counts()
        for number in range(2):
            claims = await store.claim("runs", "w", 60)
            await store.renew(claims, 60)
            assert await store.commit([Release("runs", f"r{number}", 1, None)]) == Committed()
        assert Levels.at_commit == [1, 1, 2] * 2
        assert store.counts().durable_syncs - before.durable_syncs == 2


async def test_a_lease_that_shares_a_transaction_with_anything_else_is_synced(tmp_path: Path) -> None:
    def nothing(_: Session) -> None:
        return

    writer = Writer(Opener(tmp_path / "outlast.db", Levels), Watches(lambda: None), lambda: AT)
    Levels.at_commit.clear()
    writer.serve([Job(Unsynced(nothing))])
    writer.serve([Job(Unsynced(nothing)), Job(nothing)])
    assert Levels.at_commit == [1, 2]
    writer.close()


async def test_memory_has_nothing_to_sync() -> None:
    async with opened(None) as store:
        await store.commit([append("r", 0)])
        assert store.counts() == StoreCounts(statements=1, commits=1, durable_syncs=0)


async def test_commits_that_are_pending_together_share_a_sync(tmp_path: Path) -> None:
    async with opened(tmp_path / "outlast.db") as store:
        before = store.counts()
        answers = await asyncio.gather(*[store.commit([append(f"s{n}", 0)]) for n in range(200)])
        assert answers == [Committed()] * 200
        statements, commits, syncs = difference(before, store.counts())
        assert statements == 200
        assert commits == syncs <= 20


async def test_a_batch_that_cannot_be_stored_costs_the_others_few_syncs(tmp_path: Path) -> None:
    async with opened(tmp_path / "outlast.db") as store:
        before = store.counts()
        bad = [store.commit([append(f"s{n}", 0, "\ud800" if n == 77 else "{}")]) for n in range(200)]
        answers = await asyncio.gather(*bad, return_exceptions=True)
        assert isinstance(answers.pop(77), CallerMistake)
        assert answers == [Committed()] * 199
        assert difference(before, store.counts())[2] <= 30


async def test_a_cancelled_caller_leaves_the_others_their_answers(tmp_path: Path) -> None:
    async with opened(tmp_path / "outlast.db") as store:
        commits = [asyncio.create_task(store.commit([append(f"s{n}", 0)])) for n in range(10)]
        await asyncio.sleep(0)
        commits[3].cancel()
        answers = await asyncio.gather(*commits, return_exceptions=True)
        assert isinstance(answers.pop(3), asyncio.CancelledError)
        assert answers == [Committed()] * 9


async def test_a_loop_that_is_gone_does_not_stop_the_writer(tmp_path: Path) -> None:
    store = SqliteStore(tmp_path / "outlast.db")
    await store.open()

    def leave() -> None:
        loop = asyncio.new_event_loop()
        task = loop.create_task(store.commit([append("r", 0)]))
        loop.run_until_complete(asyncio.sleep(0))
        task.cancel()
        loop.run_until_complete(asyncio.gather(task, return_exceptions=True))
        loop.close()

    await asyncio.to_thread(leave)
    assert await store.commit([append("q", 0)]) == Committed()
    assert await store.read_head("r") == 1
    await store.close()


async def test_a_store_may_be_opened_again(tmp_path: Path) -> None:
    path = tmp_path / "outlast.db"
    store = SqliteStore(path)
    path.write_bytes(b"no database" * 500)
    with pytest.raises(Broken):
        await store.open()
    path.unlink()
    for position in range(2):
        await store.open()
        assert await store.commit([append("r", position)]) == Committed()
        assert await store.read_head("r") == position + 1
        await store.close()


async def test_an_open_that_is_cancelled_leaves_no_thread(tmp_path: Path) -> None:
    names = {"outlast-store-writer", "outlast-store-reader"}
    opening = asyncio.create_task(SqliteStore(tmp_path / "outlast.db").open())
    await asyncio.sleep(0)
    opening.cancel()
    with pytest.raises(asyncio.CancelledError):
        await opening
    left = [thread for thread in threading.enumerate() if thread.name in names]
    for thread in left:
        await asyncio.to_thread(thread.join, 10)
    assert not [thread for thread in left if thread.is_alive()]


async def test_a_full_store_refuses_and_goes_on_once_there_is_room(tmp_path: Path) -> None:
    async with opened(tmp_path / "outlast.db") as store:
        pages = await store._writes.do(
            lambda session: session.connection.execute("PRAGMA page_count").fetchone()[0]
        )
        await store._writes.do(
            lambda session: session.connection.execute(f"PRAGMA max_page_count = {pages + 12}").fetchall()
        )
        fill = [store.commit([Append("r", None, append("r", 0, count=10).events)]) for _ in range(99)]
        answers = await asyncio.gather(*fill, return_exceptions=True)
        refused = [answer for answer in answers if isinstance(answer, Broken)]
        assert {full.code for full in refused} == {"store_full"}
        written = await store.read_head("r")
        assert written == 10 * (99 - len(refused))
        assert written > 0
        small, large = (
            store.commit([Enqueue("runs", "r", AT, "ann")]),
            store.commit([PutPayload("r", "d", b"x" * 10**6)]),
        )
        answers = await asyncio.gather(small, large, return_exceptions=True)
        assert answers[0] == Committed()
        assert isinstance(answers[1], Broken)
        await store._writes.do(
            lambda session: session.connection.execute("PRAGMA max_page_count = 9999").fetchall()
        )
        assert await store.commit([append("r", written, count=10)]) == Committed()
        assert await store.read_payloads(["d"]) == {}


async def test_a_lock_that_is_not_given_up_is_told_and_outlived(tmp_path: Path) -> None:
    path = tmp_path / "outlast.db"
    async with opened(path, busy_seconds=0.05) as store:
        with closing(sqlite3.connect(path, isolation_level=None)) as holder:
            holder.execute("BEGIN IMMEDIATE")
            commits = [store.commit([append(f"s{n}", 0)]) for n in range(50)]
            answers = await asyncio.gather(*commits, return_exceptions=True)
            assert [getattr(answer, "code", answer) for answer in answers] == ["store_unavailable"] * 50
            assert await store.read_head("s0") == 0
        assert await store.commit([append("s0", 0)]) == Committed()


async def test_a_file_that_is_no_database_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "outlast.db"
    path.write_bytes(b"This is a letter to a friend. " * 500)
    with pytest.raises(Broken) as refused:
        await SqliteStore(path).open()
    assert refused.value.code == "store_damaged"
    assert "backup" in refused.value.next_step
    assert path.read_bytes().startswith(b"This is a letter")


async def test_a_damaged_page_is_told(tmp_path: Path) -> None:
    path = tmp_path / "outlast.db"
    async with opened(path):
        pass
    empty_bytes = path.stat().st_size
    async with opened(path) as store:
        await store.commit([append("r", 0, count=200)])
    content = bytearray(path.read_bytes())
    content[empty_bytes:] = b"\xff" * (len(content) - empty_bytes)
    path.write_bytes(content)
    async with opened(path) as store:
        with pytest.raises(Broken) as told:
            await store.read_events("r")
        assert told.value.code == "store_damaged"


async def test_a_disk_that_fails_at_the_commit_leaves_it_unknown_and_the_store_usable(tmp_path: Path) -> None:
    failing = True

    def hear(sql: str) -> None:
        if failing and sql == "COMMIT" and ready:
            raise sqlite_error(sqlite3.SQLITE_IOERR_FSYNC)

    ready = False
    async with opened(tmp_path / "outlast.db", connection_class=heard(hear)) as store:
        ready = True
        with pytest.raises(Broken) as unknown:
            await store.commit([append("r", 0)])
        assert unknown.value.code == "commit_unknown"
        failing = False
        assert await store.commit([append("r", 0)]) == Committed()


async def test_a_bug_of_the_writer_is_raised_to_who_waits_and_the_store_goes_on(tmp_path: Path) -> None:
    is_buggy = False

    def hear(sql: str) -> None:
        if is_buggy and sql == "COMMIT":
            raise LookupError("a bug")

    async with opened(tmp_path / "outlast.db", connection_class=heard(hear)) as store:
        is_buggy = True
        commits = [store.commit([append(f"s{n}", 0)]) for n in range(5)]
        answers = await asyncio.gather(*commits, return_exceptions=True)
        assert {type(answer) for answer in answers} == {LookupError}
        is_buggy = False
        assert await store.commit([append("s0", 0)]) == Committed()


async def test_a_store_in_memory_is_never_replaced_by_an_empty_one() -> None:
    is_broken = False

    def hear(sql: str) -> None:
        if is_broken and sql in {"COMMIT", "ROLLBACK"}:
            raise sqlite_error(sqlite3.SQLITE_NOMEM)

    async with opened(None, connection_class=heard(hear)) as store:
        await store.commit([append("r", 0)])
        is_broken = True
        for _ in range(2):
            with pytest.raises(Broken):
                await store.commit([append("r", 1)])
        with pytest.raises(Broken, match="in memory was lost"):
            await store.read_head("r")


@law("STORE-4.a")
async def test_g07_05_text_that_is_no_text_is_refused_and_never_replaces_what_is_there(
    tmp_path: Path,
) -> None:
    surrogates = ["ok \ud83d", b"caf\xe9.txt".decode("utf-8", "surrogateescape")]
    async with opened(tmp_path / "outlast.db") as store:
        assert await store.commit([append("r", 0, "the finished result")]) == Committed()
        for text in surrogates:
            for batch in ([append("r", 1, text)], [append("q", 0), Enqueue("runs", "r", AT, "ann", text)]):
                with pytest.raises(CallerMistake, match="cannot be stored"):
                    await store.commit(batch)
        assert [event.body for event in await store.read_events("r")] == ["the finished result"]
        assert await store.read_head("q") == 0
        assert await store.commit([append("r", 1, "ok \ufffd")]) == Committed()


@law("STORE-3.a", "STORE-3.b")
async def test_g07_08_bytes_stay_below_three_times_the_content(tmp_path: Path) -> None:
    path, content = tmp_path / "outlast.db", 0
    async with opened(path) as store:
        for step in range(200):
            result = f"{step:08d}".encode() * 2560
            batch = [
                append("r", step),
                PutPayload("r", f"{step:064x}", result),
                PutPayload("fork", f"{step:064x}", result),
            ]
            assert await store.commit(batch) == Committed()
            content += len(result) + len(KIBIBYTE)
    assert path.stat().st_size < 1.3 * content
