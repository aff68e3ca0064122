"""What a run costs does not grow with its length."""

import time
from pathlib import Path

from outlast.adapters.stores.sqlite import SqliteStore
from outlast.domain.events import ToolAnswered
from outlast.domain.message import Usage
from outlast.domain.task import Limits
from outlast.ports.provider import ModelAnswer, ModelRequest
from outlast.ports.tool import tool
from tests.law import law
from tests.unit.runs.notes import NOTES
from tests.unit.runs.parts import ask_for, call, give, say, turn
from tests.unit.runs.stage import staged

STEPS = 200


@law("STORE-3.a", "STORE-3.b")
async def test_g07_08_a_run_of_many_steps_with_large_results_takes_little_more_than_they_do(
    tmp_path: Path,
) -> None:
    """Each step brings 20 KB that no other has; the file stays below twice that, and the last steps cost what the first did."""
    at: list[float] = []

    @tool(effect="read", cache_seconds=0)
    async def page(n: int) -> str:
        """Read a page."""
        at.append(time.process_time())
        return "".join(f"{n:06d}{line:06d} and so on" for line in range(800))

    def model(request: ModelRequest) -> ModelAnswer:
        if request.purpose == "compress":
            return give(NOTES)
        n = turn(request)
        return ask_for(call("page", n=n), usage=Usage()) if n < STEPS else say("Done.", usage=Usage())

    path = tmp_path / "outlast.db"
    limits = Limits(max_steps=3 * STEPS)
    async with staged(tmp_path, model, page, store=SqliteStore(path), limits=limits) as stage:
        run = await stage.start("Read them all.")
        assert await stage.worker().work_on(run) == "ended"
        assert len(await stage.events(run, ToolAnswered)) == STEPS
        await stage.store.close()
    content = STEPS * 800 * 22
    size = sum(file.stat().st_size for file in sorted(tmp_path.glob("outlast.db*")))  # noqa: ASYNC240 - nothing else runs
    assert content < size < 2 * content
    first, last = at[60] - at[10], at[-1] - at[-51]
    assert last < 3 * first
