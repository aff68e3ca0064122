"""Taking runs up: from where they are, and runs that cannot be taken up as they are."""

import json
from collections.abc import Sequence
from pathlib import Path

import pytest

from outlast.adapters.tools.ask_human import AskHuman
from outlast.domain.errors import CallerMistake, Conflict, ModelCallFailed
from outlast.domain.evolve import evolve
from outlast.journal.snapshot import snapshot_of
from outlast.ports.batch import Committed, Item, Refused
from outlast.service import signals
from tests.law import law
from tests.unit.runs.parts import ask_for, call, in_turn, say
from tests.unit.runs.stage import staged


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
        marked = evolve(state, counters=evolve(state.counters, tokens=12_345))
        await stage.store.commit([snapshot_of(marked)])
        await signals.answer(stage.store, run, "ann", "Red.")
        await stage.work(run)
        row = await stage.store.read_run(run)
    assert row is not None
    assert row.state == "COMPLETED"
    assert json.loads(row.summary)["tokens"] >= 12_345


async def test_the_row_is_written_with_the_end_of_a_run_and_its_last_snapshot_once_it_is_given_back(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    written: list[list[str]] = []
    async with staged(tmp_path, in_turn(say("Yes."))) as stage:
        commit = stage.store.commit

        async def noted(batch: Sequence[Item]) -> Committed | Refused:
            written.append([type(item).__name__ for item in batch])
            return await commit(batch)

        monkeypatch.setattr(stage.store, "commit", noted)
        run = await stage.play()
        rows = [number for number, items in enumerate(written) if "UpdateRun" in items]
        snapshots = [number for number, items in enumerate(written) if "PutSnapshot" in items]
        assert (rows[-1], snapshots) == (len(written) - 2, [len(written) - 1])
        kept, row = await stage.store.read_snapshot(run), await stage.store.read_run(run)
        assert kept is not None
        assert kept.position == await stage.store.read_head(run)
        assert row is not None
        assert (row.state, row.is_active, row.outcome) == ("COMPLETED", False, "full")
