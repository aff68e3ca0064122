"""Work on runs as they become due, until stopped."""

from __future__ import annotations

import asyncio
import signal
from typing import Annotated

from cyclopts import App, Parameter

from outlast.cli.detaching import refuse_memory
from outlast.cli.exits import Exit
from outlast.cli.options import Config, Sets
from outlast.cli.printing import note
from outlast.cli.sitting import Sitting
from outlast.wiring.engine import Engine
from outlast.wiring.identity import as_name, own_identity

app = App(name="worker")


@app.default
def worker(
    *,
    until_idle: Annotated[bool, Parameter(help="End when nothing is due.")] = False,
    concurrency: Annotated[int, Parameter(help="How many runs at once.")] = 4,
    sets: Sets = None,
    config: Config = None,
) -> int:
    """Work on runs as they become due. Ctrl-C or SIGTERM: runs are handed back once their calls in flight have ended."""
    with Sitting(config, sets or (), log_level="WARNING") as sitting:
        refuse_memory(sitting.engine)
        note(f"Worker {as_name(own_identity())} is ready; Ctrl-C stops it.")
        sitting.run(_serve(sitting.engine, max(1, concurrency), until_idle=until_idle))
    return Exit.DONE


async def _serve(engine: Engine, concurrency: int, *, until_idle: bool) -> None:
    stop = asyncio.Event()
    loop = asyncio.get_running_loop()
    for number in (signal.SIGINT, signal.SIGTERM):
        loop.add_signal_handler(number, stop.set)
    await engine.worker(concurrency).serve(stop, until_idle=until_idle)
