"""Runs and threads as lists see them: unique where they must be, found by what they are."""

from __future__ import annotations

import asyncio
from dataclasses import replace
from datetime import timedelta

import pytest

from outlast.ports.batch import Committed, Guard, Item, Refused
from outlast.ports.run_rows import InsertRun, RunFilter, RunRow, UpdateRun
from outlast.ports.store import Store
from outlast.ports.thread_rows import InsertThread
from outlast.testing.contracts.store.samples import AT, put, run, thread


def _update(row: RunRow, *, state: str = "EXECUTING", is_active: bool = True) -> UpdateRun:
    return UpdateRun(row.run_id, state, is_active, None, AT, '{"now":true}', 3)


@pytest.mark.asyncio
class RowContract:
    """What is promised of runs and threads."""

    async def test_a_run_is_found_by_its_id_and_by_its_key(self, store: Store) -> None:
        """Every field comes back."""
        row = run("r", key="k")
        await put(store, InsertThread(thread()), InsertRun(row))
        assert await store.read_run("r") == row
        assert await store.find_run("ann", "k") == row
        assert await store.list_runs(RunFilter()) == [row]
        assert await store.read_run("q") is None
        assert await store.find_run("bob", "k") is None
        assert await store.find_run("ann", "K") is None

    async def test_an_update_changes_what_it_names_and_nothing_else(self, store: Store) -> None:
        """Identity, key and creation stay."""
        row = run("r", key="k")
        await put(store, InsertThread(thread()), InsertRun(row))
        later = AT + timedelta(hours=1)
        await put(store, UpdateRun("r", "COMPLETED", False, "partial", later, '{"s":1}', 4))
        assert await store.read_run("r") == replace(
            row,
            state="COMPLETED",
            is_active=False,
            outcome="partial",
            updated_at=later,
            summary='{"s":1}',
            min_reader=4,
        )

    async def test_an_update_of_an_unknown_run_is_refused(self, store: Store) -> None:
        """MISSING."""
        assert await store.commit([_update(run("r"))]) == Refused(Guard.MISSING, 0)

    async def test_a_run_id_is_used_once(self, store: Store) -> None:
        """EXISTS, whoever asks and in whatever thread."""
        await put(store, InsertThread(thread()), InsertRun(run("r")), InsertThread(thread("t2", "bob")))
        assert await store.commit([InsertRun(run("r"))]) == Refused(Guard.EXISTS, 0)
        assert await store.commit([InsertRun(run("r", "t2", "bob"))]) == Refused(Guard.EXISTS, 0)

    async def test_a_key_is_used_once_by_a_user(self, store: Store) -> None:
        """KEY, also after the run has ended; another user has keys of his own; runs without a key are free."""
        ended = run("r1", key="k", is_active=False)
        await put(store, InsertThread(thread()), InsertThread(thread("t2", "bob")), InsertRun(ended))
        assert await store.commit([InsertRun(run("r2", key="k"))]) == Refused(Guard.KEY, 0)
        await put(store, InsertRun(run("r3", "t2", "bob", key="k")))
        await put(store, InsertRun(run("r4", is_active=False)), InsertRun(run("r5", is_active=False)))

    async def test_a_thread_has_one_active_run(self, store: Store) -> None:
        """THREAD_BUSY until the run has ended, for new runs and for revived ones."""
        first, second = run("r1"), run("r2")
        await put(store, InsertThread(thread()), InsertRun(first))
        assert await store.commit([InsertRun(second)]) == Refused(Guard.THREAD_BUSY, 0)
        await put(store, InsertRun(replace(second, is_active=False)))
        await put(store, _update(first))
        await put(store, _update(first, state="FAILED", is_active=False))
        await put(store, InsertRun(run("r3")))
        assert await store.commit([_update(first)]) == Refused(Guard.THREAD_BUSY, 0)
        await put(store, _update(first, state="CANCELLED", is_active=False))
        await put(store, _update(run("r3"), is_active=False), _update(first))

    async def test_a_run_needs_its_thread(self, store: Store) -> None:
        """MISSING, unless the thread is made earlier in the same batch."""
        assert await store.commit([InsertRun(run("r"))]) == Refused(Guard.MISSING, 0)
        assert await store.commit([InsertRun(run("r")), InsertThread(thread())]) == Refused(Guard.MISSING, 0)
        assert await store.read_thread("t") is None
        await put(store, InsertThread(thread()), InsertRun(run("r")))

    async def test_of_many_starts_with_one_key_one_wins(self, store: Store, other: Store) -> None:
        """The rest are told the run is there, and find it."""
        batches: list[list[Item]] = [
            [InsertThread(thread(f"t{n}")), InsertRun(run(f"r{n}", f"t{n}", key="k"))] for n in range(10)
        ]
        answers = await asyncio.gather(
            *[handle.commit(batch) for handle, batch in zip([store, other] * 5, batches, strict=True)]
        )
        assert sorted(answers, key=str) == [Committed(), *[Refused(Guard.KEY, 1)] * 9]
        [row] = await store.list_runs(RunFilter())
        assert await other.find_run("ann", "k") == row

    async def test_of_many_starts_in_one_thread_one_wins(self, store: Store, other: Store) -> None:
        """The rest are told the thread is busy."""
        await put(store, InsertThread(thread()))
        answers = await asyncio.gather(
            *[(store if n % 2 else other).commit([InsertRun(run(f"r{n}"))]) for n in range(10)]
        )
        assert sorted(answers, key=str) == [Committed(), *[Refused(Guard.THREAD_BUSY, 0)] * 9]

    async def test_a_thread_is_left_as_it_is(self, store: Store) -> None:
        """Inserting it again changes nothing; another user's is refused."""
        await put(store, InsertThread(thread()))
        await put(store, InsertThread(replace(thread(), title="Another title")))
        assert await store.read_thread("t") == thread()
        assert await store.commit([InsertThread(thread("t", "bob"))]) == Refused(Guard.EXISTS, 0)
        assert await store.read_thread("t") == thread()
        assert await store.read_thread("t2") is None

    async def test_runs_are_listed_newest_first_and_filtered(self, store: Store) -> None:
        """Each filter narrows; together they all hold; the limit cuts the oldest."""
        await put(store, InsertThread(thread()), InsertThread(thread("t2", "bob")))
        rows = [
            run("a", is_active=False, minutes=2, state="FAILED"),
            run("b", "t2", "bob", minutes=3, task="watch"),
            run("c", minutes=1, task="watch"),
        ]
        await put(store, *map(InsertRun, rows))

        async def listed(wanted: RunFilter) -> str:
            return "".join([row.run_id for row in await store.list_runs(wanted)])

        assert await listed(RunFilter()) == "bac"
        assert await listed(RunFilter(limit=2)) == "ba"
        assert await listed(RunFilter(user_id="ann")) == "ac"
        assert await listed(RunFilter(thread_id="t2")) == "b"
        assert await listed(RunFilter(state="FAILED")) == "a"
        assert await listed(RunFilter(task="watch")) == "bc"
        assert await listed(RunFilter(user_id="ann", thread_id="t", state="INIT", task="watch")) == "c"
        assert await listed(RunFilter(user_id="nobody")) == ""

    async def test_threads_of_a_user_are_listed_newest_first(self, store: Store) -> None:
        """And only those."""
        rows = [thread("a", minutes=1), thread("b", "bob", minutes=9), thread("c", minutes=2), thread("d")]
        await put(store, *map(InsertThread, rows))
        assert [row.thread_id for row in await store.list_threads("ann")] == ["c", "a", "d"]
        assert await store.list_threads("ann", 1) == [rows[2]]
        assert await store.list_threads("nobody") == []
