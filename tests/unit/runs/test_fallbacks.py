"""Fallbacks: another model takes over where one cannot be used, and the journal says so."""

from pathlib import Path

import pytest

from outlast.domain.errors import ModelCallFailed, ModelFault
from outlast.domain.events import ModelAnswered, ModelFailed, ModelRequested
from outlast.domain.task import ModelSettings, Price, RoleSettings
from outlast.ports.provider import ModelAnswer, ModelRequest
from outlast.service.signals import resume
from tests.unit.runs.parts import ask_for, call, say
from tests.unit.runs.props import page
from tests.unit.runs.stage import staged

SPARE = ModelSettings(model="spare", temperature=0.9, max_tokens=77, price=Price(input_usd=0, output_usd=1))
LAST = ModelSettings(model="last")
ROLES = {"executor": RoleSettings(model="first", fallbacks=(SPARE, LAST))}


class Models:
    """Models by name: those that fail, and how; the rest answer."""

    def __init__(self, **faults: ModelFault) -> None:
        self.faults = faults

    def __call__(self, request: ModelRequest) -> ModelAnswer:
        fault = self.faults.get(request.model)
        if fault is not None:
            raise ModelCallFailed(fault, f"{request.model} will not do")
        if request.tools and all(message.speaker != "tool" for message in request.messages):
            return ask_for(call("page", url="http://a"))
        return say(f"{request.model} answers.")


@pytest.mark.parametrize("fault", ["auth", "bad_request"])
async def test_a_fault_that_waiting_does_not_mend_switches_at_once(tmp_path: Path, fault: ModelFault) -> None:
    async with staged(tmp_path, Models(first=fault), page, roles=ROLES) as stage:
        run = await stage.play()
        assert (await stage.state(run)).outcome == "full"
        assert [failed.next_option for failed in await stage.events(run, ModelFailed)] == [1]
        asked = await stage.events(run, ModelRequested)
        assert [request.model for request in asked] == ["first", "spare", "spare"]
        assert [request.option for request in asked] == [0, 1, 1]
        assert (stage.requests[1].temperature, stage.requests[1].max_tokens) == (0.9, 77)


async def test_a_passing_fault_is_retried_before_another_model_takes_over(tmp_path: Path) -> None:
    async with staged(tmp_path, Models(first="overload", spare="unreachable"), roles=ROLES) as stage:
        run = await stage.play()
        asked = [request.model for request in await stage.events(run, ModelRequested)]
        assert asked == ["first"] * 3 + ["spare"] * 3 + ["last"]
        assert (await stage.events(run, ModelAnswered))[0].text == "last answers."


@pytest.mark.parametrize(("seconds", "models"), [(200.0, ["first"]), (3_600.0, ["first", "spare"])])
async def test_a_model_that_wishes_to_be_left_alone_for_long_is_not_waited_for_where_another_is_there(
    tmp_path: Path, seconds: float, models: list[str]
) -> None:
    def model(request: ModelRequest) -> ModelAnswer:
        if request.model == "first":
            raise ModelCallFailed("rate_limit", "come back later", retry_after_seconds=seconds)
        return say(f"{request.model} answers.")

    async with staged(tmp_path, model, roles=ROLES) as stage:
        run = await stage.play()
        assert [request.model for request in await stage.events(run, ModelRequested)] == models
        assert (await stage.state(run)).has_ended is (models[-1] == "spare")


async def test_when_the_last_fails_too_the_run_fails_and_resume_begins_with_the_first_again(
    tmp_path: Path,
) -> None:
    models = Models(first="auth", spare="auth", last="auth")
    async with staged(tmp_path, models, roles=ROLES) as stage:
        run = await stage.play()
        state = await stage.state(run)
        assert state.state == "FAILED"
        assert [failed.next_option for failed in await stage.events(run, ModelFailed)] == [1, 2, None]
        models.faults.clear()
        await resume(stage.store, run, by="ann")
        await stage.work(run)
        assert (await stage.events(run, ModelAnswered))[0].text == "first answers."


async def test_the_call_is_counted_at_the_price_of_the_model_that_was_asked(tmp_path: Path) -> None:
    async with staged(tmp_path, Models(first="auth"), roles=ROLES) as stage:
        run = await stage.play()
        answered = (await stage.events(run, ModelAnswered))[0]
        assert answered.cost_usd == pytest.approx(answered.output_tokens / 1_000_000)
