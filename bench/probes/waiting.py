"""The memory of runs that wait: how much a process grows when a worker has parked many runs that wait for an approval."""

import asyncio
import gc
import os
import secrets
from pathlib import Path
from typing import Any

from bench.probes.ours import SERVER_VARIABLE, engine_in
from bench.work import Rounds, arguments, emit
from outlast.ports.run_rows import RunFilter
from outlast.service.start import Order, start_run
from outlast.wiring.engine import Engine, Request

APPROVAL = "  approvals: [{tool: noop}]\n"
BATCH_RUNS = 100
WARM_UP_RUNS = 500


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
    """Resident memory before and after `runs` more runs wait."""
    engine = engine_in(directory, 5, Rounds(), APPROVAL)
    await engine.open()
    await park(engine, WARM_UP_RUNS)
    before = resident_bytes()
    await park(engine, runs)
    after = resident_bytes()
    waiting = await engine.store.list_runs(RunFilter(state="WAITING", limit=runs * 2))
    await engine.close()
    assert len(waiting) == runs + WARM_UP_RUNS
    return {"grown_bytes": after - before, "runs": runs}


async def main() -> None:
    asked = arguments(__doc__, ("park",), runs=1000)
    os.environ[SERVER_VARIABLE] = asked.url
    emit(await measure(asked.directory, asked.runs))


if __name__ == "__main__":
    asyncio.run(main())
