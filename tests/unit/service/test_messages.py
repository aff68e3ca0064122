"""Messages between runs of one thread: in both journals or in none, heard once, fenced."""

import asyncio
from pathlib import Path

import pytest

from outlast.adapters.tools.ask_human import AskHuman
from outlast.adapters.tools.tell_run import TellRun
from outlast.domain.errors import CallerMistake, Conflict, NotFound
from outlast.domain.events import MessageReceived, MessageSent
from outlast.service.messages import send_message
from outlast.service.trace import trace_run
from tests.law import law
from tests.unit.runs.parts import ask_for, call, in_turn, results, say
from tests.unit.runs.stage import Stage, staged


async def two_of_one_thread(stage: Stage) -> tuple[str, str]:
    first = await stage.start("one", thread_id="t-1")
    return first, await stage.start("two", thread_id="t-1", strategy="enqueue")


@law("PLAN-6.a", "PLAN-6.b", "PLAN-6.c")
async def test_a_message_stands_in_both_journals_is_heard_once_and_read_in_both_traces(
    tmp_path: Path,
) -> None:
    async with staged(tmp_path, in_turn(say("Yes."))) as stage:
        first, second = await two_of_one_thread(stage)
        key = {"key": "k"}
        asked = [
            send_message(stage.store, first, second, "The key is blue.", "local", **key) for _ in range(6)
        ]
        assert len(set(await asyncio.gather(*asked))) == 1
        sent, received = await stage.events(first, MessageSent), await stage.events(second, MessageReceived)
        assert [event.text for event in (*sent, *received)] == ["The key is blue."] * 2
        assert sent[0].message == received[0].message
        await stage.work(first)
        await stage.work(second)
        heard = stage.requests[-1].messages[-1].text
        assert heard.count("The key is blue.") == 1
        assert "<<untrusted" in heard.partition("The key is blue.")[0]
        for run_id, kind in ((first, "MessageSent"), (second, "MessageReceived")):
            lines = [line for line in await trace_run(stage.store, run_id) if line["kind"] == kind]
            assert [line["data"]["text"] for line in lines] == ["The key is blue."]


async def test_a_message_reaches_a_run_that_waits_for_a_person(tmp_path: Path) -> None:
    asking = in_turn(ask_for(call("ask_human", question="Which?")), say("Done."))
    async with staged(tmp_path, asking, AskHuman) as stage:
        first, second = await two_of_one_thread(stage)
        await stage.work(first)
        await send_message(stage.store, second, first, "I come next.", "local")
        assert [event.sender for event in await stage.events(first, MessageReceived)] == [second]


async def test_runs_of_other_threads_and_users_and_ended_ones_are_not_told_anything(tmp_path: Path) -> None:
    async with staged(tmp_path, in_turn(say("Yes."))) as stage:
        first, second = await two_of_one_thread(stage)
        elsewhere = await stage.start("three", thread_id="t-2")
        foreign = await stage.start("four", thread_id="t-3", user_id="bob")
        with pytest.raises(Conflict, match="no other run of the thread"):
            await send_message(stage.store, first, elsewhere, "Hello.", "local")
        with pytest.raises(Conflict, match="no other run"):
            await send_message(stage.store, first, first, "Hello.", "local")
        for pair in ((first, foreign), (foreign, first)):
            with pytest.raises(NotFound):
                await send_message(stage.store, *pair, "Hello.", "local")
        await stage.work(first)
        with pytest.raises(Conflict, match="has ended"):
            await send_message(stage.store, second, first, "Hello.", "local")
        for text in (" ", "x" * 30_000):
            with pytest.raises(CallerMistake):
                await send_message(stage.store, second, first, text, "local")
        for run_id in (first, second, elsewhere, foreign):
            assert await stage.events(run_id, MessageSent, MessageReceived) == []


async def test_an_agent_tells_the_next_run_of_its_conversation_something(tmp_path: Path) -> None:
    telling = in_turn(ask_for(call("tell_run", text="Mind the gap.")), say("Told."))
    async with staged(tmp_path, telling, TellRun) as stage:
        first, second = await two_of_one_thread(stage)
        await stage.work(first)
        assert [event.text for event in await stage.events(second, MessageReceived)] == ["Mind the gap."]
        asking = ask_for(call("tell_run", text="Anybody?"))
        stage.answering = lambda request: say("Nobody.") if results(request) else asking
        await stage.work(second)
        assert "There is none" in results(stage.requests[-1])[0].text
