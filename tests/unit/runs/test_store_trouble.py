"""A store that cannot serve for a while: what calls came to is kept, and written when it serves again."""

from __future__ import annotations

from pathlib import Path

import pytest

from outlast.domain.errors import Broken
from outlast.domain.events import ToolAnswered
from outlast.ports.tool import tool
from outlast.testing import CrashPlan, CrashPoint, Faulty
from tests.law import law
from tests.unit.runs.parts import ask_for, call, in_turn, say
from tests.unit.runs.stage import Stage, staged

_payments: list[str] = []


@tool(effect="once")
async def pay(to: str) -> str:
    """Pay somebody."""
    _payments.append(to)
    return "paid"


def _break(code: str) -> None:
    raise Broken(code, "The store cannot serve.")


async def _play_with_trouble(stage: Stage, point: CrashPoint, code: str) -> str:
    stage.store = Faulty(stage.store, CrashPlan(point, lambda _: _break(code)), "store")
    return await stage.play()


@law("RUN-3.b")
@pytest.mark.parametrize("side", ["before", "after"])
@pytest.mark.parametrize("number", range(2, 6))
async def test_a_commit_that_fails_or_answers_too_late_costs_no_result_and_repeats_no_effect(
    tmp_path: Path, number: int, side: str
) -> None:
    _payments.clear()
    point = CrashPoint(f"store.commit#{number}", "before" if side == "before" else "after")
    code = "store_unavailable" if side == "before" else "commit_unknown"
    async with staged(tmp_path, in_turn(ask_for(call("pay", to="ann")), say("Done.")), pay) as stage:
        run = await _play_with_trouble(stage, point, code)
        state = await stage.state(run)
        assert (state.state, state.outcome) == ("COMPLETED", "full")
        assert _payments == ["ann"]
        assert len(await stage.events(run, ToolAnswered)) == 1
