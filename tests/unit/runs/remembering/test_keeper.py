"""The keeper of memory: at whatever point it dies, what a run found is remembered once; and memory keeps itself in order."""

import asyncio
import logging
from collections.abc import Sequence
from contextlib import suppress
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

from outlast.domain.events import MemoryRecalled, RecallFailed
from outlast.domain.memory import MemoryKind, Scope, Vector
from outlast.journal.history import recorded_from
from outlast.ports.embedder import EmbeddingPurpose
from outlast.ports.memory import MemoryQuery
from outlast.ports.provider import ModelRequest
from outlast.ports.run_rows import DeleteRun
from outlast.ports.store import Store
from outlast.runs.recall import perform
from outlast.runs.remembering.extraction import Worth, findings_in
from outlast.runs.remembering.keeper import LONGEST_RETRY_SECONDS, after_failure
from outlast.runs.remembering.long_term_memory import LongTermMemory, Rules
from outlast.runs.remembering.queue import MEMORY, UPKEEP, Progress, upkeep_due
from outlast.runs.remembering.upkeep import keep_in_order
from outlast.testing.faults import Crash, CrashPlan, Faulty
from tests.golden.book import paths
from tests.golden.book import read as read_book
from tests.law import law
from tests.patience import PATIENCE_SECONDS
from tests.unit.runs.parts import in_turn, say
from tests.unit.runs.remembering.memories import USER, Absent, Mindful, Words, mindful
from tests.unit.runs.remembering.test_remembering import CONCLUSION, READS, read, researching

HELLO = in_turn(say("Hello."))


async def remembered(on: Mindful) -> list[tuple[Any, ...]]:
    """Everything in memory, in a form that two stages can be compared by."""
    entries = await on.entries()
    names = {one.memory_id: number for number, one in enumerate(entries)}
    return sorted(
        (one.kind, one.text, one.source, one.title, one.subtasks, names.get(one.superseded_by or ""))
        for one in entries
    )


async def left_to_remember(on: Mindful) -> None:
    """Two research runs on one question and a person's words, none of them remembered yet, and all due."""
    first = await on.stage.play("Tell me about tin.")
    on.stage.answering = researching("In London.")  # type: ignore[assignment]
    await all_due(on.stage.store, [first, await on.stage.play("Our boat is called Tin.")])


async def test_a_keeper_that_dies_at_any_call_leaves_nothing_but_work_to_be_done_again(
    tmp_path: Path,
) -> None:
    async with mindful(tmp_path, researching("In Cornwall."), read, workflow="research") as on:
        await left_to_remember(on)
        plan = CrashPlan()
        await dying_keeper(on, plan).clear()
        expected, points = await remembered(on), plan.points
    assert len([row for row in expected if row[0] is MemoryKind.CONCLUSION]) == 2
    assert len(points) > 20
    for point in points:
        async with mindful(tmp_path, researching("In Cornwall."), read, workflow="research") as on:
            await left_to_remember(on)
            with pytest.raises(Crash):
                await dying_keeper(on, CrashPlan(point)).clear()
            await expire_leases(on)
            await on.keeper().clear()
            assert await remembered(on) == expected, point


def dying_keeper(on: Mindful, plan: CrashPlan) -> Any:
    """A keeper whose store and memory die as planned."""
    mortal = Mindful(on.stage, LongTermMemory(Faulty(on.memory, plan, "memory")))
    return mortal.keeper(Faulty(on.stage.store, plan, "store"))


async def expire_leases(on: Mindful) -> None:
    """Let whoever holds an entry of memory be gone for long."""
    store: Any = on.stage.store
    for entry in await store.list_leases(MEMORY):
        await store.expire_lease(MEMORY, entry.item)


async def test_a_run_that_is_deleted_while_it_is_remembered_leaves_nothing(tmp_path: Path) -> None:
    async with mindful(tmp_path, READS, read) as on:
        run = await on.stage.play("My boat is called Tin.")
        store: Any = on.stage.store

        class Deleting:
            async def put(self, entries: Any) -> Any:
                await store.commit([DeleteRun(run, await store.read_head(run))])
                return await on.memory.put(entries)

            def __getattr__(self, name: str) -> Any:
                return getattr(on.memory, name)

        await Mindful(on.stage, LongTermMemory(Deleting())).keeper().clear()  # type: ignore[arg-type]
        assert await store.read_run(run) is None
        assert await on.entries() == []


async def test_two_keepers_at_once_remember_everything_once(tmp_path: Path) -> None:
    async with mindful(tmp_path, researching("In Cornwall."), read, workflow="research") as on:
        await left_to_remember(on)
        await asyncio.gather(on.keeper().clear(), on.keeper().clear())
        once = await remembered(on)
        assert len(once) == len(set(once))
        assert await on.texts(kinds=CONCLUSION) == ["In Cornwall.", "In London."]


async def all_due(store: Store, runs: list[str]) -> None:
    """Until what the runs left is due: the clock by which they ended is ahead of the store's by as long as their claims took."""
    entries = [await store.read_entry(MEMORY, run) for run in runs]
    latest = max(entry.due_at for entry in entries if entry is not None and entry.due_at is not None)
    async with asyncio.timeout(PATIENCE_SECONDS):
        while await store.now() < latest:  # noqa: ASYNC110 - the time of a store is no event
            await asyncio.sleep(0)


async def test_many_runs_are_claimed_together_and_given_back_together(tmp_path: Path) -> None:
    async with mindful(tmp_path, HELLO) as on:
        runs = [await on.stage.play("Our boat is called Tin.") for _ in range(6)]
        await all_due(on.stage.store, runs)
        plan = CrashPlan()
        await on.keeper(Faulty(on.stage.store, plan, "store")).clear()
        for run in runs:
            entry = await on.stage.store.read_entry(MEMORY, run)
            assert entry is not None
            assert Progress.read(entry.note).position == await on.stage.store.read_head(run)
    written = [
        point.label for point in plan.points if point.label.startswith(("store.claim", "store.commit"))
    ]
    assert set(written) == {"store.claim#1", "store.commit#1"}


async def test_a_run_that_leaves_nothing_to_remember_makes_no_work_for_the_keeper(tmp_path: Path) -> None:
    async with mindful(tmp_path, HELLO) as on:
        run = await on.stage.play("Hello. What is there?")
        assert await on.stage.store.read_entry(MEMORY, run) is None
        assert await on.stage.store.next_due(MEMORY) is None
        stating = await on.stage.play("Our boat is called Tin.")
        assert await on.stage.store.read_entry(MEMORY, stating) is not None


@pytest.mark.parametrize("path", paths(), ids=lambda path: path.stem)
def test_wherever_something_is_found_a_journal_is_seen_to_be_worth_it(path: Path) -> None:
    history = recorded_from(read_book(path).rows, read_book(path).payloads)
    worth = Worth()
    for recorded in history:
        worth.fold(recorded)
    assert worth.is_there() or not findings_in(history)


async def test_what_cannot_be_remembered_is_tried_again_later_and_later_and_holds_up_nothing(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    async with mindful(tmp_path, READS, read) as on:
        run = await on.stage.play("Where is tin traded?")
        store: Any = on.stage.store
        spoil = "UPDATE events SET body = 'nonsense' WHERE position = 3 AND stream = ?"
        await store._writes.do(lambda session: session.connection.execute(spoil, (run,)).rowcount)
        with caplog.at_level(logging.WARNING):
            await on.keeper().clear()
        entry = await store.read_entry(MEMORY, run)
        assert entry is not None
        assert entry.due_at is not None
        assert entry.due_at > await store.now() + timedelta(seconds=20)
        assert Progress.read(entry.note) == Progress(0, 1, "journal_damaged")
        assert "journal_damaged" in caplog.text
        fine = await on.play("My boat is called Tin.")
        assert Progress.read((await store.read_entry(MEMORY, fine)).note).failures == 0
        assert "My boat is called Tin." in await on.texts()


def test_waits_between_tries_grow_to_a_bound() -> None:
    now = datetime(2026, 1, 1, tzinfo=UTC)
    progress, waits = Progress(), []
    for _ in range(12):
        progress, due_at = after_failure(progress, "store_unavailable", now)
        waits.append((due_at - now).total_seconds())
    assert waits[:3] == [30.0, 60.0, 120.0]
    assert waits[-1] == LONGEST_RETRY_SECONDS


def test_a_note_that_is_no_progress_counts_as_none() -> None:
    assert Progress.read("") == Progress.read("[1]") == Progress.read('{"a": 1}') == Progress()
    assert Progress.read(Progress(7, 2, "so").as_note()) == Progress(7, 2, "so")


@law("MEM-3.c")
async def test_upkeep_forgets_what_has_expired_and_archives_what_was_long_outdated(tmp_path: Path) -> None:
    rules = Rules(lifetime=timedelta(days=90), outdated_for=timedelta(days=30))
    async with mindful(tmp_path, HELLO, rules=rules) as on:
        await on.play("I like tea.", thread_id="t-1")
        await on.play("I stopped drinking tea, coffee now.", thread_id="t-1")
        now = await on.stage.store.now()
        await keep_in_order(on.kept, now + timedelta(days=31))
        assert [one.archived_at is not None for one in await on.entries()] == [True, False]
        await keep_in_order(on.kept, now + timedelta(days=91))
        assert await on.entries() == []


@law("MEM-3.c")
async def test_the_upkeep_is_an_entry_of_the_queue_that_comes_due_again_by_itself(tmp_path: Path) -> None:
    async with mindful(tmp_path, HELLO) as on:
        store = on.stage.store
        await store.commit([upkeep_due(await store.now())])
        await on.keeper().clear()
        entry = await store.read_entry(MEMORY, UPKEEP)
        assert entry is not None
        assert entry.due_at is not None
        assert timedelta(minutes=59) < entry.due_at - await store.now() <= timedelta(hours=1)


@law("MEM-4.c")
async def test_a_switch_of_embedder_breaks_no_turn_and_everything_is_embedded_again(tmp_path: Path) -> None:
    async with mindful(tmp_path, READS, read, embedder=Words("first", 16)) as on:
        await on.play("Where is tin traded?")
        for other in (Words("second", 24), Words("third", 24)):
            on.kept = on.stage.memory = LongTermMemory(on.memory, other)
            run = await on.stage.play("Who trades tin in Cornwall?")
            [recalled] = await on.stage.events(run, MemoryRecalled)
            assert [one.text for one in recalled.entries] == ["Tin is traded in Cornwall."]
            space = await other.space()
            assert not await keep_in_order(on.kept, await on.stage.store.now())
            assert (await on.memory.stats(None)).vectors[space] == len(await on.entries())
            assert await on.memory.stale(space, 10) == []


class Fickle(Words):
    """An endpoint whose model is changed while it embeds: it still names the old space before the first vector of the new."""

    async def embed(self, texts: Sequence[str], purpose: EmbeddingPurpose) -> list[Vector | None]:
        self.dimensions = 24
        return await super().embed(texts, purpose)


@law("MEM-4.c")
async def test_dimensions_that_change_in_the_middle_of_the_upkeep_are_not_mixed(tmp_path: Path) -> None:
    async with mindful(tmp_path, READS, read, embedder=Absent()) as on:
        await on.play("Where is tin traded? My boat is called Tin.")
        fickle = Fickle("same", 16)
        on.kept = LongTermMemory(on.memory, fickle)
        assert not await keep_in_order(on.kept, await on.stage.store.now())
        assert (await on.memory.stats(None)).vectors == {"same/24": len(await on.entries())}
        [vector] = await fickle.embed(["tin"], "query")
        assert await on.memory.search(
            MemoryQuery(text="tin", asker=Scope(USER), at=await on.stage.store.now(), vector=vector)
        )


async def test_while_the_embedder_cannot_serve_words_alone_decide(tmp_path: Path) -> None:
    async with mindful(tmp_path, READS, read, embedder=Absent()) as on:
        await on.play("Where is tin traded?")
        assert await on.texts() == ["Tin is traded in Cornwall."]
        run = await on.play("Who trades tin in Cornwall?")
        assert (await on.stage.events(run, MemoryRecalled))[0].entries


class Deaf:
    """A memory that raises, or never answers and does not even stop when it is told to."""

    def __init__(self, memory: Any, trouble: BaseException | None, gate: asyncio.Event) -> None:
        self._memory, self._trouble, self._gate = memory, trouble, gate

    async def search(self, query: MemoryQuery) -> Any:
        while self._trouble is None and not self._gate.is_set():
            with suppress(asyncio.CancelledError):
                await self._gate.wait()
        raise self._trouble or AssertionError

    def __getattr__(self, name: str) -> Any:
        return getattr(self._memory, name)


@pytest.mark.parametrize(
    ("trouble", "code"), [(None, "recall_slow"), (RuntimeError("the index is gone"), "recall_failed")]
)
async def test_a_memory_that_fails_or_is_slow_is_told_of_and_the_model_speaks_without_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, trouble: BaseException | None, code: str
) -> None:
    monkeypatch.setattr(perform, "RECALL_SECONDS", 0.05)
    async with mindful(tmp_path, HELLO) as on:
        gate = asyncio.Event()
        asyncio.get_running_loop().call_later(PATIENCE_SECONDS, gate.set)
        on.stage.memory = LongTermMemory(Deaf(on.memory, trouble, gate))
        run = await on.stage.play("Where is tin traded?")
        assert not gate.is_set()
        gate.set()
        assert (await on.stage.states(run))[-1] == "COMPLETED"
        [failed] = await on.stage.events(run, RecallFailed)
        assert failed.code == code
        request: ModelRequest = on.stage.requests[-1]
        assert request.messages[-1].text == "Where is tin traded?"
