"""Handles that cannot be kept: the work behind them is given up, the model is told why, and the run goes on."""

from pathlib import Path
from typing import Any

import pytest

from outlast.ports.background_driver import Handle
from tests.unit.runs.parts import ask_for, call, in_turn, say
from tests.unit.runs.props import once_tool
from tests.unit.service.background.farm import farming

WHOLE: dict[str, Any] = {
    "driver": "far",
    "server": "farm",
    "principal": "me",
    "protocol_version": "1",
    "remote_id": "r",
}


@pytest.mark.parametrize(
    ("odd", "told"),
    [
        ({"driver": ["far"]}, "its driver is no text"),
        ({"server": 5}, "its server is no text"),
        ({"remote_id": None}, "its remote_id is no text"),
        ({"remote_id": "lone \ud800"}, "its remote_id is no valid text"),
        ({"remote_id": "nul \0"}, "its remote_id is no valid text"),
        ({"name": 5}, "its name is no text"),
        ({"status_message": None}, "its status_message is no text"),
        ({"data": 5}, "its data is not plain JSON"),
        ({"data": {"a": {1}}}, "its data is not plain JSON"),
        ({"data": {5: 1}}, "its data is not plain JSON"),
        ({"poll_after_seconds": "soon"}, "its poll_after_seconds is no number of seconds"),
        ({"ttl_seconds": float("nan")}, "its ttl_seconds is no number of seconds"),
    ],
)
async def test_a_handle_that_cannot_be_kept_is_refused_and_the_run_goes_on(
    tmp_path: Path, odd: dict[str, Any], told: str
) -> None:
    async def begins() -> object:
        return Handle(**WHOLE | odd)

    model = in_turn(ask_for(call("begins")), say("done"))
    begins_it = once_tool("begins", begins, effect="idempotent")
    async with farming(tmp_path, model, begins_it) as hands:
        run = await hands.stage.play()
        [outcome] = await hands.stage.outcomes(run)
        assert outcome.error is not None
        assert (outcome.error.code, told in outcome.error.detail) == ("invalid_output", True)
        assert (await hands.stage.state(run)).outcome == "full"
        assert await hands.tasks() == []


async def test_what_a_handle_says_to_people_is_cleaned(tmp_path: Path) -> None:
    async def begins() -> object:
        return Handle(**WHOLE, name="lone \ud800", status_message="lone \ud800")

    model = in_turn(ask_for(call("begins")), say("done"))
    async with farming(tmp_path, model, once_tool("begins", begins, effect="once")) as hands:
        assert (await hands.stage.outcomes(await hands.stage.play()))[0].error is None
        assert len(await hands.tasks()) == 1
