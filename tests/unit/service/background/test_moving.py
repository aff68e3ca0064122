"""Runs whose background tasks go on are not moved away from them."""

from pathlib import Path

import pytest

from outlast.adapters.tools.ask_human import AskHuman
from outlast.domain.errors import Conflict
from outlast.ports.provider import ModelAnswer, ModelRequest
from outlast.service.exporting import export_run
from tests.unit.runs.parts import ask_for, call, results, say
from tests.unit.service.background.farm import farming


def rendering_and_asking(request: ModelRequest) -> ModelAnswer:
    """Begin a task, then ask a person."""
    seen = len(results(request))
    if seen == 0:
        return ask_for(call("render", scene="a"))
    return ask_for(call("ask_human", question="Which colour?")) if seen == 1 else say("Done.")


async def test_a_run_at_work_is_not_exported_away_from_its_tasks(tmp_path: Path) -> None:
    async with farming(tmp_path, rendering_and_asking, AskHuman) as hands:
        run_id = await hands.stage.play("go")
        with pytest.raises(Conflict) as caught:
            [line async for line in export_run(hands.store, run_id)]
        assert caught.value.code == "tasks_open"
        assert "outlast tasks list" in str(caught.value.next_step)


async def test_a_run_that_ended_is_exported_though_its_task_goes_on_here(tmp_path: Path) -> None:
    async with farming(tmp_path) as hands:
        run_id = await hands.stage.play("go")
        assert (await hands.stage.state(run_id)).has_ended
        assert [line async for line in export_run(hands.store, run_id)]
