"""Leases are kept while a call is slow, and lost by a worker that hangs."""

import asyncio
import threading
from datetime import timedelta
from pathlib import Path

import pytest

from outlast.adapters.stores.sqlite import SqliteStore
from outlast.domain.errors import Broken
from outlast.domain.events import RunClaimed, ToolAnswered
from outlast.journal.upcast import READER
from outlast.ports.queue import Shares
from outlast.ports.tool import tool
from outlast.runs.elapsed import elapsed_seconds
from outlast.runs.heartbeat import Heartbeat
from outlast.runs.shift import Shift
from tests.law import law
from tests.unit.runs.parts import ask_for, call, in_turn, say
from tests.unit.runs.stage import soon, staged
from tests.unit.runs.test_signals import Gate

CALLING = (ask_for(call("hold")), say("done"))


@law("RUN-10.a")
async def test_a_call_that_outlasts_several_leases_keeps_its_run(tmp_path: Path) -> None:
    gate = Gate()
    async with staged(tmp_path, in_turn(*CALLING), gate.tool("hold", "once")) as stage:
        run, shift = await stage.start(), Shift(stage.worker(lease_seconds=1.5))
        serving = asyncio.create_task(shift.serve())
        await soon(gate.reached)
        watch, began = stage.store.watch(["nothing"]), await stage.store.now()
        while await stage.store.now() < began + timedelta(seconds=4):
            assert await stage.store.claim("runs", "thief", 30, reader=READER) == []
            await watch.wait(0.1)
        gate.opened.set()
        shift.stop()
        await serving
        await stage.work(run)
        assert [claim.generation for claim in await stage.events(run, RunClaimed)] == [1, 2]
        assert len(await stage.events(run, ToolAnswered)) == 1


@law("RUN-10.b")
async def test_a_worker_that_hangs_loses_its_runs_and_writes_no_more(tmp_path: Path) -> None:
    hangs, goes_on = threading.Event(), threading.Event()

    @tool(effect="read")
    async def hold() -> str:
        """Keep the whole loop from going on, the first time."""
        if not hangs.is_set():
            hangs.set()
            assert goes_on.wait(30)
        return "held"

    async with staged(tmp_path, in_turn(*CALLING), hold, store=SqliteStore(tmp_path / "x.db")) as stage:
        run = await stage.start()
        worker = stage.worker("hanging", lease_seconds=0.5)

        async def hang() -> None:
            async with Heartbeat(stage.store, 0.5, patience_seconds=0.3) as heartbeat:
                [claim] = await worker.claim_due(1, Shares())
                await worker.take_up(claim, elapsed_seconds(), heartbeat)

        hanging = asyncio.create_task(asyncio.to_thread(asyncio.run, hang()))
        assert await asyncio.to_thread(hangs.wait, 10)
        watch = stage.store.watch(["nothing"])
        while await stage.work(run) is None:
            await watch.wait(0.05)
        assert (await stage.states(run))[-1] == "COMPLETED"
        position = await stage.store.read_head(run)
        goes_on.set()
        with pytest.raises(Broken) as lost:
            await hanging
        assert lost.value.code == "lease_lost"
        assert await stage.store.read_head(run) == position
        assert [claim.worker for claim in await stage.events(run, RunClaimed)] == ["hanging", "worker"]
