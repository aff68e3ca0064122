"""Going round in circles is noticed, and what makes progress is left alone."""

from pathlib import Path
from typing import Any

import pytest

from outlast.domain.events import LoopNoticed, PlanRefused, ToolRequested
from outlast.domain.task import Limits
from outlast.ports.provider import ModelAnswer, ModelRequest
from outlast.ports.tool import tool
from tests.law import law
from tests.unit.runs.parts import ask_for, call, conclude, plan, results, roles, say, subtask, turn
from tests.unit.runs.stage import Stage, staged


def lines(first: int, last: int) -> str:
    return "\n".join(f"{number}: the text of line {number}" for number in range(first, last + 1))


@tool(effect="read", cache_seconds=0)
async def read_file(path: str, start: int = 1, end: int = 40, description: str = "") -> str:
    """Read lines of a file of 300 lines."""
    return lines(start, min(end, 300))


def asking(*calls: Any, then: str = "done") -> Any:
    """A model that asks for one call a turn, as long as it may."""

    def model(request: ModelRequest) -> ModelAnswer:
        if turn(request) < len(calls) and request.tools:
            return ask_for(calls[turn(request)])
        return say(then)

    return model


async def noticed(stage: Stage, run: str) -> list[str]:
    return [event.action for event in await stage.events(run, LoopNoticed)]


@law("TOOL-5.e")
async def test_g04_01_reading_consecutive_pages_is_no_loop(tmp_path: Path) -> None:
    pages = [call("read_file", path="p", start=start, end=start + 39) for start in range(1, 201, 40)]
    async with staged(tmp_path, asking(*pages), read_file) as stage:
        run = await stage.play()
        assert await noticed(stage, run) == []
        assert (await stage.state(run)).outcome == "full"


@law("TOOL-5.d", "TOOL-5.f")
async def test_g04_02_a_growing_range_of_an_unchanged_file_is_a_loop(tmp_path: Path) -> None:
    grown = [call("read_file", path="p", end=220 + 40 * n, description=f"again {n}") for n in range(12)]
    async with staged(tmp_path, asking(*grown), read_file) as stage:
        run = await stage.play()
        actions = await noticed(stage, run)
        assert actions[:1] == ["steer"]
        before = [type(event).__name__ for event in await stage.events(run, ToolRequested, LoopNoticed)]
        assert before.index("LoopNoticed") <= 6
        assert "stop" in actions


@law("TOOL-5.d")
async def test_remarks_do_not_make_a_call_another(tmp_path: Path) -> None:
    same = [call("read_file", path="p", description=f"try {n}") for n in range(3)]
    async with staged(tmp_path, asking(*same), read_file) as stage:
        run = await stage.play()
        assert await noticed(stage, run) == ["steer"]


@law("TOOL-5.e", "TOOL-5.b")
@pytest.mark.parametrize(("percents", "actions"), [(range(10, 130, 10), []), ([10] * 12, ["steer", "stop"])])
async def test_g04_04_polling_is_a_loop_only_when_nothing_changes(
    tmp_path: Path, percents: Any, actions: list[str]
) -> None:
    left = list(percents)

    @tool(effect="read", cache_seconds=0)
    async def job_status(job: str) -> str:
        """Say how far a job is."""
        return f"{left.pop(0)}%"

    async with staged(tmp_path, asking(*[call("job_status", job="j1")] * 12), job_status) as stage:
        run = await stage.play()
        assert await noticed(stage, run) == actions


@law("TOOL-5.c")
@pytest.mark.parametrize("period", [2, 3, 4, 5])
async def test_g04_05_cycles_are_found_after_three_rounds(tmp_path: Path, period: int) -> None:
    @tool(effect="once")
    async def write(path: str, value: str) -> str:
        """Write."""
        return "ok"

    cycle = [
        call("read_file", path="x"),
        *(call("write", path="x", value=f"v{n}") for n in range(period - 1)),
    ]
    async with staged(tmp_path, asking(*cycle * 4), read_file, write, limits=Limits(max_steps=99)) as stage:
        run = await stage.play()
        kinds = [type(event).__name__ for event in await stage.events(run, ToolRequested, LoopNoticed)]
        assert kinds.index("LoopNoticed") == 3 * period


@law("TOOL-5.b")
async def test_results_given_again_from_before_count_as_repeats(tmp_path: Path) -> None:
    @tool(effect="read", cache_seconds=300)
    async def fact() -> str:
        """Tell a fact."""
        return "It is so."

    async with staged(tmp_path, asking(*[call("fact")] * 3), fact) as stage:
        run = await stage.play()
        assert await noticed(stage, run) == ["steer"]


@law("TOOL-5.a")
async def test_repeats_are_counted_over_a_restart(tmp_path: Path) -> None:
    async with staged(tmp_path, asking(*[call("read_file", path="p")] * 3), read_file) as stage:
        worker = stage.worker("first")

        class Stop(Exception):
            """The worker dies."""

        usual = stage.answering

        def dying(request: ModelRequest) -> ModelAnswer:
            if turn(request) == 2:
                raise Stop
            return usual(request)  # type: ignore[return-value]

        run = await stage.start()
        stage.answering = dying
        with pytest.raises(Stop):
            await worker.work_on(run)
        stage.answering = usual
        entry = await stage.store.read_entry("runs", run)
        assert entry is not None
        await stage.worker("second").work_on(run, evict=entry.generation)
        assert await noticed(stage, run) == ["steer"]


@law("TOOL-5.f")
async def test_first_a_note_then_an_end_of_calls_then_a_partial_answer(tmp_path: Path) -> None:
    async with staged(
        tmp_path, asking(*[call("read_file", path="p")] * 20, then="What I have."), read_file
    ) as stage:
        run = await stage.play()
        assert await noticed(stage, run) == ["steer", "stop"]
        state = await stage.state(run)
        assert (state.state, state.outcome) == ("COMPLETED", "partial")
        notes = [message.text for message in stage.requests[-1].messages if message.speaker == "user"]
        assert any("round in circles" in note for note in notes)
        assert any("No further tool calls" in note for note in notes)
        assert stage.requests[-1].tools == ()
        assert len(results(stage.requests[-1])) == 6


@law("TOOL-5.f")
async def test_a_subtask_stopped_without_a_conclusion_is_planned_around_and_then_left_out(
    tmp_path: Path,
) -> None:
    made = 0

    def planner(request: ModelRequest) -> ModelAnswer:
        nonlocal made
        made += 1
        return plan(subtask("s1", f"Circle {made}?"), subtask("s2"), subtask("s3"))

    def work(request: ModelRequest) -> ModelAnswer:
        if "Circle" not in request.messages[1].text:
            return conclude("It is so.")
        return ask_for(call("read_file", path="p")) if request.tools else conclude()

    model = roles(plan=planner, execute=work)
    async with staged(
        tmp_path, model, read_file, workflow="research", limits=Limits(max_steps=99, max_replans=1)
    ) as stage:
        run = await stage.play()
        state = await stage.state(run)
        assert (state.state, state.outcome) == ("COMPLETED", "partial")
        assert made == 2
        assert "went round in circles" in (await stage.events(run, PlanRefused))[0].reasons[0]
        assert str(state.subtask("s1").progress) == "dropped"
