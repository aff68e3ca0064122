"""Serve the API and the page, with workers inside."""

from __future__ import annotations

import os
from typing import Annotated

from cyclopts import App, Parameter
from cyclopts.validators import Number

from outlast.cli.exits import Exit
from outlast.cli.options import AsJson, Config, Sets
from outlast.cli.printing import document, note
from outlast.cli.sitting import Sitting
from outlast.gateway.serving import Place
from outlast.gateway.serving import serve as serve_engine

app = App(name="serve")


@app.default
def serve(
    *,
    host: Annotated[str | None, Parameter(help="Address to listen on; left out: gateway.host.")] = None,
    port: Annotated[
        int | None,
        Parameter(
            help="Port to listen on, 0 for any; left out: gateway.port.", validator=Number(gte=0, lte=65535)
        ),
    ] = None,
    workers: Annotated[
        int,
        Parameter(
            help="Workers inside; 0 leaves runs to `outlast worker`. Each works on harness.max_concurrent_runs at once.",
            validator=Number(gte=0, lte=64),
        ),
    ] = 1,
    sets: Sets = None,
    config: Config = None,
    json: AsJson = False,
) -> int:
    """Serve the API and the page, and work on runs.

    Ctrl-C or SIGTERM: streams are told, calls in flight may end within harness.drain_seconds, every run is given back.
    --json prints the address and the link to open once it listens.
    """
    with Sitting(config, sets or (), log_level="WARNING", waits_for_store=True) as sitting:
        settings = sitting.engine.settings
        settings.require("gateway")
        place = Place(
            host=host or settings.gateway.host.resolve(os.environ),
            port=settings.gateway.port if port is None else port,
            workers=workers,
        )

        def ready(address: str, link: str) -> None:
            note(f"Listening on {address} with {_counted(workers)}; Ctrl-C stops it.")
            if link != address:
                note(f"Sign in, once and within ten minutes, at {link}")
            if json:
                document({"address": address, "link": link, "workers": workers})

        sitting.run(serve_engine(sitting.engine, place, ready, note))
    return Exit.DONE


def _counted(workers: int) -> str:
    return {0: "no worker (runs wait for `outlast worker`)", 1: "1 worker"}.get(workers, f"{workers} workers")
