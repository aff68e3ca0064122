"""Whatever text a model or a tool brings forth is kept as it is, mended at the door, or refused in words."""

from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from outlast.domain.commands import Command, Record
from outlast.domain.events import ModelAnswered, ToolAnswered, ValueSet
from outlast.domain.run import RunState
from outlast.domain.source import Found
from outlast.domain.states import State
from outlast.domain.tool_call import ToolCall
from outlast.ports.tool import Ask, Draft, ReadSource, ToolResult, tool
from outlast.runs.moves import enter, set_value
from tests.law import law
from tests.unit.runs.parts import ask_for, call, conclude, in_turn, roles, say, went_through
from tests.unit.runs.props import page
from tests.unit.runs.stage import staged

LONE = "ok \ud83d"


def returning(data: Any) -> object:
    @tool(effect="read", name="fetch_data", retry=None)
    async def fetch_data() -> Any:
        """Return data."""
        return data

    return fetch_data


@law("STORE-4.a")
@pytest.mark.parametrize(
    ("said", "kept"),
    [
        (LONE, "ok \ufffd"),
        ("nul \x00 here", "nul \x00 here"),
        ("\u2028\u202e\U0001f600", "\u2028\u202e\U0001f600"),
    ],
)
async def test_g07_05_a_run_ends_normally_whatever_the_model_says(
    tmp_path: Path, said: str, kept: str
) -> None:
    async with staged(tmp_path, in_turn(say(said, reasoning=said))) as stage:
        run = await stage.play(f"tell me {said}")
        answered = (await stage.events(run, ModelAnswered))[0]
        assert (await stage.state(run)).outcome == "full"
        assert (answered.text, answered.reasoning) == (kept, kept)
        assert bool(answered.repairs) == (said != kept)


@law("STORE-4.a")
@pytest.mark.parametrize("said", [LONE, "nul \x00 here"])
async def test_text_of_tools_is_kept_or_mended_wherever_it_stands(tmp_path: Path, said: str) -> None:
    @tool(effect="read")
    async def wild() -> ToolResult:
        """Return hostile text everywhere."""
        found = [Found(f"http://x/{said}", said, said)]
        return ToolResult(True, said, found=found, read=[ReadSource(f"http://x/{said}", said, said, said)])

    async with staged(tmp_path, in_turn(ask_for(call("wild")), say("done")), wild) as stage:
        run = await stage.play()
        outcome = (await stage.outcomes(run))[0]
        assert outcome.ok
        assert (await stage.state(run)).outcome == "full"


DEEP: Any = 1
for _ in range(3000):
    DEEP = [DEEP]


@law("STORE-4.a")
@pytest.mark.parametrize("data", [10**400, float("nan"), {"deep": DEEP}, {1: "one"}, b"\xff\x00"])
async def test_g07_11_data_that_cannot_be_kept_is_told_as_an_error_or_as_text(
    tmp_path: Path, data: Any
) -> None:
    async with staged(tmp_path, in_turn(ask_for(call("fetch_data")), say("done")), returning(data)) as stage:
        run = await stage.play()
        outcome = (await stage.outcomes(run))[0]
        assert (await stage.state(run)).outcome == "full"
        assert outcome.ok or (outcome.error is not None and outcome.error.detail)


@law("STORE-4.a")
async def test_g07_11_what_the_model_sees_is_what_is_kept(tmp_path: Path) -> None:
    data = {"at": datetime(2026, 1, 2, tzinfo=UTC), "ids": (1, 2), "tags": {"x"}}
    async with staged(tmp_path, in_turn(ask_for(call("fetch_data")), say("done")), returning(data)) as stage:
        run = await stage.play()
        shown = (await stage.outcomes(run))[0].shown
        assert shown == '{"at": "2026-01-02T00:00:00+00:00", "ids": [1, 2], "tags": ["x"]}'
        assert shown in stage.requests[-1].messages[-1].text


@pytest.mark.parametrize(
    "returned",
    [
        ToolResult(True, "x", found=["no"]),  # type: ignore[list-item]
        ToolResult(True, "x", read=[ReadSource(1, None, b"")]),  # type: ignore[arg-type]
        Draft({"sections": {1, 2}}),  # type: ignore[dict-item]
        Draft({"sections": [{"heading": LONE, "claims": [{"text": LONE}]}]}),
        Ask(LONE),
    ],
)
async def test_a_tool_that_returns_nonsense_never_raises_out_of_the_loop(
    tmp_path: Path, returned: Any
) -> None:
    async with staged(
        tmp_path, in_turn(ask_for(call("fetch_data")), say("done")), returning(returned)
    ) as stage:
        run = await stage.play()
        assert (await stage.state(run)).state in ("COMPLETED", "WAITING")


@law("STORE-4.a")
@pytest.mark.parametrize(
    "arguments", [{"url": LONE}, {"url": 10**400}, {"url": float("inf")}, {LONE: 1}, {"url": ("a", "b")}]
)
async def test_arguments_of_any_kind_end_in_a_result(tmp_path: Path, arguments: dict[str, Any]) -> None:
    wild = ToolCall(LONE, "page", arguments, raw=LONE)
    async with staged(tmp_path, in_turn(ask_for(wild, ToolCall("x", LONE)), say("done")), page) as stage:
        run = await stage.play()
        assert (await stage.state(run)).outcome == "full"
        assert len(await stage.events(run, ToolAnswered)) == 2


@law("STORE-4.a")
async def test_hostile_forms_of_research_end_in_a_report(tmp_path: Path) -> None:
    claim = {"claim": f"claim {LONE} \x00", "sources": [LONE, "s-0"], "quote": LONE}
    model = roles(execute=conclude(claim, open_questions=[LONE]))
    async with staged(tmp_path, model, workflow="research") as stage:
        run = await stage.play(LONE)
        assert went_through(await stage.state(run))


@law("RUN-2.e")
@pytest.mark.parametrize(
    "value", [{1, 2}, (1, 2), b"x", datetime(2026, 1, 1, tzinfo=UTC), float("nan"), {1: 2}]
)
async def test_values_of_a_workflow_that_cannot_be_kept_are_refused_when_set(
    tmp_path: Path, value: Any
) -> None:
    def decide(state: RunState, now: datetime) -> list[Command]:
        if state.state is State.INIT:
            return [enter(state, State.EXECUTING)]
        if "good" not in state.values:
            return [set_value("good", {"a": [1, "x", None]})]
        return [Record(ValueSet("bad", value))] if "bad" not in state.values else []

    async with staged(tmp_path, in_turn(say("x")), decide=decide) as stage:
        run = await stage.play()
        state = await stage.state(run)
        assert state.values == {"good": {"a": [1, "x", None]}}
        assert state.state == "FAILED"
        assert state.failure is not None
        assert state.failure.code == "not_storable"
        with pytest.raises(Exception, match="cannot be stored"):
            set_value("bad", value)
