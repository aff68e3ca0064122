"""End a run now; what it found so far can be continued with `run --from`."""

from __future__ import annotations

from typing import Annotated

from cyclopts import App, Parameter

from outlast.cli.options import AsJson, Config, RunId
from outlast.cli.signalling import signal
from outlast.domain.ids import LOCAL_USER
from outlast.service import signals

app = App(name="cancel")


@app.default
def cancel(
    run: RunId,
    /,
    *,
    reason: Annotated[str, Parameter(help="Why, for the record.", allow_leading_hyphen=True)] = "",
    config: Config = None,
    json: AsJson = False,
) -> int:
    """End a run now. Its calls in flight are killed."""
    return signal(
        config,
        run,
        lambda store: signals.cancel(store, run, LOCAL_USER, reason),
        "asked to end",
        as_json=json,
    )
