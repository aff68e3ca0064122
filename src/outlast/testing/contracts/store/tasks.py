"""Background tasks as rows: written under a revision, unique where they must be, found by what they are."""

from __future__ import annotations

import asyncio
from dataclasses import replace

import pytest

from outlast.ports.batch import Committed, Guard, Refused
from outlast.ports.queue import Enqueue, Release
from outlast.ports.store import Store
from outlast.ports.task_rows import DeleteTask, InsertTask, TaskFilter, UpdateTask
from outlast.testing.contracts.store.samples import AT, put, take, task

QUEUES = ("task_poll", "task_notify")


@pytest.mark.asyncio
class TaskContract:
    """What is promised of background tasks."""

    async def test_a_task_is_read_as_it_was_written(self, store: Store) -> None:
        """Every field, in the order of the ids that are asked for; what is not there is left out."""
        rows = [task("k", remote_id="far", event_version=3), task("l", notification="pending", is_open=False)]
        await put(store, *map(InsertTask, rows))
        assert await store.read_tasks(["l", "nothing", "k"]) == rows[::-1]
        assert await store.read_tasks([]) == []
        assert await store.read_task_result("k") is None

    async def test_an_update_counts_revisions_and_leaves_identity_alone(self, store: Store) -> None:
        """User, thread, run, name and creation stay, whatever the row says."""
        row = task("k")
        await put(store, InsertTask(row))
        changed = replace(
            row, status="completed", is_open=False, event_version=2, notified_version=1, body="{}"
        )
        stray = replace(
            changed, user_id="bob", thread_id="t2", run_id="q", name="else", created_at=row.updated_at
        )
        await put(store, UpdateTask(stray, 1))
        assert await store.read_tasks(["k"]) == [replace(changed, revision=2)]
        assert await store.commit([UpdateTask(changed, 1)]) == Refused(Guard.REVISION, 0)
        await put(store, UpdateTask(row, 2))
        assert await store.read_tasks(["k"]) == [replace(row, revision=3)]

    async def test_of_many_updates_of_one_revision_one_wins(self, store: Store, other: Store) -> None:
        """The rest are told."""
        await put(store, InsertTask(task("k")))
        answers = await asyncio.gather(
            *[
                (store if n % 2 else other).commit([UpdateTask(task("k", status=str(n)), 1)])
                for n in range(10)
            ]
        )
        assert sorted(answers, key=str) == [Committed(), *[Refused(Guard.REVISION, 0)] * 9]

    async def test_updates_in_one_batch_follow_one_another(self, store: Store) -> None:
        """Each sees the revision the one before has made."""
        await put(
            store, InsertTask(task("k")), UpdateTask(task("k"), 1), UpdateTask(task("k", status="x"), 2)
        )
        [row] = await store.read_tasks(["k"])
        assert (row.revision, row.status) == (3, "x")

    async def test_a_stale_holder_cannot_update(self, store: Store) -> None:
        """Not after its lease was given back, and not after another claim."""
        await put(store, InsertTask(task("k")), Enqueue("task_poll", "k", AT, "ann"))
        first = await take(store, "k", "task_poll")

        def under(generation: int, after: int) -> UpdateTask:
            return UpdateTask(task("k"), after, None, "task_poll", generation)

        await put(store, under(first.generation, 1), Release("task_poll", "k", first.generation, AT))
        assert await store.commit([under(first.generation, 2)]) == Refused(Guard.GENERATION, 0)
        second = await take(store, "k", "task_poll")
        assert await store.commit([under(first.generation, 2)]) == Refused(Guard.GENERATION, 0)
        await put(store, under(second.generation, 2))

    async def test_a_name_is_used_once_in_a_thread(self, store: Store) -> None:
        """NAME; another thread has names of its own."""
        await put(store, InsertTask(task("k", name="render")), InsertTask(task("l", "t2", name="render")))
        assert await store.commit([InsertTask(task("m", name="render"))]) == Refused(Guard.NAME, 0)
        await put(store, DeleteTask("k", 1), InsertTask(task("m", name="render")))

    async def test_a_remote_id_is_looked_after_once_for_a_user(self, store: Store) -> None:
        """REMOTE; free for other users and servers, and again once it was given up. Tasks without one are free."""
        await put(
            store, InsertTask(task("k", remote_id="far")), InsertTask(task("l", "t2", "bob", remote_id="far"))
        )
        await put(store, InsertTask(replace(task("m", remote_id="far"), server="others")))
        assert await store.commit([InsertTask(task("n", remote_id="far"))]) == Refused(Guard.REMOTE, 0)
        await put(store, InsertTask(task("n")), InsertTask(task("o")))
        assert await store.commit([UpdateTask(task("n", remote_id="far"), 1)]) == Refused(Guard.REMOTE, 0)
        await put(store, UpdateTask(task("k"), 1), UpdateTask(task("n", remote_id="far"), 1))
        await put(store, UpdateTask(task("n", remote_id="far", status="failed"), 2), DeleteTask("n", 3))
        await put(store, InsertTask(task("p", remote_id="far")))

    async def test_a_result_is_kept_beside_the_row(self, store: Store) -> None:
        """A later update without one keeps it; it goes with the task."""
        await put(store, InsertTask(task("k")), UpdateTask(task("k"), 1, "潮汐\U0001f30a"))
        await put(store, UpdateTask(task("k"), 2))
        assert await store.read_task_result("k") == "潮汐\U0001f30a"
        await put(store, DeleteTask("k", 3), InsertTask(task("k")))
        assert await store.read_task_result("k") is None
        assert await store.read_task_result("nothing") is None

    async def test_a_deleted_task_leaves_nothing_behind(self, store: Store) -> None:
        """Neither row nor entries nor place in a list; its lease is stale."""
        await put(
            store,
            InsertTask(task("k", event_version=1)),
            *[Enqueue(queue, "k", AT, "ann") for queue in QUEUES],
        )
        claim = await take(store, "k", "task_poll")
        await put(store, UpdateTask(task("k", event_version=1), 1), DeleteTask("k", 2, QUEUES))
        assert await store.read_tasks(["k"]) == []
        assert (
            await store.list_tasks(TaskFilter(is_undelivered=True))
            == []
            == await store.list_tasks(TaskFilter())
        )
        assert [await store.read_entry(queue, "k") for queue in QUEUES] == [None, None]
        assert await store.next_due("task_notify") is None
        assert await store.commit([Release("task_poll", "k", claim.generation, None)]) == Refused(
            Guard.GENERATION, 0
        )

    async def test_tasks_are_listed_newest_first_filtered_and_counted(self, store: Store) -> None:
        """Each filter narrows; together they all hold; a list says where it begins and how long it is."""
        rows = [
            task("a", minutes=2, status="failed", is_open=False, event_version=1, notification="dead_letter"),
            replace(task("b", "t2", "bob", minutes=3), run_id="q", tracking="degraded"),
            replace(task("c", minutes=1, event_version=2), notified_version=2),
        ]
        await put(store, *map(InsertTask, rows))

        async def found(wanted: TaskFilter) -> str:
            listed = "".join([row.task_id for row in await store.list_tasks(wanted)])
            assert await store.count_tasks(replace(wanted, limit=1, offset=1)) >= len(listed)
            return listed

        assert await found(TaskFilter()) == "bac"
        assert await found(TaskFilter(limit=1, offset=1)) == "a"
        assert await found(TaskFilter(limit=0)) == ""
        assert await found(TaskFilter(user_id="ann")) == "ac"
        assert await found(TaskFilter(thread_id="t2")) == "b" == await found(TaskFilter(run_id="q"))
        assert await found(TaskFilter(status="failed")) == "a" == await found(TaskFilter(is_open=False))
        assert await found(TaskFilter(tracking="degraded")) == "b"
        assert await found(TaskFilter(notification="dead_letter")) == "a"
        assert await found(TaskFilter(is_open=True)) == "bc" == await found(TaskFilter(is_undelivered=False))
        assert await found(TaskFilter(thread_id="t", is_undelivered=True)) == "a"
        assert await found(TaskFilter(user_id="ann", status="working", is_open=True)) == "c"
        assert await store.count_tasks(TaskFilter()) == 3
        assert await store.count_tasks(TaskFilter(user_id="ann", is_open=True)) == 1

    async def test_lists_follow_updates(self, store: Store) -> None:
        """A task leaves the lists of what it was."""
        await put(store, InsertTask(task("k", event_version=1)))
        after = replace(
            task("k", status="lost", is_open=False, notification="delivered", event_version=1),
            notified_version=1,
        )
        await put(store, UpdateTask(replace(after, tracking="degraded"), 1))
        for wanted in (
            TaskFilter(status="working"),
            TaskFilter(tracking="ok"),
            TaskFilter(notification="none"),
            TaskFilter(is_open=True),
            TaskFilter(is_undelivered=True),
        ):
            assert await store.list_tasks(wanted) == []
        assert (
            await store.count_tasks(TaskFilter(status="lost", tracking="degraded", is_undelivered=False)) == 1
        )
