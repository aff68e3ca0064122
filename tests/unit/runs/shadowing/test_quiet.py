"""What a variant is kept from: nothing of it has an effect, also where a worker dies."""

from pathlib import Path

import pytest

from outlast.adapters.stores.sqlite import SqliteStore
from outlast.adapters.tools.ask_human import AskHuman
from outlast.domain.door import digest_of
from outlast.domain.shadow import Verdict
from outlast.ports.provider import ModelAnswer, ModelRequest
from outlast.ports.tool import ToolContext, ToolResult, tool
from outlast.runs.shadowing.aftermath import Aftermath
from outlast.testing.faults import Crash
from tests.law import law
from tests.patience import PATIENCE_SECONDS
from tests.unit.runs.parts import ask_for, call, in_turn, say
from tests.unit.runs.props import SENT, mail
from tests.unit.runs.shadowing.shade import shaded

READS = in_turn(ask_for(call("page", url="http://a")), say("Read it."))


@law("SEE-4.b")
async def test_a_tool_with_an_effect_is_not_run_for_the_variant_but_told_with_its_arguments(
    tmp_path: Path,
) -> None:
    SENT.clear()
    asks = in_turn(ask_for(call("mail", to="ann")), say("Sent."))
    async with shaded(tmp_path, asks, mail) as shade:
        shade.cast("config")
        run = await shade.play()
        [told] = [one for one in await shade.compared(run) if one.verdict is Verdict.SUPPRESSED]
        assert (told.arguments, told.code) == ({"to": "ann"}, "suppressed")
        assert SENT == ["ann"], "once, for the run itself"


@law("SEE-4.b")
async def test_a_tool_that_runs_beside_nothing_does_not_run_beside_itself(tmp_path: Path) -> None:
    calls: list[str] = []

    @tool(name="page", effect="read", cache_seconds=0, exclusive_group="the only one")
    async def alone(url: str) -> str:
        """Read a page alone."""
        calls.append(url)
        return url

    async with shaded(tmp_path, READS, alone) as shade:
        shade.cast("tool:page")
        [told] = await shade.compared(await shade.play())
        assert (told.verdict, calls) == (Verdict.SUPPRESSED, ["http://a"])


@law("SEE-4.b")
async def test_a_tool_that_asks_a_person_asks_nobody_for_the_variant(tmp_path: Path) -> None:
    async with shaded(
        tmp_path, in_turn(ask_for(call("ask_human", question="Which?")), say("So.")), AskHuman
    ) as shade:
        shade.cast("config")
        run = await shade.play()
        assert list((await shade.stage.state(run)).questions) == ["q-c5-0-1"]
        told = [one for one in await shade.compared(run) if one.call == "c5-0"]
        assert [(one.verdict, one.detail) for one in told] == [
            (Verdict.SUPPRESSED, "It would have asked: Which?")
        ]


@law("SEE-4.b")
async def test_a_reading_tool_is_given_nothing_it_could_change_anything_with(tmp_path: Path) -> None:
    given: list[ToolContext] = []

    @tool(name="page", effect="read", cache_seconds=0)
    async def keeps(url: str, context: ToolContext) -> ToolResult:
        """Read a page and keep something."""
        given.append(context)
        await context.artifacts.put(f"kept by {context.idempotency_key}")
        return ToolResult(True, url)

    async with shaded(tmp_path, READS, keeps) as shade:
        shade.cast("tool:page")
        run = await shade.play()
        own, other = given
        assert own.mates is not None
        assert (other.mates, other.background) == (None, None)
        assert own.idempotency_key != other.idempotency_key
        kept = [await own.artifacts.get(digest_of(f"kept by {context.idempotency_key}")) for context in given]
        assert kept == [f"kept by {own.idempotency_key}".encode(), None]
        assert [one.verdict for one in await shade.compared(run)] == [Verdict.AGREED]


@law("SEE-4.b", "SEE-4.c")
async def test_a_crash_in_the_midst_loses_comparisons_and_repeats_no_effect(tmp_path: Path) -> None:
    SENT.clear()
    crashes = [Crash]

    def answering(request: ModelRequest) -> ModelAnswer:
        sent = sum(message.speaker == "tool" for message in request.messages)
        if sent == 1 and crashes:
            raise crashes.pop()
        return ask_for(call("mail", to=f"{sent}")) if sent < 2 else say("Sent.")

    async with shaded(tmp_path, answering, mail) as shade:
        shade.cast("config")
        run = await shade.stage.start()
        with pytest.raises(Crash):
            await shade.stage.work(run)
        await shade.aftermath.close()
        shade.aftermath = Aftermath()
        shade.cast("config")
        assert isinstance(shade.stage.store, SqliteStore)
        await shade.stage.store.expire_lease("runs", run)
        await shade.stage.work(run)
        await shade.aftermath.settle(PATIENCE_SECONDS)
        assert (await shade.stage.state(run)).outcome == "full"
        assert SENT == ["0", "1"]
        told = [one.call for one in await shade.compared(run)]
        assert len(told) == len(set(told))
