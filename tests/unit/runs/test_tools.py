"""Tools: checked before they run, bounded while they run, told afterwards."""

import asyncio
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path
from typing import ClassVar

import pytest

from outlast.adapters.execution.validation import check_arguments
from outlast.adapters.tools.read_artifact import ReadArtifact
from outlast.domain.door import Json
from outlast.domain.events import ToolAnswered, ToolRequested
from outlast.domain.task import Limits
from outlast.domain.tool_call import ToolError
from outlast.ports.queue import Claim
from outlast.ports.tool import BaseTool, Retry, Tool, ToolResult, tool
from outlast.runs.desk import Desk, Lease
from tests.law import law
from tests.unit.runs.parts import ask_for, call, conclude, in_turn, results, roles, say, went_through
from tests.unit.runs.props import once_tool, page
from tests.unit.runs.stage import soon, staged

NOW = datetime(2026, 1, 1, tzinfo=UTC)


class Greet(BaseTool):
    """Greets."""

    name = "greet"
    description = "Greet somebody"
    effect = "read"
    cache_seconds = 0
    input_schema: ClassVar = {
        "type": "object",
        "properties": {"who": {"type": "string"}, "times": {"type": "integer", "default": 2, "minimum": 1}},
        "required": ["who"],
    }

    async def execute(self, who: str, times: int) -> ToolResult:
        return ToolResult(True, f"hello {who} " * times)


async def test_arguments_that_fit_are_looked_at_once_while_they_are_those_of_the_model(
    tmp_path: Path,
) -> None:
    looked: list[dict[str, Json]] = []

    def look(tool: Tool, arguments: dict[str, Json]) -> dict[str, Json] | ToolError:
        looked.append(arguments)
        return check_arguments(tool, arguments)

    async with staged(tmp_path, in_turn(say("done")), Greet) as stage:
        means = replace(stage.means(stage.definition, stage.answering), check_arguments=look)
        claim = Claim("runs", "r-1", 1, NOW, NOW, 1)
        desk = Desk("r-1", "ann", "t-1", stage.store, means, Lease(claim, 0.0, 60.0))
        asked: dict[str, Json] = {"who": "ann", "times": 2}
        desk.fits("c1-0", asked)
        assert desk.checked(stage.tools["greet"], "c1-0", asked) is asked
        assert looked == []
        assert (
            desk.checked(stage.tools["greet"], "c1-0", asked) == asked
        )  # asked for again, perhaps elsewhere
        desk.fits("c2-0", asked)
        edited = desk.checked(stage.tools["greet"], "c2-0", {"whom": "bob"})
        assert isinstance(edited, ToolError)
        assert looked == [asked, {"whom": "bob"}]
        for number in range(1000):
            desk.fits(f"c{number}-1", asked)
        assert len(desk.fitting) <= 256


@law("TOOL-2.a", "TOOL-2.d")
async def test_a_bad_call_is_answered_with_what_is_wrong_and_an_example_and_may_be_mended(
    tmp_path: Path,
) -> None:
    model = in_turn(
        ask_for(call("greet", whom="ann", times="x")), ask_for(call("greet", who="ann")), say("done")
    )
    async with staged(tmp_path, model, Greet) as stage:
        run = await stage.play()
        wrong, right = await stage.outcomes(run)
        assert wrong.error is not None
        assert wrong.error.code == "invalid_arguments"
        problems = " ".join(wrong.error.problems)
        assert "who: expected" in problems
        assert "times: expected" in problems
        assert "got 'x'" in problems or '"x"' in problems
        assert wrong.error.example is not None
        assert "valid_example" in results(stage.requests[1])[0].text
        assert right.shown == "hello ann hello ann "
        asked = stage.requests[2].messages[-2].tool_calls[0]
        assert asked.arguments == {"who": "ann", "times": 2}
        assert (await stage.state(run)).counters.tool_calls == {"greet": 2}


@law("TOOL-2.b")
async def test_a_result_that_does_not_fit_its_schema_is_an_error(tmp_path: Path) -> None:
    @tool(effect="read", output_schema={"type": "object", "required": ["n"]})
    async def count() -> dict[str, int]:
        """Count."""
        return {"m": 1}

    async with staged(tmp_path, in_turn(ask_for(call("count")), say("done")), count) as stage:
        run = await stage.play()
        outcome = (await stage.outcomes(run))[0]
        assert outcome.error is not None
        assert outcome.error.code == "invalid_output"
        assert "n: expected" in outcome.error.problems[0]


@law("TOOL-2.c")
async def test_a_tool_runs_only_after_those_it_must_follow_have_succeeded(tmp_path: Path) -> None:
    model = in_turn(
        ask_for(call("greet", who="ann")),
        ask_for(call("page", url="x")),
        ask_for(call("greet", who="ann")),
        say("done"),
    )
    async with staged(tmp_path, model, Greet, page, after={"greet": ("page",)}) as stage:
        run = await stage.play()
        early, _, late = await stage.outcomes(run)
        assert early.error is not None
        assert early.error.code == "too_early"
        assert "page" in early.error.detail
        assert late.ok


async def test_an_unknown_tool_is_answered_with_those_there_are(tmp_path: Path) -> None:
    async with staged(tmp_path, in_turn(ask_for(call("fly")), say("done")), page) as stage:
        run = await stage.play()
        error = (await stage.outcomes(run))[0].error
        assert error is not None
        assert error.code == "unknown_tool"
        assert "page" in error.detail


@law("TOOL-3.d")
async def test_a_call_out_of_time_is_ended_and_the_model_is_told(tmp_path: Path) -> None:
    ended = asyncio.Event()

    async def forever() -> object:
        try:
            await asyncio.Event().wait()
        finally:
            ended.set()
        return None

    slow = once_tool("slow", forever, effect="once", timeout_seconds=0.05)
    async with staged(tmp_path, in_turn(ask_for(call("slow")), say("done")), slow) as stage:
        run = await stage.play()
        assert ended.is_set()
        error = (await stage.outcomes(run))[0].error
        assert error is not None
        assert error.code == "timeout"
        assert "timeout" in results(stage.requests[1])[0].text


@law("TOOL-3.e", "TOOL-3.f")
@pytest.mark.parametrize(
    ("declared", "tries"),
    [
        ({"effect": "read"}, 3),
        ({"effect": "read", "retry": Retry(max_attempts=2, backoff="none")}, 2),
        ({"effect": "idempotent"}, 3),
        ({"effect": "once", "retry": Retry(max_attempts=5, backoff="none")}, 1),
        ({}, 1),
    ],
)
async def test_a_call_that_raises_is_tried_as_often_as_its_tool_and_effect_allow(
    tmp_path: Path, declared: dict[str, object], tries: int
) -> None:
    count = 0

    async def break_down() -> object:
        nonlocal count
        count += 1
        raise RuntimeError("no luck")

    async with staged(
        tmp_path, in_turn(ask_for(call("shaky")), say("done")), once_tool("shaky", break_down, **declared)
    ) as stage:
        run = await stage.play()
        outcome = (await stage.outcomes(run))[0]
        assert (count, outcome.attempts) == (tries, tries)
        assert "no luck" in outcome.shown


class Crowd:
    """Counts how many calls run at once, and lets none end before as many as possible have begun."""

    def __init__(self, size: int) -> None:
        self.now: list[str] = []
        self.most = 0
        self._size = size
        self._full = asyncio.Event()

    def tool(self, name: str, **declared: object) -> object:
        async def work() -> object:
            self.now.append(name)
            self.most = max(self.most, len(self.now))
            if len(self.now) == self._size:
                self._full.set()
            await soon(self._full)
            for _ in range(5):
                await asyncio.sleep(0)
            self.now.remove(name)
            return "ok"

        return once_tool(name, work, effect="read", cache_seconds=0, **declared)


@law("TOOL-3.a", "TOOL-3.b", "TOOL-3.c")
@pytest.mark.parametrize(
    ("limits", "declared", "most"),
    [
        ({}, {}, 3),
        ({"max_concurrent_tools": 2}, {}, 2),
        ({}, {"max_concurrent": 1}, 1),
        ({}, {"exclusive_group": "g"}, 1),
    ],
)
async def test_calls_run_at_once_up_to_each_bound(
    tmp_path: Path, limits: dict[str, int], declared: dict[str, object], most: int
) -> None:
    crowd = Crowd(most)
    model = in_turn(ask_for(*(call("work") for _ in range(6))), say("done"))
    async with staged(tmp_path, model, crowd.tool("work", **declared), **limits) as stage:
        run = await stage.play()
        assert crowd.most == most
        assert [outcome.ok for outcome in await stage.outcomes(run)] == [True] * 6


@law("TOOL-3.c")
async def test_bounds_hold_over_all_conversations_also_when_they_go_on_together(tmp_path: Path) -> None:
    """Three executors ask in the same moment, as after a restart."""
    crowd = Crowd(1)
    model = roles(execute=in_turn(ask_for(call("work"), call("other")), conclude("It is so.")))
    one, other = crowd.tool("work", exclusive_group="g"), crowd.tool("other", exclusive_group="g")
    async with staged(tmp_path, model, one, other, workflow="research") as stage:
        run = await stage.play()
        assert crowd.most == 1
        assert len(await stage.events(run, ToolRequested)) == 7
        assert went_through(await stage.state(run))


@law("RUN-6.h")
async def test_a_tool_is_called_as_often_as_its_limit_allows_and_the_model_is_told(tmp_path: Path) -> None:
    model = in_turn(ask_for(*(call("page", url=f"http://{n}") for n in range(4))), say("done"))
    async with staged(tmp_path, model, page, limits=Limits(tool_calls={"page": 2})) as stage:
        run = await stage.play()
        codes = [outcome.error.code if outcome.error else "ok" for outcome in await stage.outcomes(run)]
        assert sorted(codes) == ["limit_reached", "limit_reached", "ok", "ok"]


@law("TOOL-6.a")
async def test_the_same_read_is_answered_from_before_with_a_note_outside_the_fence(tmp_path: Path) -> None:
    count = 0

    @tool(effect="read", cache_seconds=300)
    async def clock() -> str:
        """Tell the time."""
        nonlocal count
        count += 1
        return f"tick {count}"

    async with staged(
        tmp_path, in_turn(ask_for(call("clock")), ask_for(call("clock")), say("done")), clock
    ) as stage:
        run = await stage.play()
        assert count == 1
        first, second = await stage.outcomes(run)
        assert (second.shown, second.cached_from) == (
            first.shown,
            (await stage.events(run, ToolAnswered))[0].call,
        )
        shown = results(stage.requests[2])[1].text
        assert shown.rpartition(">>")[2].strip().startswith("[This is the result of the same call made at 20")


@law("TOOL-6.b")
async def test_errors_are_never_given_again(tmp_path: Path) -> None:
    count = 0

    @tool(effect="read", cache_seconds=300, retry=Retry(max_attempts=1))
    async def shaky() -> ToolResult:
        """Fail once."""
        nonlocal count
        count += 1
        return ToolResult(count > 1, "fine", error="not yet")

    model = in_turn(ask_for(call("shaky")), ask_for(call("shaky")), ask_for(call("shaky")), say("done"))
    async with staged(tmp_path, model, shaky) as stage:
        run = await stage.play()
        assert [outcome.ok for outcome in await stage.outcomes(run)] == [False, True, True]
        assert count == 2


@law("TOOL-4.a", "TOOL-4.b")
async def test_large_output_is_cut_and_can_be_read_on(tmp_path: Path) -> None:
    @tool(effect="read")
    async def novel() -> str:
        """Tell a long story."""
        return "HEAD " + "x" * 60_000 + " MIDDLE " + "y" * 60_000 + " TAIL"

    def model(request):
        came = results(request)
        if not came:
            return ask_for(call("novel"))
        if len(came) == 1:
            digest = came[0].text.partition('digest="')[2].partition('"')[0]
            return ask_for(call("read_artifact", digest=digest, offset=60_000, limit=100))
        return say("done")

    async with staged(tmp_path, model, novel, ReadArtifact) as stage:
        run = await stage.play()
        cut, rest = await stage.outcomes(run)
        assert cut.shown.startswith("HEAD")
        assert cut.shown.endswith("TAIL")
        assert str(cut.size_bytes) in cut.shown
        assert len(cut.shown.encode()) <= 20_000
        assert rest.ok
        assert "MIDDLE" in rest.shown


async def test_g07_12_the_order_of_results_is_that_of_the_calls_not_of_their_ends(tmp_path: Path) -> None:
    first_may_end = asyncio.Event()

    async def late() -> object:
        await soon(first_may_end)
        return "late"

    async def early() -> object:
        first_may_end.set()
        return "early"

    model = in_turn(ask_for(call("late"), call("early")), say("done"))
    tools = once_tool("late", late, effect="read"), once_tool("early", early, effect="read")
    async with staged(tmp_path, model, *tools) as stage:
        run = await stage.play()
        assert [outcome.shown for outcome in await stage.outcomes(run)] == ["early", "late"]
        shown = [message.text.splitlines()[1] for message in results(stage.requests[1])]
        assert shown == ["late", "early"]
