"""What `show` tells of a run agrees with itself, whatever happens while it is read."""

from pathlib import Path
from typing import Any

from outlast.service.show import show_run
from tests.unit.runs.parts import in_turn, say
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
