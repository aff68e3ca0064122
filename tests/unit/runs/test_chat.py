"""The chat workflow: one conversation with tools."""

from pathlib import Path

from tests.law import law
from tests.unit.runs.parts import ask_for, call, in_turn, results, say
from tests.unit.runs.props import page
from tests.unit.runs.stage import staged


@law("PLAN-5.b")
async def test_a_chat_answers_after_the_calls_it_asked_for(tmp_path: Path) -> None:
    model = in_turn(ask_for(call("page", url="http://a")), say("It is so."))
    async with staged(tmp_path, model, page) as stage:
        run = await stage.play()
        assert await stage.states(run) == ["INIT", "EXECUTING", "COMPLETED"]
        assert (await stage.state(run)).outcome == "full"
        assert "http://a is so" in results(stage.requests[1])[0].text
