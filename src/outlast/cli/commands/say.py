"""Tell a run something; its model hears it before it speaks next."""

from __future__ import annotations

from cyclopts import App

from outlast.cli.options import AsJson, Config, RunId, Words
from outlast.cli.signalling import signal
from outlast.domain.ids import LOCAL_USER
from outlast.service import signals

app = App(name="say")


@app.default
def say(run: RunId, text: Words, /, *, config: Config = None, json: AsJson = False) -> int:
    """Tell a run something. Its model hears it before it speaks next."""
    return signal(config, run, lambda store: signals.say(store, run, LOCAL_USER, text), "told", as_json=json)
