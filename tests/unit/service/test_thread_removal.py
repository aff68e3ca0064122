"""Deleting a thread ends what goes on in it, takes all of it away, and nothing of it comes back."""

import asyncio
from pathlib import Path

import pytest

from outlast.adapters.tools.ask_human import AskHuman
from outlast.domain.errors import Conflict, NotFound
from outlast.journal.upcast import READER
from outlast.ports.run_rows import RunFilter
from outlast.service.thread_removal import Ender, Gone, delete_thread
from outlast.service.threads import show_thread
from tests.patience import PATIENCE_SECONDS
from tests.unit.runs.parts import ask_for, call, in_turn, say
from tests.unit.runs.stage import Stage, soon, staged


def ender(patience_seconds: float = PATIENCE_SECONDS) -> Ender:
    return Ender(holder="me", is_gone=lambda holder: holder == "dead", patience_seconds=patience_seconds)


async def nothing_is_left(stage: Stage, *run_ids: str) -> None:
    assert await stage.store.list_runs(RunFilter(thread_id="t-1")) == []
    assert await stage.store.read_thread("t-1") is None
    for stream in ("t-1", *run_ids):
        assert await stage.store.read_events(stream) == []
    for run_id in run_ids:
        assert await stage.store.read_entry("runs", run_id) is None


async def test_a_thread_goes_with_its_ended_waiting_and_queued_runs(tmp_path: Path) -> None:
    asking = in_turn(ask_for(call("ask_human", question="Which?")), say("Done."))
    async with staged(tmp_path, asking, AskHuman) as stage:
        stage.answering = in_turn(say("Yes."))
        runs = [await stage.play("zero", thread_id="t-1")]
        stage.answering = asking
        runs.append(await stage.play("one", thread_id="t-1"))
        runs.append(await stage.start("two", thread_id="t-1", strategy="enqueue"))
        runs.append(await stage.start("three", thread_id="t-1", strategy="enqueue"))
        other = await stage.play("elsewhere", thread_id="t-2")
        assert await delete_thread(stage.store, stage.store.memory, "t-1", "local", ender()) == Gone(4, 0)
        await nothing_is_left(stage, *runs)
        assert (await stage.state(other)).thread_id == "t-2"
        with pytest.raises(NotFound):
            await show_thread(stage.store, "t-1", "local")


async def test_a_run_at_work_is_cancelled_by_its_worker_and_then_goes(tmp_path: Path) -> None:
    begun = asyncio.Event()

    async def for_ever(request: object) -> object:
        begun.set()
        await asyncio.Event().wait()
        raise AssertionError("unreachable")

    async with staged(tmp_path, for_ever) as stage:  # type: ignore[arg-type]
        run_id = await stage.start("one", thread_id="t-1")
        working = asyncio.create_task(stage.work(run_id))
        await soon(begun)
        assert await delete_thread(stage.store, stage.store.memory, "t-1", "local", ender()) == Gone(1, 0)
        await working
        await nothing_is_left(stage, run_id)


async def test_a_run_whose_worker_is_gone_is_taken_over_and_one_that_is_held_is_waited_for(
    tmp_path: Path,
) -> None:
    async with staged(tmp_path, in_turn(say("Yes."))) as stage:
        run_id = await stage.start("one", thread_id="t-1")
        await stage.store.claim("runs", "alive", 600, item=run_id, reader=READER)
        with pytest.raises(Conflict, match="Delete the thread again"):
            await delete_thread(stage.store, stage.store.memory, "t-1", "local", ender(0.0))
        assert (await stage.state(run_id)).wants_cancel is not None
        await stage.store.expire_lease("runs", run_id)  # type: ignore[attr-defined]
        await stage.store.claim("runs", "dead", 600, item=run_id, reader=READER)
        await delete_thread(stage.store, stage.store.memory, "t-1", "local", ender())
        await nothing_is_left(stage, run_id)


async def test_the_thread_of_another_user_is_not_there(tmp_path: Path) -> None:
    async with staged(tmp_path, in_turn(say("Yes."))) as stage:
        run_id = await stage.start("one", thread_id="t-1", user_id="bob")
        with pytest.raises(NotFound, match="no thread t-1"):
            await delete_thread(stage.store, stage.store.memory, "t-1", "local", ender())
        assert (await stage.state(run_id)).wants_cancel is None
