"""Tell a run something; its model hears it before it speaks next."""

from __future__ import annotations

from typing import Annotated

from cyclopts import App, Parameter

from outlast.cli.options import AsJson, Config, RunId, Words
from outlast.cli.signalling import signal
from outlast.domain.errors import CallerMistake
from outlast.domain.ids import LOCAL_USER
from outlast.ports.store import Store
from outlast.service import signals
from outlast.service.messages import send_message

app = App(name="say")


@app.default
def say(
    run: RunId,
    text: Words,
    /,
    *,
    from_run: Annotated[
        str | None, Parameter(help="On behalf of this run of the same thread; the model is told who says it.")
    ] = None,
    pin: Annotated[
        bool, Parameter(help="Show it in every conversation of the run, also in those that begin later.")
    ] = False,
    config: Config = None,
    json: AsJson = False,
) -> int:
    """Tell a run something. Its model hears it before it speaks next."""
    if pin and from_run is not None:
        detail = "What one run tells another cannot be pinned."
        raise CallerMistake("usage", detail, "Leave out --pin or --from-run.")

    async def told(store: Store) -> None:
        if from_run is None:
            await signals.say(store, run, LOCAL_USER, text, pin=pin)
        else:
            await send_message(store, from_run, run, text, LOCAL_USER)

    return signal(config, run, told, "told", as_json=json)
