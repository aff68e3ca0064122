"""Deleting: all that is theirs alone goes, all that others need stays; and what is there can be listed."""

from __future__ import annotations

import asyncio
from datetime import timedelta

import pytest

from outlast.ports.batch import Committed, Guard, Item, Refused
from outlast.ports.inventory import Stray
from outlast.ports.queue import Enqueue
from outlast.ports.run_rows import DeleteRun, InsertRun, RunFilter, UpdateRun
from outlast.ports.store import Store
from outlast.ports.stream import Append, CopyPayloads, PutPayload, PutSnapshot, SweepPayloads
from outlast.ports.thread_rows import DeleteThread, InsertThread
from outlast.testing.contracts.store.samples import AT, append, events, put, run, start, take, thread

OWN, SHARED = "a" * 64, "b" * 64


def _end(run_id: str, *, hours: int = 0, state: str = "COMPLETED") -> UpdateRun:
    return UpdateRun(run_id, state, False, "full", AT + timedelta(hours=hours), "{}", 1)


async def _ended(store: Store, run_id: str = "r", *, key: str | None = None) -> None:
    """A run of two events that has ended, with a snapshot, an entry and a payload, in a thread of its own that said something."""
    thread_id = f"t-{run_id}"
    await put(
        store,
        InsertThread(thread(thread_id)),
        InsertRun(run(run_id, thread_id, key=key)),
        append(run_id, 0, 2),
        append(thread_id, 0),
        PutSnapshot(run_id, 2, 1, "two"),
        PutPayload(run_id, OWN, b"own"),
        PutPayload(run_id, SHARED, b"shared"),
        PutPayload(thread_id, SHARED, b"shared"),
        Enqueue("runs", run_id, AT, "ann"),
        _end(run_id),
    )


@pytest.mark.asyncio
class RemovalContract:
    """What is promised of deletions, and of the lists that lead to them."""

    async def test_a_deleted_run_leaves_nothing_behind(self, store: Store) -> None:
        """Neither row nor key, events, snapshot, entry nor payload; its id and its key are free again."""
        await _ended(store, key="k")
        await put(store, DeleteRun("r", 2), DeleteThread("t-r"))
        assert await store.read_run("r") is None
        assert await store.find_run("ann", "k") is None
        assert await store.list_runs(RunFilter()) == []
        assert await store.list_runs(RunFilter(user_id="ann", thread_id="t-r", state="COMPLETED")) == []
        assert await store.list_run_ids() == []
        assert await store.read_events("r") == [] == await store.read_events("t-r")
        assert await store.read_head("r") == 0 == await store.read_head("t-r")
        assert await store.read_snapshot("r") is None
        assert await store.read_entry("runs", "r") is None
        assert await store.list_entries("runs") == []
        assert await store.next_due("runs") is None
        assert await store.claim("runs", "w", 60, limit=9) == []
        assert await store.read_payloads([OWN, SHARED]) == {}
        assert await store.list_payloads("r") == {} == await store.list_payloads("t-r")
        assert await store.read_thread("t-r") is None
        assert await store.list_threads("ann") == []
        assert await store.find_stray() == Stray((), {})
        await _ended(store, key="k")
        assert await store.read_events("r") == list(events(2))
        assert [claim.generation for claim in await store.claim("runs", "w", 60)] == [1]

    async def test_only_a_run_that_has_ended_where_it_is_thought_to_end_is_deleted(
        self, store: Store
    ) -> None:
        """MISSING, ACTIVE and POSITION; nothing is deleted then."""
        await start(store)
        await put(store, append("r", 0, 2))
        assert await store.commit([DeleteRun("nobody", 0)]) == Refused(Guard.MISSING, 0)
        assert await store.commit([DeleteRun("r", 2)]) == Refused(Guard.ACTIVE, 0)
        await put(store, _end("r"))
        assert await store.commit([DeleteRun("r", 1)]) == Refused(Guard.POSITION, 0)
        assert await store.commit([append("q", 0), DeleteRun("r", 3)]) == Refused(Guard.POSITION, 1)
        assert await store.read_head("r") == 2
        assert await store.read_head("q") == 0
        assert await store.read_run("r") is not None
        await put(store, DeleteRun("r", 2))

    async def test_a_thread_outlives_its_runs_until_the_last(self, store: Store) -> None:
        """THREAD_BUSY while there is a run, ended or not; MISSING where there is none."""
        await _ended(store)
        await put(store, InsertRun(run("r2", "t-r")))
        assert await store.commit([DeleteThread("nowhere")]) == Refused(Guard.MISSING, 0)
        assert await store.commit([DeleteRun("r", 2), DeleteThread("t-r")]) == Refused(Guard.THREAD_BUSY, 1)
        assert await store.read_run("r") is not None
        await put(store, DeleteRun("r", 2))
        assert await store.read_head("t-r") == 1
        assert await store.commit([DeleteThread("t-r")]) == Refused(Guard.THREAD_BUSY, 0)
        await put(store, _end("r2"))
        assert await store.commit([DeleteThread("t-r")]) == Refused(Guard.THREAD_BUSY, 0)
        await put(store, DeleteRun("r2", 0), DeleteThread("t-r"))
        assert await store.commit([InsertRun(run("r3", "t-r"))]) == Refused(Guard.MISSING, 0)

    async def test_guards_see_deletions_before_them(self, store: Store) -> None:
        """And deletions see what comes before them, in one batch."""
        await _ended(store, key="k")
        again: list[Item] = [
            DeleteRun("r", 2),
            InsertRun(run("r", "t-r", key="k")),
            append("r", 0),
            Enqueue("runs", "r", AT, "ann"),
        ]
        await put(store, *again)
        assert await store.read_events("r") == list(events(1))
        assert await store.commit([append("r", 1), DeleteRun("r", 2)]) == Refused(Guard.ACTIVE, 1)
        await put(store, append("r", 1), _end("r"), DeleteRun("r", 2), DeleteThread("t-r"))
        assert await store.commit([DeleteRun("r", 2)]) == Refused(Guard.MISSING, 0)
        gone: list[Item] = [InsertThread(thread("u")), DeleteThread("u"), InsertRun(run("x", "u"))]
        assert await store.commit(gone) == Refused(Guard.MISSING, 2)

    async def test_a_payload_stays_until_its_last_reference_goes(self, store: Store) -> None:
        """What a fork or a continuation refers to outlives the run it came from."""
        await _ended(store)
        await put(store, append("fork", 0), CopyPayloads("r", "fork"))
        await put(store, DeleteRun("r", 2), DeleteThread("t-r"))
        assert await store.list_payloads("fork") == {OWN: 3, SHARED: 6}
        assert await store.read_payloads([OWN, SHARED]) == {OWN: b"own", SHARED: b"shared"}
        await _ended(store, "s")
        await put(store, DeleteRun("s", 2))
        assert await store.list_payloads("t-s") == {SHARED: 6}
        assert await store.read_payloads([OWN, SHARED]) == {OWN: b"own", SHARED: b"shared"}

    async def test_nothing_is_copied_from_a_stream_that_is_gone(self, store: Store) -> None:
        """MISSING, so that no copy lacks its payloads."""
        await _ended(store)
        copies: list[Item] = [append("fork", 0), CopyPayloads("r", "fork")]
        assert await store.commit([DeleteRun("r", 2), *copies]) == Refused(Guard.MISSING, 2)
        await put(store, DeleteRun("r", 2))
        assert await store.commit(copies) == Refused(Guard.MISSING, 1)
        assert await store.read_head("fork") == 0

    async def test_copies_and_deletions_at_the_same_time_lose_no_payload(
        self, store: Store, other: Store
    ) -> None:
        """A copy is whole or refused, and who puts the same content keeps it, whichever is first."""
        for turn in range(12):
            name = f"r{turn}"
            await _ended(store, name)
            fork: list[Item] = [append(f"fork-{name}", 0), CopyPayloads(name, f"fork-{name}")]
            putting: list[Item] = [append(f"put-{name}", 0), PutPayload(f"put-{name}", OWN, b"own")]
            gone = other.commit([DeleteRun(name, 2), DeleteThread(f"t-{name}")])
            deleted, forked, kept = await asyncio.gather(gone, store.commit(fork), store.commit(putting))
            assert (deleted, kept) == (Committed(), Committed())
            has_fork = forked == Committed()
            assert has_fork or forked == Refused(Guard.MISSING, 1)
            assert await store.list_payloads(f"fork-{name}") == ({OWN: 3, SHARED: 6} if has_fork else {})
            assert await store.list_payloads(f"put-{name}") == {OWN: 3}
        assert (await store.find_stray()).payloads == {}

    async def test_runs_begun_in_a_thread_that_is_deleted_find_it_made_again_or_are_refused(
        self, store: Store, other: Store
    ) -> None:
        """No run is without its thread."""
        for turn in range(12):
            name = f"r{turn}"
            await _ended(store, name)
            fresh = InsertRun(run(f"new-{name}", f"t-{name}", is_active=turn % 2 == 0))
            began, gone = await asyncio.gather(
                store.commit([InsertThread(thread(f"t-{name}")), fresh]),
                other.commit([DeleteRun(name, 2), DeleteThread(f"t-{name}")]),
            )
            assert began == Committed()
            assert gone in (Committed(), Refused(Guard.THREAD_BUSY, 1))
            assert await store.read_thread(f"t-{name}") is not None

    async def test_a_stale_worker_of_a_deleted_run_is_refused(self, store: Store) -> None:
        """Its lease went with the run."""
        await start(store)
        claim = await take(store)
        await put(store, append("r", 0), _end("r"), DeleteRun("r", 1))
        stale = Append("r", 0, events(1), claim.generation)
        assert await store.commit([stale]) == Refused(Guard.GENERATION, 0)
        assert await store.renew([claim], 60) == set()

    async def test_stray_payloads_are_found_and_swept(self, store: Store) -> None:
        """References of streams without events are stray; what others hold stays, and so does a stream that has come to life."""
        await put(store, append("live", 0), PutPayload("live", SHARED, b"shared"))
        await put(store, PutPayload("gone", OWN, b"own"), PutPayload("gone", SHARED, b"shared"))
        assert await store.find_stray() == Stray(("gone",), {OWN: 3})
        await put(store, SweepPayloads(("live",), (SHARED, "c" * 64)))
        assert await store.list_payloads("live") == {SHARED: 6}
        await put(store, SweepPayloads(("gone",), (OWN,)))
        assert await store.find_stray() == Stray((), {})
        assert await store.read_payloads([OWN, SHARED]) == {SHARED: b"shared"}
        assert await store.list_payloads("gone") == {}

    async def test_ids_of_runs_are_listed_by_creation_and_by_when_they_ended(self, store: Store) -> None:
        """Strictly before; active runs have not ended."""
        await put(store, InsertThread(thread()))
        for name, minutes in (("c", 3), ("a", 1), ("b", 2)):
            await put(store, InsertRun(run(name, minutes=minutes, is_active=False)))
        await put(store, InsertRun(run("d", minutes=4)))
        await put(store, _end("a", hours=2), _end("b", hours=1), _end("c", hours=5, state="FAILED"))
        assert await store.list_run_ids() == ["a", "b", "c", "d"]
        assert await store.list_run_ids(AT + timedelta(hours=3)) == ["a", "b"]
        assert await store.list_run_ids(AT + timedelta(hours=1)) == []
        assert await store.list_run_ids(AT + timedelta(days=9)) == ["a", "b", "c"]

    async def test_items_of_a_queue_are_listed(self, store: Store) -> None:
        """Due, leased and idle ones, of that queue alone, whatever their names."""
        for name in ("b", "a[*]?", "c:\u00e9"):
            await put(store, Enqueue("runs", name, AT, "ann"))
        await take(store, "b")
        await put(store, Enqueue("runs", "idle", None, "ann"), Enqueue("runs:a", "x", AT, "ann"))
        assert await store.list_entries("runs") == sorted(["b", "a[*]?", "c:\u00e9", "idle"])
        assert await store.list_entries("nothing") == []

    async def test_an_entry_may_rest_until_an_enqueue_and_begin_at_a_generation(self, store: Store) -> None:
        """So that a run that moves here is claimed under a generation it has never had."""
        await put(store, Enqueue("runs", "r", None, "ann", "", 7))
        assert await store.next_due("runs") is None
        assert await store.claim("runs", "w", 60) == []
        await put(store, Enqueue("runs", "r", AT, "ann", "", 99), Enqueue("runs", "r", None, "ann"))
        assert await store.next_due("runs") == AT
        assert [claim.generation for claim in await store.claim("runs", "w", 60)] == [8]
