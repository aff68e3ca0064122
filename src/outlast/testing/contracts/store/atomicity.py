"""Batches: all of it or nothing, whichever guard fails wherever, and whoever commits at the same moment."""

from __future__ import annotations

import asyncio
from datetime import timedelta
from typing import Final

import pytest

from outlast.domain.errors import OutlastError
from outlast.ports.batch import Committed, Guard, Item, Refused
from outlast.ports.queue import Enqueue, Release
from outlast.ports.run_rows import DeleteRun, InsertRun, RunFilter, UpdateRun
from outlast.ports.store import Store
from outlast.ports.stream import CopyPayloads, PutPayload, PutSnapshot
from outlast.ports.task_rows import DeleteTask, InsertTask, TaskFilter, UpdateTask
from outlast.ports.thread_rows import DeleteThread, InsertThread
from outlast.testing.contracts.store.samples import AT, append, events, put, run, start, take, task, thread

FAILING: Final[dict[str, tuple[Item, Guard]]] = {
    "append at a wrong position": (append("r", 7), Guard.POSITION),
    "append under a stale generation": (append("r", 2, generation=9), Guard.GENERATION),
    "guard without events": (append("r", 7, 0), Guard.POSITION),
    "run that exists": (InsertRun(run("r", "t-r")), Guard.EXISTS),
    "run with a used key": (InsertRun(run("x", "idle", key="used")), Guard.KEY),
    "run in a busy thread": (InsertRun(run("x", "t-r")), Guard.THREAD_BUSY),
    "run without its thread": (InsertRun(run("x", "nowhere")), Guard.MISSING),
    "update of no run": (UpdateRun("x", "FAILED", False, None, AT, "{}", 1), Guard.MISSING),
    "update under a stale generation": (
        UpdateRun("r", "FAILED", False, None, AT, "{}", 1, 9),
        Guard.GENERATION,
    ),
    "update that revives": (UpdateRun("ended", "INIT", True, None, AT, "{}", 1), Guard.THREAD_BUSY),
    "thread of another": (InsertThread(thread("t-r", "bob")), Guard.EXISTS),
    "copy from nowhere": (CopyPayloads("nowhere", "new"), Guard.MISSING),
    "deletion of no run": (DeleteRun("x", 0), Guard.MISSING),
    "deletion of an active run": (DeleteRun("r", 2), Guard.ACTIVE),
    "deletion at a wrong position": (DeleteRun("ended", 1), Guard.POSITION),
    "deletion of no thread": (DeleteThread("nowhere"), Guard.MISSING),
    "deletion of a thread with runs": (DeleteThread("idle"), Guard.THREAD_BUSY),
    "task that exists": (InsertTask(task("k", "t-r")), Guard.EXISTS),
    "task with a used name": (InsertTask(task("x", "t-r", name="k")), Guard.NAME),
    "task with a used remote id": (InsertTask(task("x", "t-r", remote_id="far")), Guard.REMOTE),
    "update of no task": (UpdateTask(task("x"), 1), Guard.MISSING),
    "update of another revision": (UpdateTask(task("k"), 2), Guard.REVISION),
    "task update under a stale generation": (
        UpdateTask(task("k"), 1, None, "task_poll", 9),
        Guard.GENERATION,
    ),
    "task update to a used remote id": (UpdateTask(task("k", remote_id="farther"), 1), Guard.REMOTE),
    "deletion of no task": (DeleteTask("x", 1), Guard.MISSING),
    "deletion of another revision": (DeleteTask("k", 2), Guard.REVISION),
    "release under a stale generation": (Release("runs", "r", 9, None), Guard.GENERATION),
}
"""Items that are refused after `_prepare`, and why."""


async def _prepare(store: Store) -> None:
    await start(store)
    await take(store)
    await put(
        store,
        append("r", 0, 2),
        InsertThread(thread("idle")),
        InsertRun(run("ended", "t-r", is_active=False)),
        InsertRun(run("keyed", "idle", key="used", is_active=False)),
        PutSnapshot("r", 1, 1, "one"),
        PutPayload("r", "a" * 64, b"content"),
        InsertTask(task("k", "t-r", remote_id="far")),
        InsertTask(task("l", "t-r", remote_id="farther")),
    )


def _harmless() -> list[Item]:
    """One item of each kind; all would be accepted."""
    return [
        append("r", 2, 2, generation=1),
        append("new", 0, 1),
        InsertThread(thread("made")),
        InsertRun(run("made", "made", key="made")),
        UpdateRun("r", "EXECUTING", True, None, AT + timedelta(days=1), '{"changed":true}', 2, 1),
        PutSnapshot("r", 2, 1, "two"),
        PutPayload("r", "b" * 64, b"more"),
        CopyPayloads("r", "new"),
        Enqueue("polls", "made", AT, "ann"),
        Release("runs", "r", 1, AT),
        InsertTask(task("made", "t-r", remote_id="new")),
        UpdateTask(task("l", "t-r", status="failed", is_open=False, remote_id="farther"), 1, "result"),
    ]


async def _everything(store: Store) -> list[object]:
    """All that `_prepare` and `_harmless` could have left, read through the port."""
    streams = ["r", "new"]
    return [
        [await store.read_events(stream) for stream in streams],
        [await store.read_snapshot(stream) for stream in streams],
        await store.read_payloads(["a" * 64, "b" * 64]),
        await store.list_runs(RunFilter()),
        await store.list_threads("ann"),
        [*await store.list_tasks(TaskFilter()), await store.read_task_result("l")],
        [await store.read_entry(queue, item) for queue, item in [("runs", "r"), ("polls", "made")]],
    ]


@pytest.mark.asyncio
class AtomicityContract:
    """What is promised of a batch."""

    async def test_a_batch_of_every_kind_is_written(self, store: Store) -> None:
        """So the refusals below refuse something."""
        await _prepare(store)
        before = await _everything(store)
        await put(store, *_harmless())
        assert all(was != now for was, now in zip(before, await _everything(store), strict=True))

    @pytest.mark.parametrize("name", FAILING)
    async def test_a_failed_guard_leaves_nothing_behind(self, store: Store, name: str) -> None:
        """At every index of the batch, and the answer names it. What comes before may have satisfied or broken a later guard."""
        await _prepare(store)
        before = await _everything(store)
        failing, guard = FAILING[name]
        harmless = _harmless()[2:4] + _harmless()[5:9]  # none that decides whether `failing` is refused
        for index in range(len(harmless) + 1):
            batch = [*harmless[:index], failing, *harmless[index:]]
            assert await store.commit(batch) == Refused(guard, index)
            assert await _everything(store) == before

    async def test_a_guard_sees_the_items_before_it(self, store: Store) -> None:
        """Appends in a row, a lease given back half way."""
        await start(store)
        claim = await take(store)
        given_back: list[Item] = [
            append("r", 0, 2, generation=claim.generation),
            Release("runs", "r", claim.generation, None),
            append("r", 2, generation=claim.generation),
        ]
        assert await store.commit(given_back) == Refused(Guard.GENERATION, 2)
        assert await store.read_head("r") == 0
        assert await store.commit([append("r", 0, 2), append("r", 1)]) == Refused(Guard.POSITION, 1)
        await put(store, append("r", 0, 2), append("r", 2, 3), append("q", 0))
        assert await store.read_events("r") == list(events(5))

    async def test_an_empty_batch_is_committed(self, store: Store) -> None:
        """There is nothing to refuse."""
        assert await store.commit([]) == Committed()

    async def test_a_refused_batch_does_not_touch_those_beside_it(self, store: Store, other: Store) -> None:
        """Many at once, every second one stale in its second item."""
        await put(store, append("stale", 0, 3))

        async def commit(number: int) -> Committed | Refused:
            items: list[Item] = [append(f"s{number}", 0)]
            if number % 2:
                items.append(append("stale", 1))
            return await (store if number % 4 < 2 else other).commit(items)

        answers = await asyncio.gather(*[commit(number) for number in range(80)])
        assert answers == [Committed(), Refused(Guard.POSITION, 1)] * 40
        heads = [await store.read_head(f"s{number}") for number in range(80)]
        assert heads == [1, 0] * 40
        assert await store.read_head("stale") == 3

    async def test_a_batch_that_cannot_be_stored_does_not_touch_those_beside_it(self, store: Store) -> None:
        """A position no store can hold is an error for who sent it, and for nobody else."""
        bad = store.commit([append("bad", 0), append("bad", 10**30)])
        good = [store.commit([append(f"s{number}", 0)]) for number in range(20)]
        trouble, *answers = await asyncio.gather(bad, *good, return_exceptions=True)
        assert isinstance(trouble, OutlastError | Refused)
        assert answers == [Committed()] * 20
        assert await store.read_head("bad") == 0
