"""Taking runs up: from where they are, and runs that cannot be taken up as they are."""

import json
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Literal

import pytest

from outlast.adapters.tools.ask_human import AskHuman
from outlast.domain.errors import Broken, CallerMistake, Conflict, ModelCallFailed
from outlast.domain.events import RunReleased, StateEntered
from outlast.domain.evolve import evolve
from outlast.domain.states import State
from outlast.journal.snapshot import snapshot_of
from outlast.ports.batch import Committed, Item, Refused
from outlast.service import signals
from outlast.testing import CrashPlan, CrashPoint, Faulty
from tests.law import law
from tests.unit.runs.parts import ask_for, call, in_turn, say
from tests.unit.runs.stage import Stage, staged


async def test_a_run_that_cannot_be_built_goes_back_with_the_reason_and_is_not_failed(tmp_path: Path) -> None:
    async with staged(tmp_path, in_turn(say("Yes."))) as stage:
        run = await stage.start()
        stage.trouble = CallerMistake("tool_not_found", "There is no tool.")
        before = await stage.store.now()
        with pytest.raises(CallerMistake):
            await stage.work(run)
        entry = await stage.store.read_entry("runs", run)
        assert entry is not None
        assert (entry.until, entry.note) == (None, "tool_not_found: There is no tool.")
        assert entry.due_at is not None
        assert (entry.due_at - before).total_seconds() > 20
        assert (await stage.state(run)).state == "INIT"
        stage.trouble = None
        await stage.work(run)
        assert (await stage.state(run)).outcome == "full"


async def test_a_run_that_cannot_be_built_can_still_be_cancelled(tmp_path: Path) -> None:
    async with staged(tmp_path, in_turn(say("Yes."))) as stage:
        run = await stage.start()
        await signals.cancel(stage.store, run, "ann")
        stage.trouble = CallerMistake("tool_not_found", "There is no tool.")
        with pytest.raises(CallerMistake):
            await stage.work(run)
        assert (await stage.state(run)).state == "CANCELLED"
        row = await stage.store.read_run(run)
        assert row is not None
        assert not row.is_active


async def test_a_resume_that_lost_its_thread_meanwhile_leaves_the_run_failed_and_free(tmp_path: Path) -> None:
    def model(request: object) -> None:
        raise ModelCallFailed("auth", "no key")

    async with staged(tmp_path, model) as stage:
        failed = await stage.play(thread_id="t-1")
        await signals.resume(stage.store, failed, "ann")
        await stage.start(thread_id="t-1")
        with pytest.raises(Conflict):
            await stage.work(failed)
        entry = await stage.store.read_entry("runs", failed)
        assert entry is not None
        assert (entry.until, entry.due_at) == (None, None)
        assert (await stage.state(failed)).state == "FAILED"


@law("RUN-2.b")
async def test_a_run_goes_on_from_its_newest_snapshot(tmp_path: Path) -> None:
    """Shown by a mark in the snapshot that the journal knows nothing of."""
    asking = in_turn(ask_for(call("ask_human", question="Which?")), say("Red."))
    async with staged(tmp_path, asking, AskHuman) as stage:
        run = await stage.play()
        state = await stage.state(run)
        marked = evolve(state, counters=replace(state.counters, tokens=12_345))
        await stage.store.commit([snapshot_of(marked)])
        await signals.answer(stage.store, run, "ann", "Red.")
        await stage.work(run)
        row = await stage.store.read_run(run)
    assert row is not None
    assert row.state == "COMPLETED"
    assert json.loads(row.summary)["tokens"] >= 12_345


def noting(stage: Stage, monkeypatch: pytest.MonkeyPatch) -> list[list[str]]:
    """The kinds of the items of every commit that is made from now on."""
    written: list[list[str]] = []
    commit = stage.store.commit

    async def noted(batch: Sequence[Item]) -> Committed | Refused:
        written.append([type(item).__name__ for item in batch])
        return await commit(batch)

    monkeypatch.setattr(stage.store, "commit", noted)
    return written


async def test_the_last_commit_of_a_run_ends_it_writes_its_row_and_snapshot_and_gives_it_back(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with staged(tmp_path, in_turn(say("Yes."))) as stage:
        run = await stage.start()
        written = noting(stage, monkeypatch)
        await stage.work(run)
        assert [number for number, items in enumerate(written, 1) if "PutSnapshot" in items] == [len(written)]
        assert [items.count("UpdateRun") for items in written] == [1, 1]
        assert [items.count("Release") for items in written] == [0, 1]
        assert [type(one.event) for one in (await stage.history(run))[-2:]] == [StateEntered, RunReleased]
        kept, row = await stage.store.read_snapshot(run), await stage.store.read_run(run)
        assert kept is not None
        assert kept.position == await stage.store.read_head(run)
        assert row is not None
        assert (row.state, row.is_active, row.outcome) == ("COMPLETED", False, "full")


async def test_a_run_that_comes_to_wait_is_given_back_in_the_commit_that_halts_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    asking = in_turn(ask_for(call("ask_human", question="Which?")), say("Red."))
    async with staged(tmp_path, asking, AskHuman) as stage:
        run = await stage.start()
        written = noting(stage, monkeypatch)
        assert await stage.work(run) == "waiting"
        assert [items.count("Release") for items in written] == [0, 0, 1]
        halt, back = (await stage.history(run))[-2:]
        assert isinstance(halt.event, StateEntered)
        assert halt.event.target is State.WAITING
        assert back.event == RunReleased("waiting")


@pytest.mark.parametrize("side", ["before", "after"])
async def test_a_run_is_given_back_once_where_nobody_knows_at_first_whether_it_was(
    tmp_path: Path, side: Literal["before", "after"]
) -> None:
    async with staged(tmp_path, in_turn(say("Yes."))) as stage:
        run = await stage.start()
        code = "store_unavailable" if side == "before" else "commit_unknown"

        def fail(_: CrashPoint) -> None:
            raise Broken(code, "The store cannot serve.")

        stage.store = Faulty(stage.store, CrashPlan(CrashPoint("store.commit#2", side), fail), "store")
        assert await stage.work(run) == "ended"
        assert len(await stage.events(run, RunReleased)) == 1
        entry = await stage.store.read_entry("runs", run)
        assert entry is not None
        assert (entry.due_at, entry.until, entry.note) == (None, None, "ended")
