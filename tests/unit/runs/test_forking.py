"""A fork: a copy of a run up to one of its events that goes its own way."""

import dataclasses
import hashlib
import itertools
from pathlib import Path
from typing import Any

import pytest

from outlast.adapters.tools.ask_human import AskHuman
from outlast.domain.errors import CallerMistake, Conflict, ModelCallFailed, NotFound
from outlast.domain.events import (
    ApprovalAsked,
    FoldDiverged,
    LimitsChanged,
    ModelAnswered,
    RunForked,
    ToolRequested,
    ToolUnsettled,
)
from outlast.domain.states import State
from outlast.domain.task import ApprovalRule, Limits, RoleSettings
from outlast.journal.thread import read_thread_words
from outlast.ports.provider import ModelAnswer, ModelRequest
from outlast.ports.tool import ToolContext, tool
from outlast.service import signals
from outlast.service.fork import Branching, fork_run
from tests.law import law
from tests.unit.runs.parts import ask_for, call, conclude, in_turn, results, roles, say, went_through
from tests.unit.runs.props import page
from tests.unit.runs.stage import Stage, staged

_numbers = itertools.count(1)


async def fork(stage: Stage, run: str, at: int, **more: Any) -> str:
    random = hashlib.sha512(b"fork %d" % next(_numbers)).digest()
    begun = await fork_run(stage.store, Branching(run_id=run, at=at, random=random, **more))
    return begun.run_id


async def position_of(stage: Stage, run: str, kind: type[Any], which: int = 0) -> int:
    return [one.position for one in await stage.history(run) if isinstance(one.event, kind)][which]


def two_pages(request: ModelRequest) -> ModelAnswer:
    """Reads two pages, one after the other."""
    read = len(results(request))
    return ask_for(call("page", url=f"http://{'ab'[read]}")) if read < 2 else say("done")


def one_page(request: ModelRequest) -> ModelAnswer:
    """Reads a page, then concludes."""
    return conclude("So it is.") if results(request) else ask_for(call("page", url="http://a"))


@law("RUN-9.a", "RUN-9.h", "RUN-9.g")
async def test_a_fork_goes_on_from_its_event_in_a_thread_of_its_own(tmp_path: Path) -> None:
    async with staged(tmp_path, two_pages, page) as stage:
        stage.answering = in_turn(say("earlier answer"))
        await stage.play("earlier", thread_id="t-1")
        stage.answering = two_pages
        run = await stage.play("question", thread_id="t-1")
        before = await stage.history(run)
        at = await position_of(stage, run, ModelAnswered, 1)
        made = await fork(stage, run, at)
        state = await stage.state(made)
        assert (state.counters.steps, state.counters.tool_calls) == (2, {"page": 1})
        assert state.thread_id != "t-1"
        await stage.work(made)
        state = await stage.state(made)
        assert (state.outcome, state.counters.steps) == ("full", 3)
        assert [one.event for one in (await stage.history(made))[:at]] == [one.event for one in before[:at]]
        assert await stage.history(run) == before
        words = [(said.speaker, said.text) for said in await read_thread_words(stage.store, state.thread_id)]
        assert words == [
            ("user", "earlier"),
            ("assistant", "earlier answer"),
            ("user", "question"),
            ("assistant", "done"),
        ]
        heard = [message.text for message in stage.requests[-1].messages]
        assert "earlier answer" in heard


async def test_a_fork_folds_to_the_digests_of_its_original(tmp_path: Path) -> None:
    async with staged(tmp_path, two_pages, page) as stage:
        run = await stage.play()
        made = await fork(stage, run, await position_of(stage, run, ModelAnswered, 1))
        await stage.work(made)
        assert not await stage.events(made, FoldDiverged)


@law("RUN-9.b")
async def test_a_fork_reads_the_payloads_of_its_original(tmp_path: Path) -> None:
    long = "word " * 5000
    async with staged(
        tmp_path, in_turn(ask_for(call("page", url="http://a"), text=long), say("done")), page
    ) as stage:
        run = await stage.play(long)
        made = await fork(stage, run, await position_of(stage, run, ModelAnswered))
        await stage.work(made)
        assert (await stage.state(made)).outcome == "full"
        assert stage.requests[-1].messages[2].text == long


@law("RUN-9.a")
async def test_a_fork_may_differ_in_its_settings_also_by_long_ones(tmp_path: Path) -> None:
    async with staged(tmp_path, in_turn(ask_for(call("page", url="http://a")), say("done")), page) as stage:
        run = await stage.play()
        roles = {"chat": RoleSettings(model="other", prompt="p" * 20_000)}
        changed = dataclasses.replace(stage.definition, roles=roles, limits=Limits(max_steps=2))
        at = await position_of(stage, run, ModelAnswered)
        made = await fork(stage, run, at, definition=changed, changes={"roles.chat.model": "other"})
        await stage.work(made)
        assert stage.requests[-1].model == "other"
        assert (await stage.state(made)).limits.max_steps == 2
        assert (await stage.events(made, RunForked))[0].changes == {"roles.chat.model": "other"}


async def test_limits_a_person_had_changed_hold_in_the_fork(tmp_path: Path) -> None:
    async with staged(
        tmp_path, in_turn(ask_for(call("ask_human", question="?")), say("done")), AskHuman
    ) as stage:
        run = await stage.play()
        await signals.set_limits(stage.store, run, "ann", {"max_steps": 77})
        made = await fork(stage, run, await position_of(stage, run, LimitsChanged))
        assert (await stage.state(made)).limits.max_steps == 77


@law("RUN-9.c", "RUN-9.d")
@pytest.mark.parametrize(("effect", "is_repeated"), [("read", True), ("idempotent", False), ("once", False)])
async def test_calls_that_were_open_are_repeated_when_they_read_and_unknown_else(
    tmp_path: Path, effect: str, is_repeated: bool
) -> None:
    keys: list[str] = []

    @tool(effect=effect, cache_seconds=0)
    async def work(context: ToolContext) -> str:
        """Work."""
        keys.append(context.idempotency_key)
        return "worked"

    async with staged(tmp_path, in_turn(ask_for(call("work")), say("done")), work) as stage:
        run = await stage.play()
        made = await fork(stage, run, await position_of(stage, run, ToolRequested))
        await stage.work(made)
        state = await stage.state(made)
        assert len(keys) == (2 if is_repeated else 1)
        assert len(set(keys)) == len(keys)
        assert bool(await stage.events(made, ToolUnsettled)) != is_repeated
        assert state.state == ("COMPLETED" if is_repeated else "WAITING")


@law("RUN-9.e")
async def test_tickets_are_void_in_a_fork_and_asked_for_anew(tmp_path: Path) -> None:
    model = in_turn(ask_for(call("page", url="http://a")), say("done"))
    async with staged(tmp_path, model, page, approvals=(ApprovalRule(tool="page"),)) as stage:
        run = await stage.play()
        old = (await stage.events(run, ApprovalAsked))[0].ticket
        made = await fork(stage, run, await position_of(stage, run, ApprovalAsked))
        with pytest.raises((Conflict, NotFound)):
            await signals.approve(stage.store, made, "ann", old)
        await stage.work(made)
        new = (await stage.state(made)).open_tickets()[0].id
        assert new != old
        await signals.approve(stage.store, run, "ann", old)
        assert (await stage.state(made)).tickets[new].status == "open"


async def test_a_call_that_could_not_be_read_does_not_run_in_a_fork_from_between(tmp_path: Path) -> None:
    ran: list[str] = []

    @tool(effect="read")
    async def work(what: str = "all") -> str:
        """Work."""
        ran.append(what)
        return "worked"

    cut = ask_for(call("work", what="hal"), text="")
    model = in_turn(dataclasses.replace(cut, finish="length"), say("done"))
    async with staged(tmp_path, model, work) as stage:
        run = await stage.play()
        made = await fork(stage, run, await position_of(stage, run, ModelAnswered))
        await stage.work(made)
        assert (await stage.state(made)).outcome == "full"
        assert ran == []
        assert "cut off" in results(stage.requests[-1])[0].text


async def test_a_fork_of_a_failed_run_stands_failed_until_it_is_resumed(tmp_path: Path) -> None:
    def model(request: ModelRequest) -> None:
        raise ModelCallFailed("auth", "no key")

    async with staged(tmp_path, model) as stage:
        run = await stage.play()
        made = await fork(stage, run, (await stage.state(run)).position)
        row = await stage.store.read_run(made)
        assert row is not None
        assert (row.state, row.is_active) == ("FAILED", False)
        stage.answering = in_turn(say("done"))
        await signals.resume(stage.store, made, "ann")
        await stage.work(made)
        assert (await stage.state(made)).outcome == "full"
        assert (await stage.state(run)).state == "FAILED"


async def test_a_fork_can_be_forked(tmp_path: Path) -> None:
    async with staged(tmp_path, two_pages, page) as stage:
        run = await stage.play("question")
        first = await fork(stage, run, await position_of(stage, run, ModelAnswered, 1))
        await stage.work(first)
        second = await fork(stage, first, await position_of(stage, first, RunForked))
        await stage.work(second)
        assert (await stage.state(second)).outcome == "full"
        assert len(await stage.events(second, RunForked)) == 2


async def test_a_fork_from_nowhere_or_after_the_end_is_refused(tmp_path: Path) -> None:
    async with staged(tmp_path, in_turn(say("done"))) as stage:
        run = await stage.play()
        head = (await stage.state(run)).position
        with pytest.raises(CallerMistake, match=f"events 1 to {head}"):
            await fork(stage, run, head + 1)
        with pytest.raises(CallerMistake):
            await fork(stage, run, 0)
        with pytest.raises(Conflict, match="had ended"):
            await fork(stage, run, head)
        with pytest.raises(NotFound):
            await fork(stage, "r-none", 1)
        with pytest.raises(NotFound):
            await fork(stage, run, 1, user_id="somebody-else")


@law("RUN-9.a")
async def test_a_research_may_be_forked_at_each_of_its_events_and_every_fork_comes_to_the_end(
    tmp_path: Path,
) -> None:
    async with staged(tmp_path, roles(execute=one_page), page, workflow="research") as stage:
        run = await stage.play()
        history = await stage.history(run)
        last = next(one.position for one in history if getattr(one.event, "target", None) is State.COMPLETED)
        for at in range(1, last):
            made = await fork(stage, run, at)
            await stage.work(made)
            if (
                await stage.state(made)
            ).open_questions():  # the call that hands the report in is not known to have run
                await signals.answer(stage.store, made, "ann", "run it again")
                await stage.work(made)
            assert went_through(await stage.state(made)), f"forked at {at}"
