"""Comparisons and their run: it waits for none, some outlast it, and each is recorded once."""

import asyncio
from pathlib import Path
from typing import cast

from outlast.domain.events import RunReleased, ShadowCompared
from outlast.domain.shadow import Verdict
from outlast.ports.provider import ModelAnswer, ModelRequest
from outlast.runs.desk import Desk
from outlast.runs.shadowing.beside import Beside, Used
from outlast.runs.shadowing.late import append_late
from outlast.service.signals import cancel, pause, resume
from outlast.service.signals import say as tell
from tests.law import law
from tests.patience import PATIENCE_SECONDS
from tests.unit.runs.parts import ask_for, call, in_turn, say
from tests.unit.runs.props import page
from tests.unit.runs.shadowing.shade import shaded
from tests.unit.runs.stage import soon

READS = in_turn(ask_for(call("page", url="http://a")), say("Read it."))


@law("SEE-4.c")
async def test_a_run_does_not_wait_for_a_variant_that_hangs_and_ends_as_it_would_have(tmp_path: Path) -> None:
    hanging = asyncio.Event()

    async def variant(request: ModelRequest) -> ModelAnswer:
        await hanging.wait()
        return say("Late.")

    async with shaded(tmp_path, READS, page, variant=variant) as shade:
        shade.cast("role:chat")
        run = await shade.stage.play()
        assert (await shade.stage.state(run)).outcome == "full"
        assert await shade.compared(run) == []
        hanging.set()
        await shade.aftermath.settle(PATIENCE_SECONDS)
        events = await shade.stage.events(run)
        assert isinstance(events[-1], ShadowCompared)
        assert isinstance(events[-3], RunReleased)
        assert [one.verdict for one in await shade.compared(run)] == [Verdict.DIFFERED, Verdict.DIFFERED]


async def test_what_is_not_through_when_the_process_ends_is_told_as_not_compared(tmp_path: Path) -> None:
    async def variant(request: ModelRequest) -> ModelAnswer:
        await asyncio.Event().wait()
        raise AssertionError

    async with shaded(tmp_path, in_turn(say("Yes.")), variant=variant) as shade:
        shade.cast("model")
        run = await shade.stage.play()
        await shade.aftermath.close()
        [one] = await shade.compared(run)
        assert (one.verdict, one.code) == (Verdict.UNCOMPARED, "given_up")


async def test_cancelling_a_run_ends_its_shadow(tmp_path: Path) -> None:
    asked, stopped = asyncio.Event(), asyncio.Event()

    async def hangs(request: ModelRequest) -> ModelAnswer:
        await asyncio.Event().wait()
        raise AssertionError

    async def variant(request: ModelRequest) -> ModelAnswer:
        asked.set()
        try:
            await asyncio.Event().wait()
        finally:
            stopped.set()
        raise AssertionError

    async with shaded(tmp_path, hangs, variant=variant) as shade:
        shade.cast("model")
        run = await shade.stage.start()
        working = asyncio.create_task(shade.stage.work(run))
        await soon(asked)
        await cancel(shade.stage.store, run, "ann")
        await working
        await shade.aftermath.settle(PATIENCE_SECONDS)
        [one] = await shade.compared(run)
        assert stopped.is_set()
        assert one.verdict is Verdict.UNCOMPARED


async def test_comparisons_ride_along_with_the_commits_of_the_run(tmp_path: Path) -> None:
    async with shaded(tmp_path, READS, page) as shade:
        shade.cast("tool:page")
        run = await shade.play()
        events = await shade.stage.events(run)
        told = next(index for index, event in enumerate(events) if isinstance(event, ShadowCompared))
        assert told < next(index for index, event in enumerate(events) if isinstance(event, RunReleased))


async def test_a_paused_run_goes_on_where_comparisons_came_after_it_was_given_back(tmp_path: Path) -> None:
    free, asked = asyncio.Event(), asyncio.Event()

    async def variant(request: ModelRequest) -> ModelAnswer:
        asked.set()
        await free.wait()
        return say("Late.")

    async def slow(request: ModelRequest) -> ModelAnswer:
        await soon(asked)
        if not any(message.speaker == "tool" for message in request.messages):
            await pause(shade.stage.store, run, "ann")
            return ask_for(call("page", url="http://a"))
        return say("Read it.")

    async with shaded(tmp_path, slow, page, variant=variant) as shade:
        shade.cast("model")
        run = await shade.stage.start()
        assert await shade.stage.work(run) == "paused"
        free.set()
        await shade.aftermath.settle(PATIENCE_SECONDS)
        assert isinstance((await shade.stage.events(run))[-1], ShadowCompared)
        await resume(shade.stage.store, run, "ann")
        assert await shade.stage.work(run) == "ended"
        assert (await shade.stage.state(run)).outcome == "full"


async def test_a_run_that_is_gone_takes_no_comparisons_and_one_that_has_ended_does(tmp_path: Path) -> None:
    event = ShadowCompared(call="m5", selector="model", variant="v", verdict=Verdict.AGREED)
    async with shaded(tmp_path, in_turn(say("Yes."))) as shade:
        run = await shade.play()
        before = await shade.stage.store.read_head(run)
        await append_late(shade.stage.store, run, [event, event])
        assert await shade.stage.store.read_head(run) == before + 2
        await append_late(shade.stage.store, "r-gone", [event])
        assert await shade.stage.store.read_head("r-gone") == 0
        assert (await shade.stage.state(run)).has_ended


async def test_what_is_taken_over_at_the_very_end_is_recorded_all_the_same(tmp_path: Path) -> None:
    async with shaded(tmp_path, in_turn(say("Yes."))) as shade:
        await shade.aftermath.close()
        shade.cast("model")
        run = await shade.stage.play()
        await shade.aftermath.close()
        assert len(await shade.compared(run)) == 1


async def test_what_a_commit_could_not_hold_is_offered_to_the_next_and_what_nobody_knows_of_is_lost(
    tmp_path: Path,
) -> None:
    first, second = (
        ShadowCompared(call=call, selector="model", variant="v", verdict=Verdict.AGREED)
        for call in ("m5", "m9")
    )
    async with shaded(tmp_path, in_turn(say("Yes."))) as shade:
        shade.cast("model")
        assert shade.stage.shadow is not None
        desk = cast("Desk", None)  # nothing is carried out at it
        beside = Beside(desk, shade.stage.shadow, Used())
        beside._ready.append(first)
        assert beside.offers() == [first]
        beside.was_taken(is_durable=False)
        beside._ready.append(second)
        assert beside.offers() == [first, second]
        beside.was_taken(is_durable=True)
        beside._ready.append(first)
        assert beside.offers() == [first]
        assert beside.offers() == [], "the commit it was offered to has come to nothing that is known"


async def test_a_commit_that_met_a_newer_event_takes_its_comparisons_along_the_next_time(
    tmp_path: Path,
) -> None:
    came = asyncio.Event()

    def variant(request: ModelRequest) -> ModelAnswer:
        came.set()
        return say("Yes.")

    async def answering(request: ModelRequest) -> ModelAnswer:
        await soon(came)
        if len(shade.stage.requests) == 1:
            await tell(shade.stage.store, run, "ann", "Hurry.")
        return say("Yes.")

    async with shaded(tmp_path, answering, variant=variant) as shade:
        shade.cast("model")
        run = await shade.stage.start()
        await shade.stage.work(run)
        await shade.aftermath.settle(PATIENCE_SECONDS)
        verdicts = [(one.call, one.verdict) for one in await shade.compared(run)]
        assert verdicts == [("m5", Verdict.AGREED), ("m8", Verdict.AGREED)]
