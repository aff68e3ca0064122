"""What golden journals are made of: real runs of the engine, and plays of luck for what seldom happens."""

from __future__ import annotations

import itertools
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import replace
from datetime import datetime
from pathlib import Path

from outlast.adapters.stores.sqlite import SqliteStore
from outlast.adapters.tools.ask_human import AskHuman
from outlast.domain.commands import Command
from outlast.domain.errors import ModelCallFailed
from outlast.domain.run import RunState
from outlast.domain.states import State
from outlast.journal.fold import load_state
from outlast.journal.history import row_of
from outlast.ports.background_driver import Product, RemoteStatus, Snapshot
from outlast.ports.provider import ModelAnswer, ModelRequest
from outlast.ports.tool import ToolResult, tool
from outlast.runs.moves import enter, set_value
from outlast.service import signals
from outlast.service.fork import Branching, fork_run
from outlast.service.messages import send_message
from outlast.tasks.happenings import Queue
from outlast.testing.faults import CrashPlan, CrashPoint
from tests.crash.lives import Life, begun, live_on, lived
from tests.golden.book import Book, bound_in, known_of
from tests.unit.runs.parts import ask_for, call, results, say
from tests.unit.runs.props import mail, page
from tests.unit.runs.shadowing.shade import shaded
from tests.unit.runs.stage import staged
from tests.unit.runs.test_run_machine import play
from tests.unit.runs.troupe import Troupe
from tests.unit.service.background.farm import farming

HOSTILE = 'a\x00b \u2028 \u202e \U0001f600 $payload {"$literally": 1} <<end 0>>'


async def chat() -> Book:
    """A conversation with a result too long for a row, and text that is hard to store."""

    @tool(effect="read", cache_seconds=0)
    async def long_page(url: str) -> ToolResult:
        """Read a page that is long."""
        return ToolResult(True, f"{url} {HOSTILE}\n" + "All work and no play. \u00e9\u4e2d\n" * 400)

    def answering(request: object) -> object:
        turn = sum(message.speaker == "assistant" for message in request.messages)  # type: ignore[attr-defined]
        return ask_for(call("long_page", url=HOSTILE)) if turn == 0 else say(f"Read it. {HOSTILE}")

    async with staged(Path("unused"), answering, long_page) as stage:  # type: ignore[arg-type]
        run_id = await stage.play(f"Read it. {HOSTILE}")
        return await bound_in(stage.store, await stage.state(run_id))


async def chat_deployed() -> Book:
    """A conversation that waits for an answer while one of its tools becomes another."""

    def answering(request: object) -> object:
        turn = sum(message.speaker == "assistant" for message in request.messages)  # type: ignore[attr-defined]
        return (ask_for(call("ask_human", question="Which?")), ask_for(call("page", url="a")), say("Done."))[
            turn
        ]

    @tool(effect="read", cache_seconds=0)
    async def other_page(url: str) -> ToolResult:
        """Read a page, in the way of the next version."""
        return ToolResult(True, f"another {url}")

    async with staged(Path("unused"), answering, AskHuman, page) as stage:  # type: ignore[arg-type]
        run_id = await stage.play()
        stage.cast([AskHuman, tool(name="page", effect="read", cache_seconds=0)(other_page)])
        await signals.answer(stage.store, run_id, "ann", "That one.")
        await stage.work(run_id)
        return await bound_in(stage.store, await stage.state(run_id))


async def thread_line() -> Book:
    """A run that waits its turn behind another, is awaited itself, is told something by the one before it, and passes it on."""
    async with staged(Path("unused"), lambda request: say("Yes.")) as stage:
        first = await stage.start("One.", thread_id="t-1")
        second = await stage.start("Two.", thread_id="t-1", strategy="enqueue")
        third = await stage.start("Three.", thread_id="t-1", strategy="enqueue")
        await send_message(stage.store, first, second, f"Told. {HOSTILE}", "local")
        await stage.work(first)
        await stage.work(third)
        await send_message(stage.store, second, third, "And on.", "local")
        await stage.work(second)
        return await bound_in(stage.store, await stage.state(second))


async def chat_background() -> Book:
    """Work in the background: what an earlier run began is shown, more is begun, and its end is told while a person is asked."""

    def answering(request: ModelRequest) -> ModelAnswer:
        turn = len(results(request))
        rendered, asked = ask_for(call("render", scene=HOSTILE)), ask_for(call("ask_human", question="And?"))
        return (rendered, asked, say("So."))[turn]

    async with farming(Path("unused"), answering, AskHuman) as hands:
        hands.stage.answering = lambda request: (
            say("Begun.") if results(request) else ask_for(call("render", scene="a"))
        )
        await hands.stage.play("Render one.", thread_id="t-1")
        hands.stage.answering = answering
        run_id = await hands.stage.play("Render another.", thread_id="t-1")
        hands.farm.remote.default = Snapshot(status=RemoteStatus.COMPLETED, product=Product(HOSTILE))
        await hands.poll()
        await hands.do(Queue.NOTIFY)
        await signals.answer(hands.store, run_id, "ann", "That one.")
        await hands.stage.work(run_id)
        return await bound_in(hands.store, await hands.stage.state(run_id))


async def chat_shadowed() -> Book:
    """A conversation with shadows: of what agrees, differs, fails, would have an effect, and comes after the end."""

    def variant(request: ModelRequest) -> ModelAnswer:
        if results(request):
            raise ModelCallFailed("auth", HOSTILE)
        return ask_for(call("page", url="b"), call("page", url="a"))

    def answering(request: ModelRequest) -> ModelAnswer:
        calls = call("page", url="a"), call("mail", to=HOSTILE)
        return say("Read it.") if results(request) else ask_for(*calls)

    async with shaded(Path("unused"), answering, page, mail, variant=variant) as shade:
        shade.cast("tool:page", "role:chat", "config")
        run_id = await shade.play()
        return await bound_in(shade.stage.store, await shade.stage.state(run_id))


async def own_workflow() -> Book:
    """A workflow of a user's own, which keeps values."""

    def decide(state: RunState, now: datetime) -> Sequence[Command]:
        if state.state is State.INIT:
            return [enter(state, State.EXECUTING, "begin")]
        if "seen" not in state.values:
            return [
                set_value("seen", {"$payload": [1, 2.5, None, HOSTILE], "big": 10**299, "deep": [[[{}]]]})
            ]
        return [enter(state, State.COMPLETED, "seen", "full")]

    async with staged(Path("unused"), lambda request: say(""), decide=decide) as stage:
        run_id = await stage.play()
        return await bound_in(stage.store, await stage.state(run_id))


async def research_full() -> Book:
    """Three subtasks, a revision, approvals, a question, a hook; nothing goes wrong."""
    return await _of(await lived(CrashPlan()))


async def research_unknown_outcome() -> Book:
    """The worker dies right after a payment; a person says that it took place."""
    return await _of(await lived(CrashPlan(CrashPoint("tool.pay.run#1", "after"))))


async def research_fork() -> Book:
    """A fork of a run whose subtasks are at work, lived to its end."""
    life = await lived(CrashPlan())
    fork = await fork_run(life.store, Branching(run_id=life.run_id, at=30, random=bytes(range(40, 80))))
    return await _of(await live_on(replace(life, run_id=fork.run_id), CrashPlan()))


async def research_diverged() -> Book:
    """A journal whose recorded digests the fold does not reach, as after a mistake in a change of the fold."""
    life = await begun()
    plan = CrashPlan(CrashPoint("tool.look.run#1", "before"))
    return await _of(await live_on(life, plan, after_crash=lambda: spoil_digests(life.store)))


async def spoil_digests(store: SqliteStore) -> None:
    """Make every digest recorded so far another one."""
    spoil = """UPDATE events SET body = replace(body, '"digest":"1:', '"digest":"1:spoilt-')"""
    await store._writes.do(lambda session: session.connection.execute(spoil).rowcount)


def drawn(workflow: str, *kinds: str) -> Callable[[], Awaitable[Book]]:
    """The first play of luck in which all of `kinds` happen."""

    async def first() -> Book:
        plays = (play(workflow, seed) for seed in itertools.count())
        return _of_play(next(troupe for troupe in plays if _kinds_of(troupe).issuperset(kinds)))

    return first


def _kinds_of(troupe: Troupe) -> set[str]:
    return {type(one.event).__name__ for one in troupe.history}


def _of_play(troupe: Troupe) -> Book:
    written = [row_of(one) for one in troupe.history]
    payloads = {digest: content for _, found in written for digest, content in found.items()}
    return Book(known_of(troupe.state), [row for row, _ in written], payloads)


async def _of(life: Life) -> Book:
    return await bound_in(life.store, await load_state(life.store, life.run_id))


SCENARIOS: dict[str, Callable[[], Awaitable[Book]]] = {
    "chat": chat,
    "chat_deployed": chat_deployed,
    "thread_line": thread_line,
    "chat_background": chat_background,
    "chat_shadowed": chat_shadowed,
    "own_workflow": own_workflow,
    "research_full": research_full,
    "research_unknown_outcome": research_unknown_outcome,
    "research_fork": research_fork,
    "research_diverged": research_diverged,
    "research_replanned": drawn("research", "PlanRefused", "Rejected", "ReportWritten", "HookRan"),
    "research_limits": drawn("research", "LimitReached", "LimitsChanged", "ModelFailed"),
    "research_expired": drawn("research", "TicketExpired"),
    "research_voided": drawn("research", "TicketVoided"),
    "research_dropped": drawn("research", "SubtaskDropped"),
    "research_cancelled": drawn("research", "PauseRequested", "ResumeRequested", "CancelRequested"),
    "chat_folded": drawn("chat", "ContextFolded"),
    "chat_recalled": drawn("chat", "RecallRequested", "MemoryRecalled", "RecallFailed"),
    "chat_crowded": drawn("chat", "ContextCrowded", "ContextSummarised"),
    "research_loop": drawn("research", "LoopNoticed"),
}
"""Every golden journal by name, and how one like it is made."""
