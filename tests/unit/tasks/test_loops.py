"""The loops over background tasks, on a real store: what is due is done at once, and nothing waits for what hangs."""

import asyncio
import logging
from dataclasses import replace
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest

from outlast.domain.background import TaskStatus, Tracking
from outlast.domain.errors import Broken
from outlast.ports.background_driver import Answer, RemoteStatus, Snapshot, Trouble
from outlast.ports.queue import Enqueue, Release, Shares
from outlast.ports.task_rows import InsertTask
from outlast.tasks.acts import Held
from outlast.tasks.codec import row_of
from outlast.tasks.desk import Kept, happen, read_kept
from outlast.tasks.happenings import Answered, CancelAsked, Queue
from outlast.tasks.lane import SAFETY_POLL_SECONDS
from outlast.tasks.loops import poll_all_open
from outlast.tasks.rules import Moment
from outlast.testing.faults import CrashPlan, CrashPoint, Faulty
from tests.law import law
from tests.patience import PATIENCE_SECONDS
from tests.unit.tasks.props import QUESTION, RULES, task
from tests.unit.tasks.remote import DONE
from tests.unit.tasks.scene import PACE, has_ended, serving, staged


@law("TASK-1.a")
async def test_a_task_is_followed_to_its_end_and_its_result_is_kept(tmp_path: Path) -> None:
    async with staged(tmp_path) as scene:
        await scene.add("k")
        async with serving(scene.shift()):
            async with asyncio.timeout(PATIENCE_SECONDS):
                await scene.remote.asked.wait()
            scene.remote.replies["far-k"] = DONE
            await scene.until(has_ended, "k")
        assert (await scene.task("k")).status is TaskStatus.COMPLETED
        assert await scene.store.read_task_result("k") == "done"
        due = await scene.store.read_entry(Queue.NOTIFY.value, "k")
        assert due is not None
        assert due.due_at is not None


async def test_every_open_task_is_asked_for_once_when_a_worker_begins(tmp_path: Path) -> None:
    async with staged(tmp_path) as scene:
        for number in range(5):
            await scene.add(f"k{number}", due_in_seconds=3_600)
        await scene.add("submitting", due_in_seconds=3_600, status=TaskStatus.SUBMITTING, remote_id=None)
        scene.remote.default = DONE
        async with serving(scene.shift()):
            await scene.until(has_ended, *[f"k{number}" for number in range(5)])
        assert (await scene.task("submitting")).is_open
        assert await poll_all_open(scene.store) == 1


async def test_a_task_whose_handle_never_came_has_an_unknown_outcome(tmp_path: Path) -> None:
    async with staged(tmp_path) as scene:
        await scene.add("k", status=TaskStatus.SUBMITTING, remote_id=None)
        async with serving(scene.shift()):
            await scene.until(has_ended, "k")
        assert (await scene.task("k")).status is TaskStatus.UNKNOWN_OUTCOME
        assert scene.remote.polls == {}


async def test_calls_that_hang_hold_up_nothing_but_their_own_tasks(tmp_path: Path) -> None:
    async with staged(tmp_path, slots=5) as scene:
        scene.remote.hanging = {"far-h0", "far-h1", "far-h2", "far-h3"}
        for number in range(4):
            await scene.add(f"h{number}")
        names = [f"k{number}" for number in range(40)]
        for name in names:
            await scene.add(name, due_in_seconds=0.01)
        scene.remote.default = DONE
        async with serving(scene.shift()):
            await scene.until(has_ended, *names)
            await scene.happen("h0", CancelAsked("ann"))
            await scene.until(lambda found: found.cancel_acknowledged_at is not None, "h0")
        assert all([(await scene.task(f"h{number}")).is_open for number in range(4)])


async def test_a_call_past_its_deadline_and_a_driver_that_fails_are_trouble_of_their_tasks(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    async with staged(tmp_path) as scene:
        scene.rules = replace(PACE, call_seconds=-0.9, degraded_after_errors=2, max_backoff_seconds=1)
        scene.remote.hanging, scene.remote.raising = {"far-hangs"}, {"far-raises"}
        await scene.add("hangs")
        await scene.add("raises")
        with caplog.at_level(logging.ERROR, "outlast.tasks"):
            async with serving(scene.shift()):
                await scene.until(lambda found: found.tracking is Tracking.DEGRADED, "hangs", "raises")
        assert "no_answer" in str((await scene.task("hangs")).last_poll_error)
        assert "RuntimeError" in str((await scene.task("raises")).last_poll_error)
        assert "far-raises" not in caplog.text


async def test_a_server_that_is_not_configured_degrades_its_tasks(tmp_path: Path) -> None:
    async with staged(tmp_path) as scene:
        scene.remote.missing = Trouble("server_unknown", "no such server", "Add it.", passing=False)
        await scene.add("k")
        await scene.happen("k", CancelAsked("ann"))
        async with serving(scene.shift()):
            await scene.until(
                lambda found: found.tracking is Tracking.DEGRADED and found.cancel_errors > 0, "k"
            )


@law("TASK-6.d")
async def test_an_answer_is_sent_at_once_and_before_the_task_is_asked_for(tmp_path: Path) -> None:
    async with staged(tmp_path) as scene:
        scene.rules = replace(PACE, poll_interval_seconds=200)
        scene.remote.replies["far-k"] = Snapshot(
            status=RemoteStatus.INPUT_REQUIRED, questions={"q": QUESTION}
        )
        await scene.add("k")
        async with serving(scene.shift()):
            await scene.until(lambda found: found.status is TaskStatus.INPUT_REQUIRED, "k")
            scene.remote.replies["far-k"] = DONE
            await scene.happen("k", Answered("q", Answer("accept", {"colour": "red"}), "ann"))
            await scene.until(has_ended, "k")
        assert scene.remote.answers["far-k"] == [{"q": Answer("accept", {"colour": "red"})}]


@pytest.mark.parametrize("can_cancel", [True, False])
async def test_a_cancel_is_tried_at_once_and_a_result_still_arrives(tmp_path: Path, can_cancel: bool) -> None:
    async with staged(tmp_path) as scene:
        scene.remote.can_cancel = can_cancel
        scene.rules = replace(PACE, poll_interval_seconds=200)
        await scene.add("k", due_in_seconds=200)
        async with serving(scene.shift()):
            async with asyncio.timeout(PATIENCE_SECONDS):
                await scene.remote.asked.wait()
            await scene.happen("k", CancelAsked("ann"))
            await scene.until(lambda found: bool(found.cancel_acknowledged_at or found.cancel_errors), "k")
            scene.remote.default = DONE
            await poll_all_open(scene.store)
            await scene.until(has_ended, "k")
        assert scene.remote.cancels["far-k"] == int(can_cancel)


async def test_leases_are_shared_out_by_server_and_by_user(tmp_path: Path) -> None:
    async with staged(tmp_path, shares=Shares(per_user=4, per_label=3)) as scene:
        scene.remote.default, scene.remote.slowness = DONE, 200
        names = []
        for number in range(24):
            names.append(f"k{number}")
            await scene.add(names[-1], server=f"server-{number % 4}", user_id=f"user-{number % 2}")
        async with serving(scene.shift()):
            await scene.until(has_ended, *names)
        assert scene.remote.most_at_once <= 8


@law("TASK-2.b")
async def test_a_slow_act_keeps_its_lease_and_one_that_lost_it_is_cut_off(tmp_path: Path) -> None:
    async with staged(tmp_path) as scene:
        scene.rules = replace(PACE, lease_seconds=1)
        scene.remote.hanging = {"far-k"}
        await scene.add("k")
        async with serving(scene.shift()):
            async with asyncio.timeout(PATIENCE_SECONDS):
                await scene.remote.asked.wait()
            first = await scene.store.read_entry(Queue.POLL.value, "k")
            assert first is not None
            assert first.until is not None
            async with asyncio.timeout(PATIENCE_SECONDS):
                while await scene.store.now() < first.until + timedelta(seconds=1):
                    await scene.store.watch(["nothing"]).wait(0.05)
            later = await scene.store.read_entry(Queue.POLL.value, "k")
            assert later is not None
            assert later.generation == first.generation
            scene.remote.asked.clear()
            scene.remote.hanging = set()
            await scene.store.claim(Queue.POLL.value, "thief", 0.01, item="k", evict=first.generation)
            async with asyncio.timeout(PATIENCE_SECONDS):
                await scene.remote.asked.wait()


async def test_told_to_stop_it_hands_leases_back(tmp_path: Path) -> None:
    async with staged(tmp_path) as scene:
        scene.remote.hanging = {"far-k"}
        await scene.add("k")
        async with serving(scene.shift()):
            async with asyncio.timeout(PATIENCE_SECONDS):
                await scene.remote.asked.wait()
        entry = await scene.store.read_entry(Queue.POLL.value, "k")
        assert entry is not None
        assert entry.until is None
        assert entry.due_at is not None
        assert entry.due_at <= await scene.store.now()


async def test_an_ended_task_goes_when_its_retention_is_over(tmp_path: Path) -> None:
    async with staged(tmp_path) as scene:
        scene.rules = replace(PACE, retention_days=0)
        scene.remote.default = DONE
        await scene.add("k", notify="off")
        await scene.add("kept")
        async with serving(scene.shift()), asyncio.timeout(PATIENCE_SECONDS):
            while await read_kept(scene.store, "k") is not None:
                await scene.store.watch(["nothing"]).wait(0.02)
        assert await scene.store.read_entry(Queue.POLL.value, "k") is None
        assert (await scene.task("kept")).is_undelivered, "what is not told yet stays"


async def test_a_row_that_cannot_be_read_is_put_off_and_the_others_go_on(tmp_path: Path) -> None:
    async with staged(tmp_path) as scene:
        scene.remote.default = DONE
        newer = replace(row_of(task(task_id="newer", name="newer", remote_id="n")), body_version=99)
        await scene.store.commit(
            [InsertTask(newer), Enqueue("task_poll", "newer", await scene.store.now(), "ann")]
        )
        await scene.store.commit([Enqueue("task_poll", "gone", await scene.store.now(), "ann")])
        await scene.add("k")
        async with serving(scene.shift()):
            await scene.until(has_ended, "k")
            async with asyncio.timeout(PATIENCE_SECONDS):
                while (
                    not (entry := await scene.store.read_entry("task_poll", "newer"))
                    or entry.until is not None
                ):
                    await scene.store.watch(["nothing"]).wait(0.02)
        assert entry.note.startswith("task_newer")
        gone = await scene.store.read_entry("task_poll", "gone")
        assert gone is not None
        assert gone.due_at is None


async def test_a_store_that_is_away_for_a_while_is_waited_for(tmp_path: Path) -> None:
    def away(point: CrashPoint) -> None:
        raise Broken("store_unavailable", "away", "wait")

    for verb in (
        "store.list_tasks#1",
        "store.next_due#1",
        "store.claim#1",
        "store.read_tasks#1",
        "store.commit#2",
    ):
        (tmp_path / verb).mkdir()
        async with staged(tmp_path / verb, rules=replace(PACE, lease_seconds=0.2)) as scene:
            scene.remote.default = DONE
            await scene.add("k")
            plan = CrashPlan(CrashPoint(verb, "before"), away)
            async with serving(scene.shift(Faulty(scene.store, plan, "store"))):
                await scene.until(has_ended, "k")
            assert plan.was_reached, verb


async def test_what_happens_to_a_task_at_the_same_time_all_happens(tmp_path: Path) -> None:
    async with staged(tmp_path) as scene:
        await scene.add("k")
        await asyncio.gather(*[scene.happen("k", CancelAsked(f"user-{number}")) for number in range(8)])
        assert (await scene.task("k")).cancel_requested_by is not None
        nothing = await happen(
            scene.store, "nothing", CancelAsked("ann"), lambda _: RULES, Moment(await scene.store.now())
        )
        assert nothing is None


async def test_it_is_idle_when_nothing_is_done_and_nothing_due(tmp_path: Path) -> None:
    async with staged(tmp_path) as scene:
        scene.remote.hanging = {"far-k"}
        shift = scene.shift()
        assert await shift.is_idle()
        await scene.add("later", due_in_seconds=200)
        assert await shift.is_idle()
        await scene.add("k")
        assert not await shift.is_idle()
        async with serving(shift):
            async with asyncio.timeout(PATIENCE_SECONDS):
                await scene.remote.asked.wait()
            assert not await shift.is_idle()


async def test_it_is_not_idle_while_what_is_due_is_being_claimed(tmp_path: Path) -> None:
    async with staged(tmp_path) as scene:
        scene.remote.hanging = {"far-k"}
        await scene.add("k")
        is_claimed, may_go = asyncio.Event(), asyncio.Event()

        class Slow:
            async def claim(self, *asked: Any, **more: Any) -> Any:
                claims = await scene.store.claim(*asked, **more)
                is_claimed.set()
                await may_go.wait()
                return claims

            def __getattr__(self, name: str) -> Any:
                return getattr(scene.store, name)

        shift = scene.shift(Slow())
        async with serving(shift), asyncio.timeout(PATIENCE_SECONDS):
            await is_claimed.wait()
            assert not await shift.is_idle()
            may_go.set()
            await scene.remote.asked.wait()
            assert not await shift.is_idle()


@law("TASK-8.a")
async def test_an_end_is_told_at_once_and_not_when_somebody_looks(tmp_path: Path) -> None:
    async with staged(tmp_path) as scene:
        told: dict[str, float] = {}

        async def tell(held: Held, kept: Kept) -> None:
            assert kept.task.ended_at is not None
            told[kept.task.task_id] = (held.claim.store_now - kept.task.ended_at).total_seconds()
            claim = held.claim
            await scene.store.commit([Release(claim.queue, claim.item, claim.generation, None)])

        scene.remote.default = DONE
        names = [f"k{number}" for number in range(10)]
        async with serving(scene.shift(tell=tell)):
            for name in names:
                await scene.add(name, due_in_seconds=0.05)
                await scene.until(lambda found: found.task_id in told, name)
        assert sorted(told.values())[5] < SAFETY_POLL_SECONDS / 10
