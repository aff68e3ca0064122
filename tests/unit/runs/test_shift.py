"""A worker at work: what it takes, how it stops, and what it costs while there is nothing to do."""

import asyncio
import tracemalloc
from collections import Counter
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import replace
from datetime import timedelta
from pathlib import Path

from outlast.adapters.stores.sqlite import SqliteStore
from outlast.adapters.tools.ask_human import AskHuman
from outlast.domain.errors import Broken
from outlast.journal.upcast import READER
from outlast.ports.queue import ClaimDue, Enqueue, Release, Shares
from outlast.ports.run_rows import InsertRun
from outlast.ports.stream import Append
from outlast.ports.thread_rows import InsertThread, ThreadRow
from outlast.ports.tool import ToolContext, tool
from outlast.runs.seat import WORKERS
from outlast.runs.shift import Shift
from outlast.service import signals
from outlast.testing.faults import CrashPlan, CrashPoint, Faulty
from tests.law import law
from tests.patience import PATIENCE_SECONDS, PROMPT_SECONDS
from tests.unit.runs.parts import ask_for, call, in_turn, say
from tests.unit.runs.stage import Stage, soon, staged
from tests.unit.runs.test_signals import Gate, until

CALLING = (ask_for(call("hold")), say("done"))


@asynccontextmanager
async def serving(
    stage: Stage, shift: Shift, *, until_idle: bool = False
) -> AsyncIterator[asyncio.Task[None]]:
    """A shift at work within this block."""
    task = asyncio.create_task(shift.serve(until_idle=until_idle))
    try:
        yield task
    finally:
        shift.hurry()
        await asyncio.gather(task, return_exceptions=True)


async def ended(task: asyncio.Task[None]) -> None:
    async with asyncio.timeout(PATIENCE_SECONDS):
        await task


async def due_now(stage: Stage, run: str) -> bool:
    """Is the run free, and due? The clock it was given back by may be ahead of the store's by what a claim took."""
    entry = await stage.store.read_entry("runs", run)
    assert entry is not None
    soon_after = await stage.store.now() + timedelta(seconds=PROMPT_SECONDS)
    return entry.until is None and entry.due_at is not None and entry.due_at <= soon_after


async def test_told_to_stop_it_lets_calls_end_and_gives_runs_back(tmp_path: Path) -> None:
    gate = Gate()
    async with staged(tmp_path, in_turn(*CALLING), gate.tool("hold", "once")) as stage:
        run, shift = await stage.start(), Shift(stage.worker())
        later = stage.store.watch([run])
        async with serving(stage, shift) as task:
            await soon(gate.reached)
            shift.stop()
            await later.wait(0.1)
            assert not task.done()
            gate.opened.set()
            await ended(task)
        assert await due_now(stage, run)
        assert not gate.was_killed
        assert len(await stage.outcomes(run)) == 1
        await stage.work(run)
        assert (await stage.states(run))[-1] == "COMPLETED"
        assert len(await stage.outcomes(run)) == 1


async def test_calls_that_go_on_past_the_bound_are_killed(tmp_path: Path) -> None:
    gate = Gate()
    async with staged(tmp_path, in_turn(*CALLING), gate.tool("hold", "read")) as stage:
        run, shift = await stage.start(), Shift(stage.worker(), drain_seconds=0.05)
        async with serving(stage, shift) as task:
            await soon(gate.reached)
            shift.stop()
            await ended(task)
        assert gate.was_killed
        assert await due_now(stage, run)
        gate.opened.set()
        await stage.work(run)
        assert (await stage.states(run))[-1] == "COMPLETED"


async def test_told_to_hurry_it_kills_a_call_and_nobody_repeats_it_unasked(tmp_path: Path) -> None:
    gate = Gate()
    async with staged(tmp_path, in_turn(*CALLING), gate.tool("hold", "once")) as stage:
        run, shift = await stage.start(), Shift(stage.worker(), drain_seconds=60)
        async with serving(stage, shift) as task:
            await soon(gate.reached)
            shift.stop()
            shift.hurry()
            await ended(task)
        assert gate.was_killed
        assert await due_now(stage, run)
        assert await stage.work(run) == "waiting"
        assert len((await stage.state(run)).open_questions()) == 1


async def test_until_idle_it_works_off_what_is_due_and_ends(tmp_path: Path) -> None:
    async with staged(tmp_path, in_turn(say("done"))) as stage:
        runs = [await stage.start() for _ in range(5)]
        shift = Shift(stage.worker(), concurrency=2)
        async with serving(stage, shift, until_idle=True) as task:
            await ended(task)
        assert {(await stage.states(run))[-1] for run in runs} == {"COMPLETED"}


class Leaving(SqliteStore):
    """Tells of the moment at which a worker has left its seat."""

    stage: Stage
    started: str | None = None

    async def commit(self, batch):  # type: ignore[no-untyped-def]
        written = await super().commit(batch)
        if self.started is None and any(isinstance(i, Release) and i.queue == "workers" for i in batch):
            assert await self.list_leases("workers") == []
            self.started = await self.stage.start()
        return written


async def test_it_is_ready_once_everybody_can_see_it(tmp_path: Path) -> None:
    async with staged(tmp_path, in_turn(say("done"))) as stage:
        shift, seen = Shift(stage.worker()), asyncio.Event()
        task = asyncio.create_task(shift.serve(on_ready=seen.set))
        async with asyncio.timeout(PATIENCE_SECONDS):
            await seen.wait()
        assert len(await stage.store.list_leases(WORKERS)) == 1
        shift.stop()
        await ended(task)


async def test_what_is_enqueued_while_an_idle_worker_leaves_is_still_worked_on(tmp_path: Path) -> None:
    store = Leaving(None)
    async with staged(tmp_path, in_turn(say("done")), store=store) as stage:
        store.stage = stage
        async with serving(stage, Shift(stage.worker()), until_idle=True) as task:
            await ended(task)
        assert store.started is not None
        assert (await stage.states(store.started))[-1] == "COMPLETED"


async def test_no_more_runs_of_a_user_are_at_work_than_the_bound_says(tmp_path: Path) -> None:
    at_work: Counter[str] = Counter()
    most: Counter[str] = Counter()
    met = asyncio.Event()

    @tool(effect="read")
    async def hold(context: ToolContext) -> str:
        """Wait until both users are at work."""
        at_work[context.user_id] += 1
        most[context.user_id] = max(most[context.user_id], at_work[context.user_id])
        if len(at_work) == 2:
            met.set()
        await soon(met)
        await asyncio.sleep(0)
        at_work[context.user_id] -= 1
        return "held"

    async with staged(tmp_path, in_turn(*CALLING), hold) as stage:
        for _ in range(4):
            await stage.start(user_id="ann")
        await stage.start(user_id="bob")
        shift = Shift(stage.worker(), concurrency=4, shares=Shares(per_user=1))
        async with serving(stage, shift, until_idle=True) as task:
            await ended(task)
        assert most == {"ann": 1, "bob": 1}


class Watched(SqliteStore):
    """Counts how runs were claimed: by themselves, or by the commit that gave another back."""

    def __init__(self) -> None:
        super().__init__(None)
        self.taken: Counter[str] = Counter()

    async def claim(self, queue, *args, **named):  # type: ignore[no-untyped-def]
        claims = await super().claim(queue, *args, **named)
        self.taken["claim"] += len(claims) if queue == "runs" else 0
        return claims

    async def commit(self, batch):  # type: ignore[no-untyped-def]
        written = await super().commit(batch)
        if any(isinstance(item, ClaimDue) for item in batch):
            self.taken["commit"] += len(written.claims)
        return written


async def test_a_run_that_is_given_back_takes_the_next_one_in_the_same_commit(tmp_path: Path) -> None:
    store = Watched()
    async with staged(tmp_path, in_turn(say("done")), store=store) as stage:
        runs = [await stage.start() for _ in range(9)]
        async with serving(stage, Shift(stage.worker(), concurrency=2), until_idle=True) as task:
            await ended(task)
        assert {(await stage.states(run))[-1] for run in runs} == {"COMPLETED"}
    assert store.taken == {"claim": 2, "commit": 7}


async def test_a_run_that_its_users_share_kept_waiting_is_taken_by_the_one_that_makes_room(
    tmp_path: Path,
) -> None:
    store = Watched()
    async with staged(tmp_path, in_turn(say("done")), store=store) as stage:
        for _ in range(4):
            await stage.start(user_id="ann")
        shift = Shift(stage.worker(), concurrency=3, shares=Shares(per_user=1))
        async with serving(stage, shift, until_idle=True) as task:
            await ended(task)
    assert store.taken == {"claim": 1, "commit": 3}


async def test_a_worker_told_to_stop_takes_nothing_for_what_it_gives_back(tmp_path: Path) -> None:
    gate, store = Gate(), Watched()
    async with staged(tmp_path, in_turn(*CALLING), gate.tool("hold", "once"), store=store) as stage:
        for _ in range(3):
            await stage.start()
        shift = Shift(stage.worker(), concurrency=1)
        async with serving(stage, shift) as task:
            await soon(gate.reached)
            shift.stop()
            gate.opened.set()
            await ended(task)
    assert store.taken == {"claim": 1}


async def test_a_store_that_cannot_serve_for_a_while_does_not_end_the_worker(tmp_path: Path) -> None:
    def away(point: CrashPoint) -> None:
        raise Broken("store_unavailable", f"away at {point.label}")

    async with staged(tmp_path, in_turn(say("done"))) as stage:
        run = await stage.start()
        plan = CrashPlan(CrashPoint("store.claim#2", "before"), away)
        worker = stage.worker()
        worker.store = Faulty(stage.store, plan, "store")
        async with serving(stage, Shift(worker), until_idle=True) as task:
            await ended(task)
        assert plan.was_reached
        assert (await stage.states(run))[-1] == "COMPLETED"


async def test_a_worker_is_seen_for_as_long_as_it_serves(tmp_path: Path) -> None:
    async with staged(tmp_path, in_turn(say("done"))) as stage:
        seen = stage.store.watch(["queue:workers"])
        assert await stage.store.list_leases("workers") == []
        shifts = [Shift(stage.worker("one")), Shift(stage.worker("two")), Shift(stage.worker("two"))]
        async with serving(stage, shifts[0]), serving(stage, shifts[1]), serving(stage, shifts[2]):
            async with asyncio.timeout(PATIENCE_SECONDS):
                while len(held := await stage.store.list_leases("workers")) < 3:
                    await seen.wait(0.02)
            assert sorted(str(seat.holder) for seat in held) == ["one", "two", "two"]
        assert await stage.store.list_leases("workers") == []


async def test_the_seat_of_a_worker_that_is_gone_is_taken_by_the_next(tmp_path: Path) -> None:
    async with staged(tmp_path, in_turn(say("done"))) as stage:
        await stage.store.commit([Enqueue("workers", "seat", await stage.store.now(), "")])
        await stage.store.claim("workers", "gone", 600)
        await stage.store.expire_lease("workers", "seat")  # type: ignore[attr-defined]
        async with serving(stage, Shift(stage.worker("here"))):
            async with asyncio.timeout(PATIENCE_SECONDS):
                while not (held := await stage.store.list_leases("workers")):
                    await stage.store.watch(["queue:workers"]).wait(0.02)
            assert [(seat.item, seat.holder) for seat in held] == [("seat", "here")]


async def test_a_seat_that_was_lost_is_replaced_though_the_worker_is_full(tmp_path: Path) -> None:
    gate = Gate()
    async with staged(tmp_path, in_turn(*CALLING), gate.tool("hold", "read")) as stage:
        await stage.start()
        async with serving(stage, Shift(stage.worker("here", lease_seconds=1), concurrency=1)):
            await soon(gate.reached)
            [seat] = await stage.store.list_leases("workers")
            await stage.store.claim("workers", "thief", 600, item=seat.item, evict=seat.generation)
            watch = stage.store.watch(["queue:workers"])
            async with asyncio.timeout(PATIENCE_SECONDS):
                while len(held := await stage.store.list_leases("workers")) < 2:
                    await watch.wait(0.02)
            assert {str(seat.holder) for seat in held} == {"here", "thief"}
            gate.opened.set()


@law("RUN-8.k")
async def test_two_thousand_waiting_runs_cost_an_idle_worker_nothing(tmp_path: Path) -> None:
    """No claims, no statements beyond the poll and the sign of life, no memory; one that is answered goes on at once."""
    asking = in_turn(ask_for(call("ask_human", question="Which?")), say("done"))
    async with staged(tmp_path, asking, AskHuman) as stage:
        waiting = await stage.play()
        await copied(stage, waiting, 2000)
        plan = CrashPlan()
        worker = stage.worker()
        worker.store = Faulty(stage.store, plan, "store")
        tracemalloc.start()
        async with serving(stage, Shift(worker)):
            watch = stage.store.watch([waiting])
            while await watch.wait(0.2):
                """What was committed before this moment."""
            before, memory_bytes = len(plan.points), tracemalloc.get_traced_memory()[0]
            await watch.wait(2.0)
            assert (len(plan.points) - before) // 2 <= 4, plan.points[before:]
            assert tracemalloc.get_traced_memory()[0] - memory_bytes < 100_000
            await signals.answer(stage.store, waiting, "ann", "Red.")

            async def has_ended() -> bool:
                return (await stage.state(waiting)).has_ended

            assert await until(stage, waiting, has_ended) < PROMPT_SECONDS
        tracemalloc.stop()
        assert {point.label for point in plan.points if ".read_events" in point.label} != set()


async def copied(stage: Stage, run: str, count: int) -> None:
    """The rows, journal and entry of a run that waits, many times over."""
    store = stage.store
    row, events, now = await store.read_run(run), tuple(await store.read_events(run)), await store.now()
    assert row is not None
    for number in range(count):
        run_id, thread_id = f"r-{number}", f"t-{number}"
        thread = ThreadRow(thread_id=thread_id, user_id=row.user_id, title="", created_at=now)
        await store.commit(
            [
                InsertThread(thread),
                InsertRun(replace(row, run_id=run_id, thread_id=thread_id, key=None)),
                Append(run_id, 0, events),
                Enqueue("runs", run_id, now - timedelta(seconds=1), row.user_id, row.task),
            ]
        )
    claims = await store.claim("runs", "copyist", 60, limit=count, reader=READER)
    await store.commit([Release("runs", claim.item, claim.generation, None) for claim in claims])
    assert await store.next_due("runs") is None
