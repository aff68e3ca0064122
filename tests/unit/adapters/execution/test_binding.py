"""A tool as a person writes it becomes the tool the engine runs."""

import asyncio
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import pytest

from outlast.adapters.execution.binding import bind
from outlast.adapters.execution.validation import check_arguments
from outlast.domain.errors import CallerMistake, Passing, ToolTrouble
from outlast.domain.tool_call import Effect
from outlast.ports.tool import Ask, BaseTool, Retry, ToolContext, ToolResult, tool
from tests.law import law
from tests.unit.adapters.execution import plain_tools


class SummarizeTool(BaseTool):
    name = "summarize"
    description = "Reduce a long text to its points"
    input_schema = {  # noqa: RUF012 - as the guide writes it
        "type": "object",
        "properties": {"text": {"type": "string"}, "max_points": {"type": "integer", "default": 5}},
        "required": ["text"],
    }

    async def execute(self, text: str, max_points: int = 5) -> ToolResult:
        return ToolResult(success=True, data=text.split()[:max_points])


@law("TOOL-1.a", "TOOL-1.b")
async def test_class_of_the_guide_works_as_written(context: ToolContext) -> None:
    bound = bind(SummarizeTool)
    assert (bound.name, bound.description) == ("summarize", "Reduce a long text to its points")
    assert (bound.effect, bound.is_effect_declared) == (Effect.ONCE, False)
    assert (bound.timeout_seconds, bound.cache_seconds, bound.retry) == (30.0, 300.0, None)
    arguments = check_arguments(bound, {"text": "a b c d e f g"})
    assert isinstance(arguments, dict)
    assert await bound.run(arguments, context) == ToolResult(success=True, data=["a", "b", "c", "d", "e"])


@law("RUN-4.a")
async def test_decorated_function_is_the_same(context: ToolContext) -> None:
    @tool(
        effect="read",
        timeout_seconds=3,
        retry=Retry(max_attempts=2),
        max_concurrent=1,
        exclusive_group="disk",
    )
    async def count(text: str, here: ToolContext) -> dict[str, Any]:
        """Count words."""
        return {"words": len(text.split()), "run": here.run_id}

    bound = bind(count)
    assert (bound.name, bound.description, bound.effect) == ("count", "Count words.", Effect.READ)
    assert (bound.timeout_seconds, bound.retry) == (3.0, Retry(2))
    assert (bound.max_concurrent, bound.exclusive_group) == (1, "disk")
    assert list(bound.input_schema["properties"]) == ["text"]
    assert (await bound.run({"text": "a b"}, context)) == ToolResult(
        success=True, data={"words": 2, "run": "r-1"}
    )


@law("TOOL-3.h")
@pytest.mark.parametrize(
    ("name", "seconds"), [("web_search", 20), ("web_fetch", 20), ("run_code", 60), ("anything", 30)]
)
def test_default_timeout_goes_by_name(name: str, seconds: float) -> None:
    @tool(name=name)
    async def declared() -> None:
        """Nothing."""

    assert bind(declared).timeout_seconds == seconds


async def test_argument_that_execute_does_not_take_is_refused_before_it_runs() -> None:
    error = check_arguments(bind(SummarizeTool), {"text": "t", "style": "short"})
    assert error.problems == ('style: expected no such field (there are: text, max_points), got "short"',)


async def test_timeout_cancels_and_says_so(context: ToolContext) -> None:
    ended = asyncio.Event()

    @tool(timeout_seconds=0.05)
    async def hangs() -> None:
        """Hang."""
        try:
            await asyncio.Event().wait()
        finally:
            ended.set()

    with pytest.raises(Passing, match=r"hangs took longer than 0\.05 seconds") as caught:
        await bind(hangs).run({}, context)
    assert caught.value.code == "timeout"
    assert ended.is_set()


async def test_the_time_of_a_tool_begins_before_it_first_waits(
    context: ToolContext, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Though its clock is set only then: what it computes until then counts, and it may end without any."""
    loop, spent_seconds = asyncio.get_running_loop(), [0.0]
    elapsed_seconds = loop.time
    monkeypatch.setattr(loop, "time", lambda: elapsed_seconds() + sum(spent_seconds))

    @tool(timeout_seconds=600)
    async def computes(waits: bool) -> str:
        """Compute for longer than there is time."""
        spent_seconds.append(601.0)
        if waits:
            await asyncio.Event().wait()
        return "done"

    bound = bind(computes)
    with pytest.raises(Passing, match=r"computes took longer than 600 seconds"):
        await bound.run({"waits": True}, context)
    assert await bound.run({"waits": False}, context) == ToolResult(success=True, data="done")


async def test_arguments_that_do_not_go_with_a_function_are_a_failure_of_the_tool(
    context: ToolContext,
) -> None:
    with pytest.raises(Passing, match="unexpected keyword argument 'style'") as caught:
        await bind(SummarizeTool).run({"text": "t", "style": "short"}, context)
    assert caught.value.code == "tool_failed"


async def test_exception_may_pass_and_trouble_comes_as_it_is(context: ToolContext) -> None:
    @tool
    async def raises(kind: str) -> object:
        """Raise."""
        if kind == "own":
            raise TimeoutError("of its own")
        if kind == "trouble":
            raise ToolTrouble("not_found", "No such page.")
        return Ask("Which?")

    bound = bind(raises)
    with pytest.raises(Passing, match="TimeoutError: of its own") as caught:
        await bound.run({"kind": "own"}, context)
    assert caught.value.code == "tool_failed"
    with pytest.raises(ToolTrouble, match="No such page"):
        await bound.run({"kind": "trouble"}, context)
    assert await bound.run({"kind": "ask"}, context) == Ask("Which?")


async def test_result_that_json_cannot_hold_is_a_failure_that_names_the_place(context: ToolContext) -> None:
    @tool
    async def strange() -> object:
        """Return something strange."""
        return {"a": [1, object()]}

    result = await bind(strange).run({}, context)
    assert isinstance(result, ToolResult)
    assert "$.a[1]" in str(result.error)


def test_version_changes_with_schema_effect_and_code() -> None:
    @tool(name="same")
    async def one() -> int:
        """Same."""
        return 1

    @tool(name="same")
    async def two() -> int:
        """Same."""
        return 2

    @tool(name="same", effect="read")
    async def three() -> int:
        """Same."""
        return 1

    assert bind(one).version == bind(one).version
    assert len({bind(each).version for each in (one, two, three)}) == 3


@dataclass
class NeedsPath(BaseTool):
    """Needs a path."""

    path: str

    async def execute(self) -> str:
        return self.path


class Mismatched(SummarizeTool):
    async def execute(self, text: str) -> ToolResult:
        return ToolResult(success=True)


class Demanding(SummarizeTool):
    async def execute(self, text: str, max_points: int, style: str) -> ToolResult:
        return ToolResult(success=True)


class Empty(BaseTool):
    """Nothing."""


class Listed(SummarizeTool):
    input_schema = {"type": "array"}  # noqa: RUF012 - as users write it


class Nameless(SummarizeTool):
    name = "no spaces please"


class Effective(SummarizeTool):
    effect = "sometimes"


class Instant(SummarizeTool):
    timeout_seconds = 0


@pytest.mark.parametrize(
    ("declared", "words"),
    [
        (NeedsPath, "cannot be made without arguments"),
        (Mismatched, "'max_points'.*does not take"),
        (Demanding, "needs .'style'."),
        (Empty, "defines no execute"),
        (Listed, "of type array"),
        (Nameless, "1 to 64 letters"),
        (Effective, "effect is 'sometimes'"),
        (Instant, "timeout_seconds is 0"),
        (3, "no subclass of BaseTool and no function"),
        (tool(lambda: None), "1 to 64 letters"),
    ],
)
def test_declaration_that_cannot_work_is_refused(declared: object, words: str) -> None:
    with pytest.raises(CallerMistake, match=words) as caught:
        bind(declared)
    assert caught.value.code == "invalid_tool"
    assert caught.value.next_step


async def test_instance_is_a_tool(context: ToolContext) -> None:
    assert (await bind(NeedsPath("here")).run({}, context)) == ToolResult(success=True, data="here")


def test_plain_function_inside_a_function_is_refused() -> None:
    @tool
    def inside() -> int:
        """One."""
        return 1

    with pytest.raises(CallerMistake, match="top of a module"):
        bind(inside)


def test_instance_that_cannot_travel_is_refused() -> None:
    greeting = plain_tools.Greeting()
    greeting.word = lambda: None
    with pytest.raises(CallerMistake, match="cannot be taken to a process"):
        bind(greeting)


@tool(effect="read")
async def counts(text: str) -> int:
    """Count words."""
    return len(text.split())


@tool(effect="read")
async def looks(text: str, context: ToolContext) -> bool:
    """Look whether there is a workspace."""
    return context.workspace.is_dir()


@pytest.mark.parametrize(
    ("in_loop", "arguments", "is_made"),
    [
        (counts, {"text": "a"}, False),
        (looks, {"text": "a"}, True),
        (plain_tools.add, {"a": 1, "b": 2}, False),
    ],
)
async def test_a_workspace_is_made_for_the_tools_that_are_shown_it(
    context: ToolContext, tmp_path: Path, in_loop: Any, arguments: dict[str, Any], is_made: bool
) -> None:
    workspace = tmp_path / "workspaces" / "r-1"
    answer = await bind(in_loop).run(arguments, replace(context, workspace=workspace))
    assert isinstance(answer, ToolResult)
    assert answer.success
    assert workspace.is_dir() is is_made
    if is_made:
        assert answer.data is True


@pytest.mark.parametrize("shown", [looks, plain_tools.describe])
async def test_a_workspace_that_cannot_be_made_is_told_and_the_tool_not_run(
    context: ToolContext, tmp_path: Path, shown: Any
) -> None:
    (tmp_path / "workspaces").write_text("a file in its place")
    without = replace(context, workspace=tmp_path / "workspaces" / "r-1")
    arguments = {"text": "a"} if shown is looks else {"length": {"amount": 1.0}}
    with pytest.raises(ToolTrouble, match="workspaces/r-1") as caught:
        await bind(shown).run(arguments, without)
    assert caught.value.code == "workspace_unavailable"
