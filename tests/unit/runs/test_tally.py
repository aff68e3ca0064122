"""The tally of a run: what was used and how it went, by model, tool, role and subtask."""

import json
from collections.abc import Sequence
from pathlib import Path

import pytest

from outlast.domain.events import (
    BranchOpened,
    LimitReached,
    LoopNoticed,
    ModelAnswered,
    ModelFailed,
    ModelRequested,
    Recorded,
    RunForked,
    ToolAnswered,
)
from outlast.domain.tool_call import ToolCall, ToolError, ToolOutcome
from outlast.journal.history import recorded_from
from outlast.runs.readings import read_all
from outlast.runs.tally import MOST_NAMES, OTHERS, UNKNOWN_TOOL, Tally, as_plain, tally_in
from tests.golden.book import paths, read
from tests.unit.runs.troupe import BEGAN_AT


def tallied(*events: object, before: Tally | None = None) -> Tally:
    tally = before or Tally()
    for event in events:
        tally.fold(Recorded(tally.position + 1, BEGAN_AT, event))  # type: ignore[arg-type]
    return tally


def asked(call: str, branch: str = "main", model: str = "big", **more: object) -> ModelRequested:
    return ModelRequested(
        call=call, branch=branch, purpose="chat", role="executor", model=model, generation=1, **more
    )  # type: ignore[arg-type]


def refused(code: str) -> ToolOutcome:
    return ToolOutcome(False, "no", ToolError(code, "no"), duration_ms=3)


def steps_of(calls: Sequence[ToolCall]) -> list[object]:
    return [asked("m1"), ModelAnswered(call="m1", text="", tool_calls=tuple(calls), input_tokens=10)]


@pytest.mark.parametrize("path", paths(), ids=lambda path: path.stem)
def test_a_tally_has_the_sums_that_the_state_of_the_run_has(path: Path) -> None:
    book = read(path)
    history = recorded_from(book.rows, book.payloads)
    if not history or any(isinstance(one.event, RunForked) for one in history):
        return
    readings = read_all(book.known["run_id"], history, lambda messages, tools: 1)
    counters, total = readings.state.counters, readings.tally.total()
    assert (total.steps, total.tokens) == (counters.steps, counters.tokens)
    assert total.cost_usd == pytest.approx(counters.cost_usd)


@pytest.mark.parametrize("path", paths(), ids=lambda path: path.stem)
def test_a_tally_goes_on_from_where_it_was_kept(path: Path) -> None:
    book = read(path)
    history = recorded_from(book.rows, book.payloads)
    whole = Tally()
    for recorded in history:
        whole.fold(recorded)
    for cut in {1, len(history) // 2, len(history) - 1}:
        tally = Tally()
        for recorded in history[:cut]:
            tally.fold(recorded)
        kept = tally_in(json.loads(json.dumps(as_plain(tally))))
        for recorded in history[cut:]:
            kept.fold(recorded)
        assert kept == whole


def test_what_is_kept_of_another_version_or_damaged_is_made_anew() -> None:
    for kept in (None, {}, {"version": 0, "figures": {}}, {"version": 1, "figures": {"models": 3}}, "x"):
        assert tally_in(kept) == Tally()


def test_answers_in_a_form_are_counted_as_they_came_and_repaired() -> None:
    tally = tallied(
        *(asked("m1"), ModelAnswered(call="m1", text="", value={"a": 1})),
        *(asked("m2"), ModelAnswered(call="m2", text="", value={"a": 1}, is_repaired=True)),
        *(asked("m3"), ModelAnswered(call="m3", text="", problem="no JSON")),
        *(asked("m4"), ModelAnswered(call="m4", text="Only words.")),
    )
    model = tally.models["big"]
    assert (model.calls, model.fitted, model.repaired, model.unusable) == (4, 1, 1, 1)


def test_calls_are_counted_by_tool_with_what_they_failed_of() -> None:
    calls = [
        ToolCall("c1", "weigh"),
        ToolCall("c2", "weigh"),
        ToolCall("c3", "invented"),
        ToolCall("c4", "weigh"),
    ]
    tally = tallied(
        *steps_of(calls),
        ToolAnswered("c1", ToolOutcome(True, "heavy", duration_ms=5, spent_tokens=7, spent_usd=0.5)),
        ToolAnswered("c2", refused("timeout")),
        ToolAnswered("c3", refused("unknown_tool")),
        ToolAnswered("c4", ToolOutcome(True, "heavy", cached_from="c1")),
        ToolAnswered("c9", refused("timeout")),
    )
    weigh = tally.tools["weigh"]
    assert (weigh.calls, weigh.cached, weigh.duration_ms, weigh.errors) == (3, 1, 8, {"timeout": 1})
    assert tally.tools[UNKNOWN_TOOL].errors == {"unknown_tool": 1}
    assert (tally.total().tokens, tally.total().cost_usd) == (17, 0.5), "what tools spent on models is spent"


def test_an_answer_that_was_lost_counts_as_its_reserve() -> None:
    tally = tallied(
        asked("m1", reserved_tokens=100, reserved_usd=0.25),
        asked("m2"),
        ModelFailed(call="m2", fault="timeout", detail="", spent_tokens=3),
    )
    total = tally.total()
    assert (total.steps, total.tokens, total.cost_usd) == (2, 103, 0.25)
    assert tally.models["big"].faults == {"timeout": 1}


def test_loops_and_limits_are_counted_and_what_was_spent_stands_with_role_and_subtask() -> None:
    opened = BranchOpened(
        branch="s1/1", role="executor", purpose="execute", system="", opening="", subtask="s1"
    )
    tally = tallied(
        opened,
        *(asked("m1", "s1/1"), ModelAnswered(call="m1", text="", output_tokens=5, cost_usd=0.1)),
        *(asked("m2"), ModelAnswered(call="m2", text="", output_tokens=2)),
        *(LoopNoticed("s1/1", "steer", ""), LoopNoticed("s1/1", "stop", ""), LimitReached("max_steps", 2, 2)),
    )
    assert (tally.loops, tally.limits) == ({"steer": 1, "stop": 1}, {"max_steps": 1})
    assert {name: spent.tokens for name, spent in tally.by_subtask().items()} == {"s1": 5, "": 2}
    assert {name: spent.steps for name, spent in tally.by_role().items()} == {"executor": 2}


def test_a_fork_counts_what_happened_since_and_knows_what_was_under_way() -> None:
    before = tallied(*steps_of([ToolCall("c1", "weigh")]))
    tally = tallied(RunForked(None, "t", "s"), ToolAnswered("c1", refused("timeout")), before=before)  # type: ignore[arg-type]
    assert (tally.total().steps, tally.models, tally.tools["weigh"].calls) == (0, {}, 1)


def test_no_more_names_are_told_apart_than_a_row_can_carry() -> None:
    many = [event for n in range(MOST_NAMES + 5) for event in (asked(f"m{n}", f"b{n}", f"model-{n}"),)]
    tally = tallied(*many)
    assert len(tally.models) == MOST_NAMES + 1
    assert tally.models[OTHERS].calls == 5
