"""What `show` tells of a run agrees with itself, whatever happens while it is read."""

from dataclasses import replace
from pathlib import Path
from typing import Any

from outlast.journal.history import read_history
from outlast.service import signals
from outlast.service.show import show_run
from outlast.service.trace import Follower, trace_of, trace_run
from outlast.tools import tool
from tests.law import law
from tests.unit.runs.parts import ask_for, call, in_turn, say
from tests.unit.runs.stage import Stage, staged


class EndsMeanwhile:
    """A store in which the run goes on to its end right after its row was read."""

    def __init__(self, stage: Stage) -> None:
        self._stage = stage

    def __getattr__(self, name: str) -> Any:
        return getattr(self._stage.store, name)

    async def read_run(self, run_id: str) -> Any:
        row = await self._stage.store.read_run(run_id)
        await self._stage.work(run_id)
        return row


async def test_a_run_that_completes_while_it_is_shown_is_shown_with_its_answer(tmp_path: Path) -> None:
    async with staged(tmp_path, in_turn(say("Two."))) as stage:
        run = await stage.start()
        shown = await show_run(EndsMeanwhile(stage), run)  # type: ignore[arg-type]
        assert (shown["state"], shown["answer"]) == ("COMPLETED", "Two.")


class JournalAlone:
    """A store that has kept of a run nothing but its journal, its names and its times."""

    def __init__(self, stage: Stage) -> None:
        self._stage = stage

    def __getattr__(self, name: str) -> Any:
        return getattr(self._stage.store, name)

    async def read_run(self, run_id: str) -> Any:
        row = await self._stage.store.read_run(run_id)
        return replace(row, summary="{}", outcome=None) if row is not None else None

    async def read_snapshot(self, stream: str) -> None:
        return None


@tool(effect="read")
async def look(at: str) -> str:
    """Look at something."""
    return f"{at} is blue"


@law("SEE-1.a")
async def test_what_is_shown_and_traced_of_a_run_comes_from_its_journal(tmp_path: Path) -> None:
    looking = in_turn(ask_for(call("look", at="the sea")), say("It is blue."))
    async with staged(tmp_path, looking, look) as stage:
        run = await stage.play("What colour is the sea?")
        shown = await show_run(stage.store, run)
        assert shown["answer"] == "It is blue."
        assert await show_run(JournalAlone(stage), run) == shown  # type: ignore[arg-type]
        history = await read_history(stage.store, run)
        assert await trace_run(stage.store, run) == trace_of(run, history)
        assert [recorded.position for recorded in history] == [*range(1, len(history) + 1)]


@law("SEE-1.f")
async def test_a_trace_is_read_while_its_run_is_at_work_and_is_the_same_later(tmp_path: Path) -> None:
    asking = in_turn(ask_for(call("look", at="the sea")), say("It is blue."))
    async with staged(tmp_path, asking, look) as stage:
        run = await stage.start("What colour is the sea?")
        follower = Follower(stage.store, run)
        live = await follower.more()
        assert [line["kind"] for line in live] == ["RunStarted"]
        await signals.say(stage.store, run, "ann", "And the sky?")
        live += await follower.more()
        assert live[-1]["kind"] == "Said"
        assert not follower.has_ended
        await stage.work(run)
        while lines := await follower.more():
            live += lines
        assert follower.has_ended
        assert live == await trace_run(stage.store, run)
