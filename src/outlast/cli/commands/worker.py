"""Work on runs as they become due, until stopped."""

from __future__ import annotations

import asyncio
import signal
from typing import Annotated, Literal

from cyclopts import App, Parameter
from cyclopts.validators import Number

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
    concurrency: Annotated[
        int | None,
        Parameter(
            help="How many runs at once; left out: harness.max_concurrent_runs.", validator=Number(gte=1)
        ),
    ] = None,
    until_idle: Annotated[bool, Parameter(help="End when nothing is due.")] = False,
    log_level: Annotated[
        Literal["DEBUG", "INFO", "WARNING", "ERROR"] | None,
        Parameter(
            help="INFO tells of every run that is taken and given back; left out: as configured, else WARNING."
        ),
    ] = None,
    sets: Sets = None,
    config: Config = None,
) -> int:
    """Work on runs as they become due.

    A server that is away is waited for, at the start as later. Ctrl-C or SIGTERM: calls in flight may end within
    harness.drain_seconds, then every run is given back; a second one: at once.
    """
    options = [*(sets or ()), *_logging_at(log_level)]
    with Sitting(config, options, log_level="WARNING", waits_for_store=True) as sitting:
        refuse_memory(sitting.engine)
        sitting.run(_serve(sitting.engine, concurrency, until_idle=until_idle))
    return Exit.DONE


def _logging_at(level: str | None) -> list[str]:
    return [] if level is None else [f"logging.level={level}"]


async def _serve(engine: Engine, concurrency: int | None, *, until_idle: bool) -> None:
    shift = engine.shift(concurrency)

    def on_signal() -> None:
        if shift.is_stopping:
            shift.hurry()
        else:
            note("Stopping: calls in flight may end (once more: at once).")
            shift.stop()

    loop = asyncio.get_running_loop()
    for number in (signal.SIGINT, signal.SIGTERM):
        loop.add_signal_handler(number, on_signal)
    ready = f"Worker {as_name(own_identity())} is ready; Ctrl-C stops it."
    await shift.serve(until_idle=until_idle, on_ready=lambda: note(ready))
