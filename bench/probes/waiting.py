"""The memory of runs that wait: how much a process grows when a worker has parked many runs that wait for an approval.

What a process takes in once, as its caches, its connections and the heap under them fill, comes in jumps, most of them in the
first thousand runs: those are not measured. Later jumps are in a few of the stages; what is kept of every run is in each.
"""

import asyncio
import gc
import os
import secrets
from itertools import pairwise
from pathlib import Path
from statistics import median
from typing import Any

from bench.probes.ours import SERVER_VARIABLE, engine_in
from bench.work import Rounds, arguments, emit
from outlast.ports.run_rows import RunFilter
from outlast.service.start import Order, start_run
from outlast.wiring.engine import Engine, Request

APPROVAL = "  approvals: [{tool: noop}]\n"
BATCH_RUNS = 100
STAGES = 5
WARM_UP_RUNS = 1500


def resident_bytes() -> int:
    """The memory this process holds now."""
    gc.collect()
    pages = int(Path("/proc/self/statm").read_text().split()[1])
    return pages * 4096


async def park(engine: Engine, runs: int) -> None:
    """Start runs and work on them until each waits for a person."""
    definition, tools = await engine.builder.settled(engine.definition(Request(task="rounds", input="go")))

    async def start() -> None:
        random = secrets.token_bytes(40)
        await start_run(engine.store, Order(definition=definition, tools=tools, input="go", random=random))

    for _ in range(runs // BATCH_RUNS):
        await asyncio.gather(*[start() for _ in range(BATCH_RUNS)])
        await engine.shift(BATCH_RUNS).serve(until_idle=True)


async def measure(directory: Path, runs: int) -> dict[str, Any]:
    """How resident memory grew while `runs` more runs came to wait: stage by stage, each a fifth of them, and in all."""
    engine = engine_in(directory, 5, Rounds(), APPROVAL)
    await engine.open()
    await park(engine, WARM_UP_RUNS)
    held = [resident_bytes()]
    for _ in range(STAGES):
        await park(engine, runs // STAGES)
        held.append(resident_bytes())
    waiting = await engine.store.list_runs(RunFilter(state="WAITING", limit=runs * 2))
    await engine.close()
    assert len(waiting) == runs + WARM_UP_RUNS
    stages = [after - before for before, after in pairwise(held)]
    return {"grown_bytes": held[-1] - held[0], "steadily_bytes": median(stages) * STAGES, "stages": stages}


async def main() -> None:
    asked = arguments(__doc__, ("park",), runs=1000)
    os.environ[SERVER_VARIABLE] = asked.url
    emit(await measure(asked.directory, asked.runs))


if __name__ == "__main__":
    asyncio.run(main())
