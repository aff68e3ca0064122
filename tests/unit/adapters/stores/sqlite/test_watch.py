"""Watches: precise within the process, and no work while nobody watches."""

import asyncio
import math
import threading
from dataclasses import replace
from pathlib import Path

from outlast.adapters.stores.lane import Job
from outlast.adapters.stores.sqlite.batch import write_batch
from outlast.adapters.stores.sqlite.connection import Opener
from outlast.adapters.stores.sqlite.writer import Writer
from outlast.adapters.stores.watches import Watches
from outlast.ports.batch import Guard, Refused
from outlast.ports.queue import Enqueue, Release
from outlast.ports.run_rows import DeleteRun, InsertRun
from outlast.ports.stream import Append, EventRow
from outlast.ports.thread_rows import DeleteThread, InsertThread
from outlast.testing.contracts.store.samples import append as samples_append
from outlast.testing.contracts.store.samples import put, run, thread
from tests.patience import PATIENCE_SECONDS
from tests.unit.adapters.stores.sqlite.making import AT, heard, opened


def append(stream: str, after: int = 0) -> Append:
    return Append(stream, after, (EventRow(after + 1, "Noted", 1, AT, "{}"),))


async def test_a_commit_wakes_nobody_else() -> None:
    async with opened(None) as store:
        other, queue, mine = store.watch(["q"]), store.watch(["queue:polls"]), store.watch(["r"])
        await store.commit([append("r"), Enqueue("runs", "r", AT, "ann")])
        assert await mine.wait(PATIENCE_SECONDS)
        assert not await mine.wait(0)
        assert not await other.wait(0)
        assert not await queue.wait(0)


async def test_who_watches_for_signals_does_not_hear_the_holder() -> None:
    async with opened(None) as store:
        await store.commit([Enqueue("runs", "r", AT, "ann")])
        await store.claim("runs", "w", 60)
        signals, all_of_it = store.watch(["signals:r"]), store.watch(["r"])
        await store.commit([replace(append("r"), generation=1)])
        assert not await signals.wait(0)
        assert await all_of_it.wait(0)
        await store.commit([Append("r", 1, ())])
        assert not await all_of_it.wait(0)
        await store.commit([append("r", 1)])
        assert await signals.wait(0)
        assert await all_of_it.wait(0)


async def test_another_handle_is_heard_precisely(tmp_path: Path) -> None:
    path = tmp_path / "outlast.db"
    async with opened(path) as store, opened(path) as other:
        watches = [store.watch([topic]) for topic in ("r", "q", "queue:runs", "queue:polls")]
        for watch in watches:
            assert await watch.wait(
                PATIENCE_SECONDS
            )  # the first look wakes everyone, for nobody looked before
        await store.commit([append("own"), Enqueue("polls", "p", AT, "ann")])
        assert await watches[3].wait(PATIENCE_SECONDS)
        await other.commit([append("r"), Enqueue("runs", "r", AT, "ann")])
        assert await watches[0].wait(PATIENCE_SECONDS)
        assert await watches[2].wait(PATIENCE_SECONDS)
        assert not await watches[1].wait(0)


async def test_events_numbered_like_deleted_ones_are_heard(tmp_path: Path) -> None:
    async with opened(tmp_path / "outlast.db") as store, opened(tmp_path / "outlast.db") as other:
        for deleting, writing in ((other, other), (store, other)):
            await put(
                store, InsertThread(thread()), InsertRun(run("r", is_active=False)), samples_append("r", 0, 9)
            )
            watch = store.watch(["fresh"])
            while await watch.wait(0.1):
                pass
            await put(deleting, DeleteRun("r", 9), DeleteThread("t"))
            await put(writing, Append("fresh", None, (EventRow(1, "Noted", 1, AT, "{}"),)))
            assert await watch.wait(PATIENCE_SECONDS)
            watch.stop()


async def test_a_release_with_a_due_time_is_heard_like_an_enqueue() -> None:
    async with opened(None) as store:
        await store.commit([Enqueue("runs", "r", AT, "ann")])
        watch = store.watch(["queue:runs"])
        for due_at in (None, AT):
            [claim] = await store.claim("runs", "w", 60, item="r")
            await store.commit([Release("runs", "r", claim.generation, due_at)])
            assert await watch.wait(0) is (due_at is not None)


async def test_the_file_is_looked_at_only_while_someone_watches(tmp_path: Path) -> None:
    looks, looked = 0, threading.Event()

    def hear(sql: str) -> None:
        nonlocal looks
        if sql == "PRAGMA data_version":
            looks += 1
            looked.set()

    async with opened(tmp_path / "outlast.db", connection_class=heard(hear)) as store:
        await store.commit([append("r")])
        assert looks == 0
        watch = store.watch(["r"])
        assert await asyncio.to_thread(looked.wait, 5)
        watch.stop()
        await store.commit([append("r", 1)])
        seen = looks
        await store.commit([append("r", 2)])
        assert looks == seen
        assert store._writer is not None
        assert store._writer.idle_seconds() is None


async def test_a_transaction_looks_once_for_what_others_have_committed(tmp_path: Path) -> None:
    """Within itself, so that nothing comes between the look and its own events; no look goes before it."""
    told: list[str] = []
    watches = Watches(lambda: None)
    writer = Writer(Opener(tmp_path / "outlast.db", heard(told.append)), watches, lambda: AT)
    watch = watches.add(["r"])
    writer.serve([])
    told.clear()
    writer.serve([Job(lambda session: write_batch(session, [append("r")]))])
    assert [sql for sql in told if not sql.startswith("INSERT")] == [
        "BEGIN IMMEDIATE",
        "PRAGMA data_version",
        "COMMIT",
    ]
    watch.stop()
    writer.close()


async def test_own_events_are_not_looked_for_elsewhere(tmp_path: Path) -> None:
    path = tmp_path / "outlast.db"
    async with opened(path) as store, opened(path) as other:
        watch = store.watch(["other"])
        while await watch.wait(0.1):
            pass
        for position in range(50):
            await store.commit([append("own", position)])
        assert store._writer is not None
        assert store._writer._elsewhere is not None
        assert store._writer._elsewhere._last_seq == 50
        await other.commit([append("other")])
        assert await watch.wait(PATIENCE_SECONDS)


def test_a_watch_may_outlive_the_loop_that_waited() -> None:
    async def scene() -> None:
        async with opened(None) as store:
            watch = store.watch(["r"])

            def abandon() -> None:
                loop = asyncio.new_event_loop()
                waiting = loop.create_task(watch.wait(60))
                loop.run_until_complete(asyncio.sleep(0))
                waiting.cancel()
                loop.run_until_complete(asyncio.gather(waiting, return_exceptions=True))
                loop.close()

            await asyncio.to_thread(abandon)
            await store.commit([append("r")])
            assert await watch.wait(PATIENCE_SECONDS)

    asyncio.run(scene())


async def test_a_commit_before_the_first_look_is_not_missed(tmp_path: Path) -> None:
    path, looking, go_on = tmp_path / "outlast.db", threading.Event(), threading.Event()

    def hear(sql: str) -> None:
        if sql == "PRAGMA data_version":
            looking.set()
            go_on.wait(PATIENCE_SECONDS)

    async with opened(path, connection_class=heard(hear)) as store, opened(path) as other:
        watch = store.watch(["r"])
        assert await asyncio.to_thread(looking.wait, 10)
        await other.commit([append("r")])
        go_on.set()
        assert await watch.wait(PATIENCE_SECONDS)


async def test_events_of_others_are_heard_after_an_append_of_ours_that_was_undone(tmp_path: Path) -> None:
    """What a refused batch had appended has numbers that the next events get, whoever appends them."""
    for name, quick_seconds in (("in the loop", math.inf), ("aside", 0)):
        path = tmp_path / f"{name}.db"
        async with opened(path, quick_seconds=quick_seconds) as store, opened(path) as other:
            watch = store.watch(["theirs"])
            assert await watch.wait(PATIENCE_SECONDS)
            await put(store, append("own"))
            undone = [append("own", 1), Release("runs", "own", 1, None)]
            assert await store.commit(undone) == Refused(Guard.GENERATION, 1)
            await put(other, Append("theirs", None, (EventRow(1, "Noted", 1, AT, "{}"),)))
            assert await watch.wait(PATIENCE_SECONDS)


def test_a_commit_in_the_midst_of_a_look_is_heard_at_the_next(tmp_path: Path) -> None:
    asked = ["PRAGMA data_version", "SELECT DISTINCT", "SELECT coalesce(max(seq)", "SELECT queue, mark"]
    for number, statement in enumerate(asked):
        path = tmp_path / f"{number}.db"
        others = Writer(Opener(path), Watches(lambda: None), lambda: AT)
        is_armed = False

        def hear(sql: str, statement: str = statement, others: Writer = others) -> None:
            nonlocal is_armed
            if is_armed and statement in sql:
                is_armed = False
                others.serve([Job(lambda session: write_batch(session, [append("between")]))])

        watches = Watches(lambda: None)
        writer = Writer(Opener(path, heard(hear)), watches, lambda: AT)
        watch = watches.add(["between"])
        writer.serve([])
        watch._is_touched = False
        others.serve([Job(lambda session: write_batch(session, [append("before")]))])
        is_armed = True
        writer.serve([])
        assert not is_armed
        writer.serve([])
        assert watch._is_touched, statement
        writer.close()
        others.close()
