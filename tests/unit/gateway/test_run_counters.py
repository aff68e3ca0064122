"""Figures about runs for Prometheus."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

from outlast.gateway import run_counters
from outlast.tools import tool
from tests.law import law
from tests.unit.gateway.house import House, house_of


@tool(effect="once")
async def weigh(thing: str) -> str:
    """Weigh a thing."""
    if thing == "air":
        raise ValueError("it weighs nothing")
    return "heavy"


def weighing(thing: str) -> dict[str, object]:
    return {"tool": "weigh", "arguments": {"thing": thing}}


SCRIPT: Sequence[dict[str, Any]] = [
    {"when": {"turn": 0, "contains": "both"}, "call": [weighing("air"), weighing("lead")]},
    {"say": "Weighed.", "repeat": True},
]


def with_task(folder: Path) -> Path:
    (folder / "tasks").mkdir()
    (folder / "tasks/weigh.yaml").write_text("task: {name: weigh, workflow: chat, tools: [weigh]}\n")
    return folder


async def figures_of(house: House) -> set[str]:
    """The lines of all figures."""
    answer = await house.client.get("/metrics")
    assert answer.status_code == 200, answer.text
    return set(answer.text.splitlines())


@law("SEE-3.e")
async def test_metrics_count_what_all_runs_used_and_failed_of(tmp_path: Path) -> None:
    async with house_of(with_task(tmp_path), SCRIPT, tools=[weigh]) as house:
        run = await house.until((await house.start("weigh", "Weigh both"))["run_id"], "COMPLETED")
        steps, tokens = float(run["steps"]), float(run["tokens"])
        assert await figures_of(house) >= {
            'outlast_runs_total{task="weigh"} 1.0',
            'outlast_runs_ended_total{outcome="full",state="COMPLETED",task="weigh"} 1.0',
            f'outlast_steps_total{{task="weigh"}} {steps}',
            f'outlast_tokens_total{{task="weigh"}} {tokens}',
            'outlast_tool_calls_total{result="ok",tool="weigh"} 1.0',
            'outlast_tool_calls_total{result="failed",tool="weigh"} 1.0',
            'outlast_failures_total{code="tool_failed",of="tool"} 1.0',
            f'outlast_model_calls_total{{model="offline",result="ok"}} {steps}',
            f'outlast_model_tokens_total{{model="offline"}} {tokens}',
        }


async def test_counters_only_grow_and_the_store_is_not_asked_at_every_look(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    once, twice = 'outlast_runs_total{task="talk"} 1.0', 'outlast_runs_total{task="talk"} 2.0'
    async with house_of(tmp_path) as house:
        run = await house.until((await house.start())["run_id"], "COMPLETED")
        assert once in await figures_of(house)
        await house.until((await house.start())["run_id"], "COMPLETED")
        assert once in await figures_of(house), "what was read a moment ago is told again"
        monkeypatch.setattr(run_counters, "REFRESH_SECONDS", 0.0)
        assert twice in await figures_of(house)
        await house.client.delete(f"/api/threads/{run['thread_id']}")
        assert twice in await figures_of(house), "what is deleted has been"
