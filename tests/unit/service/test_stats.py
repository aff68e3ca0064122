"""Figures over runs: what each used, how it went, and which calls failed."""

import json
from collections import Counter
from collections.abc import AsyncIterator
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

from outlast import Harness
from outlast.domain.states import ENDED
from outlast.gateway.shapes.stats import FailedCalls, StatsDocument
from outlast.ports.batch import Committed
from outlast.ports.run_rows import InsertRun, RunRow, UpdateRun
from outlast.ports.store import Store
from outlast.ports.thread_rows import InsertThread, ThreadRow
from outlast.runs.tally import OfModel, OfTool, Tally, as_plain, tally_in
from outlast.service import periods, stats
from outlast.service.growth import Growth
from outlast.service.periods import Period
from outlast.service.stats import Statistics
from outlast.service.tallies import Tallies
from outlast.testing import ScriptedProvider
from outlast.tools import tool
from tests.law import law


@tool(effect="read")
async def weigh(thing: str) -> str:
    """Weigh a thing."""
    if thing == "air":
        raise ValueError("it weighs nothing")
    return "heavy"


def call(thing: str) -> dict[str, Any]:
    return {"tool": "weigh", "arguments": {"thing": thing}}


@pytest.fixture
async def harness(tmp_path: Path) -> AsyncIterator[Harness]:
    (tmp_path / "tasks").mkdir()
    for name in ("t", "u"):
        (tmp_path / f"tasks/{name}.yaml").write_text(
            f"task: {{name: {name}, workflow: chat, tools: [weigh]}}\n"
        )
    (tmp_path / "outlast.yaml").write_text(
        "harness: {persistence: {backend: memory}, retry: {max_attempts: 1}}\n"
    )
    script = [
        {"when": {"turn": 0, "contains": "both"}, "call": [call("air"), call("lead")], "repeat": True},
        {"say": "Weighed.", "repeat": True},
    ]
    model = ScriptedProvider(script)
    async with Harness.open(tmp_path / "outlast.yaml", provider=model, tools=[weigh]) as opened:
        yield opened


@law("SEE-3.a", "SEE-3.b")
async def test_figures_are_sums_of_what_runs_used_by_task_day_model_and_tool(harness: Harness) -> None:
    shown = []
    for task, text in (("t", "Weigh both"), ("t", "Nothing"), ("u", "Weigh both")):
        shown.append(await (await harness.start(task=task, input=text)).result())
    store = harness.engine.store
    counts, since = Statistics(store), await store.now() - timedelta(hours=1)
    found = await counts.of(Period("local", since))
    StatsDocument.model_validate(found)
    assert (found["total"]["runs"], found["total"]["completed"]) == (3, 3)
    assert found["total"]["steps"] == sum(one["steps"] for one in shown)
    assert found["total"]["tokens"] == sum(one["tokens"] for one in shown)
    assert [(one["task"], one["runs"]) for one in found["by_task"]] == [("t", 2), ("u", 1)]
    assert sum(day["runs"] for day in found["by_day"]) == 3
    assert [(one["tool"], one["calls"], one["failed"]) for one in found["by_tool"]] == [("weigh", 4, 2)]
    assert found["by_tool"][0]["failures"] == [{"code": "tool_failed", "count": 2}]
    assert found["failures"] == [{"of": "tool", "code": "tool_failed", "count": 2}]
    [model] = found["by_model"]
    assert (model["calls"], model["failed"], model["tokens"]) == (
        found["total"]["steps"],
        0,
        found["total"]["tokens"],
    )
    assert found["is_whole"]
    assert found == await counts.of(Period("local", since)), "what is kept says the same again"


@law("SEE-3.c")
async def test_calls_that_failed_are_listed_with_what_was_asked(harness: Harness) -> None:
    await (await harness.start(task="t", input="Weigh both")).result()
    store = harness.engine.store
    counts, period = Statistics(store), Period("local", await store.now() - timedelta(hours=1))
    (failed,) = await counts.failed_calls(period, "weigh")
    FailedCalls.model_validate({"calls": [failed]})
    assert failed["arguments"] == {"thing": "air"}
    assert (await counts.failed_calls(period))[0] == failed
    assert await counts.failed_calls(period, limit=0) == []
    assert await counts.failed_calls(period, "other") == []


async def test_what_is_anothers_older_or_of_another_task_is_not_counted(harness: Harness) -> None:
    await (await harness.start(task="t", input="Nothing")).result()
    store = harness.engine.store
    counts, now = Statistics(store), await store.now()
    hour = timedelta(hours=1)
    for period, runs in (
        (Period("local", now - hour), 1),
        (Period(None, now - hour), 1),
        (Period("ann", now - hour), 0),
        (Period("local", now + hour), 0),
        (Period("local", now - hour, "u"), 0),
    ):
        assert (await counts.of(period))["total"]["runs"] == runs


async def test_loops_limits_and_answers_before_and_after_their_repair_are_counted(harness: Harness) -> None:
    """As the rows of runs have them."""
    tally = Tally(
        position=9,
        models={"m": OfModel(calls=6, fitted=1, repaired=2, unusable=1, faults={"timeout": 2})},
        tools={"t": OfTool(calls=4, errors={"timeout": 1})},
        loops={"steer": 2, "stop": 1},
        limits={"max_steps": 1},
    )
    store = harness.engine.store
    await put_run(store, "r-1", {"error": {"code": "model_timeout"}, "tally": as_plain(tally)}, "FAILED")
    found = await Statistics(store).of(Period(None, AT - timedelta(hours=1)))
    StatsDocument.model_validate(found)
    for figures in (found["total"], found["by_task"][0], found["by_day"][0]):
        assert (figures["loop_steers"], figures["loop_stops"]) == (2, 1)
        assert (figures["tool_calls"], figures["tool_failures"]) == (4, 1)
        answers = figures["structured_answers"], figures["fit_before_repair"], figures["fit_after_repair"]
        assert answers == (4, 1, 3)
        assert figures["duration_ms"] == 60_000
    assert found["by_model"][0]["fit_after_repair"] == 3
    assert {(one["of"], one["code"], one["count"]) for one in found["failures"]} == {
        ("run", "model_timeout", 1),
        ("limit", "max_steps", 1),
        ("model", "timeout", 2),
        ("tool", "timeout", 1),
    }


async def test_a_run_that_was_never_counted_is_read_once_and_one_at_work_up_to_now(harness: Harness) -> None:
    shown = await (await harness.start(task="t", input="Weigh both")).result()
    store = harness.engine.store
    row = await store.read_run(shown["run_id"])
    assert row is not None
    old = replace(row, summary=json.dumps({"steps": 0, "tokens": 0}))
    tallies, reads = Tallies(store), Counter[str]()
    count_reads(store, reads)
    for _ in range(2):
        [tallied] = [one async for one in tallies.of([old])]
        assert tallied.tally.tools["weigh"].errors == {"tool_failed": 1}
    assert reads["read_events"] == 2, "the second time nothing is read"
    reads.clear()
    assert [one async for one in tallies.of([row])]
    assert not reads, "a row that was written at the end has it all"
    [at_work] = [one async for one in tallies.of([replace(row, state="EXECUTING")])]
    written = tally_in(json.loads(row.summary)["tally"])
    assert replace(written, position=at_work.tally.position) == at_work.tally
    assert at_work.tally.position == await store.read_head(row.run_id)
    assert reads["read_events"] == 1


async def test_a_short_period_is_counted_without_reading_all_rows_and_a_long_one_as_far_as_is_counted(
    harness: Harness, monkeypatch: pytest.MonkeyPatch
) -> None:
    store = harness.engine.store
    for number in range(6):
        await put_run(store, f"r-{number}", {}, "COMPLETED", AT + timedelta(minutes=number))
    monkeypatch.setattr(periods, "FIRST_LOOK", 2)
    monkeypatch.setattr(stats, "MOST_RUNS", 4)
    reads = Counter[str]()
    count_reads(store, reads)
    short = await Statistics(store).of(Period(None, AT + timedelta(minutes=5)))
    assert (short["total"]["runs"], short["is_whole"], reads["list_runs"]) == (1, True, 1)
    whole = await Statistics(store).of(Period(None, AT))
    assert (whole["total"]["runs"], whole["is_whole"]) == (4, False)


async def test_what_was_added_since_the_last_look_is_told_once(harness: Harness) -> None:
    store = harness.engine.store
    growth = Growth(store)
    before = Tally(position=3, tools={"t": OfTool(calls=1)})
    await put_run(store, "r-1", {"tally": as_plain(before)}, "EXECUTING")
    first = await growth.more()
    assert (first["runs", "t"], first["tool_calls", "t", "ok"]) == (1, 1)
    assert await growth.more() == Counter()
    after = Tally(position=9, tools={"t": OfTool(calls=3, errors={"timeout": 1})})
    await change_run(store, "r-1", {"tally": as_plain(after)}, "COMPLETED")
    grown = await growth.more()
    assert dict(grown) == {
        ("tool_calls", "t", "ok"): 1,
        ("tool_calls", "t", "failed"): 1,
        ("failures", "tool", "timeout"): 1,
        ("run_ms", "t"): 60_000,
        ("runs_ended", "t", "COMPLETED", "full"): 1,
    }
    assert await growth.more() == Counter()
    late = AT + timedelta(hours=1)
    await put_run(store, "r-2", {"error": {"code": "tool_failed"}}, "FAILED", late)
    assert (await growth.more())["failures", "run", "tool_failed"] == 1
    await change_run(store, "r-2", {}, "COMPLETED", late)
    assert dict(await growth.more()) == {("runs_ended", "t", "COMPLETED", "full"): 1}
    assert await growth.more() == Counter()


AT = datetime(2026, 1, 1, tzinfo=UTC)


async def put_run(store: Store, run_id: str, summary: dict[str, Any], state: str, at: datetime = AT) -> None:
    """A row as a worker writes it, without a journal."""
    row = RunRow(
        run_id=run_id,
        thread_id=f"t-{run_id}",
        user_id="local",
        task="t",
        state=state,
        is_active=state not in ENDED,
        created_at=at,
        updated_at=at + timedelta(minutes=1),
        summary=json.dumps({"tally": as_plain(Tally(position=1)), **summary}),
    )
    thread = ThreadRow(thread_id=row.thread_id, user_id="local", title="", created_at=at)
    assert isinstance(await store.commit([InsertThread(thread), InsertRun(row)]), Committed)


async def change_run(
    store: Store, run_id: str, summary: dict[str, Any], state: str, at: datetime = AT
) -> None:
    """The row as it is written again."""
    text = json.dumps({"tally": as_plain(Tally(position=1)), **summary})
    change = UpdateRun(run_id, state, state not in ENDED, "full", at + timedelta(minutes=1), text, 1)
    assert isinstance(await store.commit([change]), Committed)


def count_reads(store: Any, reads: Counter[str]) -> None:
    """Count from now on how often a store is read, and let it be read."""
    for name in ("read_events", "list_runs"):
        read = getattr(store, name)

        def counting(*given: Any, _name: str = name, _read: Any = read) -> Any:
            reads[_name] += 1
            return _read(*given)

        setattr(store, name, counting)
