"""Runs of one thread: one at a time, in the order they came, whatever happens to those ahead."""

import asyncio
from pathlib import Path
from typing import Any

import pytest

from outlast.adapters.tools.ask_human import AskHuman
from outlast.domain.errors import Conflict, ModelCallFailed, NotFound
from outlast.domain.events import CancelRequested, EndAwaited, TurnTaken
from outlast.domain.states import State
from outlast.journal.thread import read_thread_words
from outlast.ports.provider import ModelRequest
from outlast.runs.line import IN_LINE
from outlast.runs.thread import LEFT_OUT
from outlast.service import signals
from outlast.service.show import show_run
from outlast.testing.faults import Crash, CrashPlan, Faulty
from tests.unit.runs.parts import ask_for, call, in_turn, say
from tests.unit.runs.stage import Stage, staged


async def is_due(stage: Stage, run_id: str) -> bool:
    entry = await stage.store.read_entry("runs", run_id)
    return entry is not None and (entry.due_at is not None or entry.until is not None)


async def said_in(stage: Stage, thread_id: str = "t-1") -> list[tuple[str, str]]:
    return [(words.speaker, words.text) for words in await read_thread_words(stage.store, thread_id)]


async def test_g11_08_of_two_runs_at_once_in_one_thread_the_second_is_refused_or_put_in_line(
    tmp_path: Path,
) -> None:
    async with staged(tmp_path, in_turn(say("Yes."))) as stage:
        both = [stage.start(words, thread_id="t-1", key=words) for words in ("one", "two")]
        begun = await asyncio.gather(*both, return_exceptions=True)
        refused = [one for one in begun if isinstance(one, Conflict)]
        assert [one.code for one in refused] == ["thread_busy"]
        waiting = [stage.start(words, thread_id="t-1", strategy="enqueue") for words in ("three", "four")]
        assert len(set(await asyncio.gather(*waiting))) == 2


async def test_g11_08_one_key_names_one_run_however_often_it_is_asked_for_at_once(tmp_path: Path) -> None:
    async with staged(tmp_path, in_turn(say("Yes."))) as stage:
        same = [stage.start("hello", thread_id="t-1", key="k", strategy="enqueue") for _ in range(8)]
        assert len(set(await asyncio.gather(*same))) == 1


async def test_a_run_in_line_is_taken_back_until_the_one_ahead_has_ended_and_its_end_makes_it_due(
    tmp_path: Path,
) -> None:
    async with staged(tmp_path, in_turn(say("Yes."))) as stage:
        first = await stage.start("one", thread_id="t-1")
        second = await stage.start("two", thread_id="t-1", strategy="enqueue")
        assert not await is_due(stage, second)
        assert await stage.work(second) == IN_LINE
        assert (await show_run(stage.store, second))["waiting_for"] == ["its turn in the thread"]
        assert await stage.events(first, EndAwaited) == [EndAwaited("runs", second)]
        await stage.work(first)
        assert await is_due(stage, second)
        await stage.work(second)
        assert (await stage.state(second)).state is State.COMPLETED
        assert await stage.events(second, TurnTaken) == [TurnTaken(2)]


async def test_runs_in_line_begin_in_the_order_they_came_whoever_is_taken_up_first(tmp_path: Path) -> None:
    async with staged(tmp_path, in_turn(say("Yes."))) as stage:
        first = await stage.start("one", thread_id="t-1")
        line = [
            await stage.start(words, thread_id="t-1", strategy="enqueue")
            for words in ("two", "three", "four")
        ]
        await stage.work(first)
        for _ in line:
            for run_id in reversed(line):
                if not (await stage.state(run_id)).has_ended and await is_due(stage, run_id):
                    await stage.work(run_id)
        said = [words for speaker, words in await said_in(stage) if speaker == "user"]
        assert said == ["one", "two", "three", "four"]
        assert all([(await stage.state(run_id)).has_ended for run_id in line])


async def test_a_run_in_line_hears_what_was_answered_before_it_began(tmp_path: Path) -> None:
    def answering(request: ModelRequest) -> Any:
        return say(f"answer to {request.messages[-1].text}")

    async with staged(tmp_path, answering) as stage:
        first = await stage.start("one", thread_id="t-1")
        second = await stage.start("two", thread_id="t-1", strategy="enqueue")
        await stage.work(first)
        await stage.work(second)
        heard = [message.text for message in stage.requests[-1].messages[1:]]
        assert heard == ["one", "answer to one", "two"]
        assert await said_in(stage) == [
            ("user", "one"),
            ("assistant", "answer to one"),
            ("user", "two"),
            ("assistant", "answer to two"),
        ]


async def test_a_run_that_interrupts_cancels_the_active_one_and_begins_after_it(tmp_path: Path) -> None:
    async with staged(tmp_path, in_turn(say("Yes."))) as stage:
        first = await stage.start("one", thread_id="t-1")
        second = await stage.start("two", thread_id="t-1", strategy="interrupt")
        asked = await stage.events(first, CancelRequested)
        assert [event.reason for event in asked] == [f"interrupted by {second}"]
        await stage.work(first)
        assert (await stage.state(first)).state is State.CANCELLED
        assert await is_due(stage, second)
        await stage.work(second)
        assert (await stage.state(second)).state is State.COMPLETED


@pytest.mark.parametrize("ahead_is_cancelled", [True, False])
async def test_a_cancelled_run_in_line_ends_at_once_and_holds_nobody_up(
    tmp_path: Path, *, ahead_is_cancelled: bool
) -> None:
    async with staged(tmp_path, in_turn(say("Yes."))) as stage:
        first = await stage.start("one", thread_id="t-1")
        second = await stage.start("two", thread_id="t-1", strategy="enqueue")
        third = await stage.start("three", thread_id="t-1", strategy="enqueue")
        await signals.cancel(stage.store, second, "ann")
        await stage.work(second)
        assert (await stage.state(second)).state is State.CANCELLED
        assert await stage.work(third) == IN_LINE
        if ahead_is_cancelled:
            await signals.cancel(stage.store, first, "ann")
        await stage.work(first)
        assert await is_due(stage, third)
        await stage.work(third)
        said = [words for speaker, words in await said_in(stage) if speaker == "user"]
        assert said == ["one", "three"]


async def test_a_failed_run_makes_room_and_is_not_resumed_beside_the_next(tmp_path: Path) -> None:
    def without_key(request: ModelRequest) -> Any:
        raise ModelCallFailed("auth", "no key")

    async with staged(tmp_path, without_key, AskHuman) as stage:
        first = await stage.start("one", thread_id="t-1")
        second = await stage.start("two", thread_id="t-1", strategy="enqueue")
        await stage.work(first)
        assert await is_due(stage, second)
        stage.answering = in_turn(ask_for(call("ask_human", question="Which?")))
        await stage.work(second)
        with pytest.raises(Conflict, match="active run"):
            await signals.resume(stage.store, first, "ann")


async def test_a_run_started_while_one_is_in_line_comes_behind_it(tmp_path: Path) -> None:
    async with staged(tmp_path, in_turn(say("Yes."))) as stage:
        first = await stage.start("one", thread_id="t-1")
        second = await stage.start("two", thread_id="t-1", strategy="enqueue")
        await stage.work(first)
        with pytest.raises(Conflict, match=second):
            await stage.start("three", thread_id="t-1")
        third = await stage.start("four", thread_id="t-1", strategy="enqueue")
        assert await stage.events(second, EndAwaited) == [EndAwaited("runs", third)]


async def test_nobody_is_put_in_line_in_the_thread_of_another_user(tmp_path: Path) -> None:
    async with staged(tmp_path, in_turn(say("Yes."))) as stage:
        first = await stage.start("one", thread_id="t-1", user_id="ann")
        for strategy in ("reject", "enqueue", "interrupt"):
            with pytest.raises(NotFound, match="no thread t-1"):
                await stage.start("two", thread_id="t-1", user_id="bob", strategy=strategy)
        assert await stage.events(first, EndAwaited, CancelRequested) == []


async def test_a_line_has_an_end(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("outlast.service.start.MAX_IN_LINE", 1)
    async with staged(tmp_path, in_turn(say("Yes."))) as stage:
        await stage.start("one", thread_id="t-1")
        await stage.start("two", thread_id="t-1", strategy="enqueue")
        with pytest.raises(Conflict, match="1 runs wait"):
            await stage.start("three", thread_id="t-1", strategy="enqueue")


async def test_a_long_thread_enters_a_context_by_its_newest_words(tmp_path: Path) -> None:
    async with staged(tmp_path, in_turn(say("Yes.")), context_max_tokens=2000) as stage:
        for number in range(12):
            await stage.play(f"{number} {'word ' * 200}", thread_id="t-1")
        messages = stage.requests[-1].messages
        assert messages[1].text.startswith(LEFT_OUT)
        assert 3 < len(messages) < 20
        assert messages[-1].text.startswith("11 ")
        assert messages[-3].text.startswith("10 ")


async def test_no_run_is_lost_from_a_line_whichever_call_of_the_store_a_worker_dies_at(
    tmp_path: Path,
) -> None:
    counting = CrashPlan()
    async with staged(tmp_path, in_turn(say("Yes."))) as stage:
        await three_in_line(stage, counting)
    assert len(counting.points) > 30
    for point in counting.points:
        async with staged(tmp_path, in_turn(say("Yes."))) as stage:
            runs = await three_in_line(stage, CrashPlan(point))
            states = [(await stage.state(run_id)).state for run_id in runs]
            assert states == [State.COMPLETED] * 3, point
            said = [words for speaker, words in await said_in(stage) if speaker == "user"]
            assert said == ["one", "two", "three"], point


async def three_in_line(stage: Stage, plan: CrashPlan) -> list[str]:
    """Three runs of a thread, worked on when they are due; the first worker dies where the plan says."""
    runs = [
        await stage.start(words, thread_id="t-1", strategy="enqueue") for words in ("one", "two", "three")
    ]
    store = stage.store
    for _ in range(12):
        for run_id in reversed(runs):
            if not await is_due(stage, run_id) or (await stage.state(run_id)).has_ended:
                continue
            stage.store = Faulty(store, plan, "store")
            try:
                await stage.work(run_id)
            except Crash:
                plan = CrashPlan()
                await store.expire_lease("runs", run_id)  # type: ignore[attr-defined]
            finally:
                stage.store = store
    return runs
