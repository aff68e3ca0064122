"""Pause a run: calls in flight may end, no new one begins."""

from __future__ import annotations

from cyclopts import App

from outlast.cli.options import AsJson, Config, RunId
from outlast.cli.signalling import signal
from outlast.domain.ids import LOCAL_USER
from outlast.service import signals

app = App(name="pause")


@app.default
def pause(run: RunId, /, *, config: Config = None, json: AsJson = False) -> int:
    """Pause a run: calls in flight may end, no new one begins. `outlast resume RUN` goes on."""
    return signal(
        config, run, lambda store: signals.pause(store, run, LOCAL_USER), "asked to pause", as_json=json
    )
