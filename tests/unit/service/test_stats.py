"""Figures over runs: what each used, how it went, and which calls failed."""

from collections.abc import AsyncIterator
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest

from outlast import Harness
from outlast.gateway.shapes.stats import FailedCalls, StatsDocument
from outlast.service.stats import Period, Statistics
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
    (tmp_path / "outlast.yaml").write_text("harness: {persistence: {backend: memory}}\n")
    script = [
        {"when": {"turn": 0, "contains": "both"}, "call": [call("air"), call("lead")], "repeat": True},
        {"say": "Weighed.", "repeat": True},
    ]
    model = ScriptedProvider(script)
    async with Harness.open(tmp_path / "outlast.yaml", provider=model, tools=[weigh]) as opened:
        yield opened


async def test_figures_are_sums_of_what_runs_used_by_task_day_and_tool(harness: Harness) -> None:
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
    assert found["failures"] == [{"code": "tool_failed", "count": 2}]
    assert found == await counts.of(Period("local", since)), "what is kept says the same again"


@law("SEE-3.c")
async def test_calls_that_failed_are_listed_with_what_was_asked(harness: Harness) -> None:
    await (await harness.start(task="t", input="Weigh both")).result()
    store = harness.engine.store
    counts, period = Statistics(store), Period("local", await store.now() - timedelta(hours=1))
    (failed,) = await counts.failed_calls(period, "weigh")
    FailedCalls.model_validate({"calls": [failed]})
    assert failed["arguments"] == {"thing": "air"}
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
