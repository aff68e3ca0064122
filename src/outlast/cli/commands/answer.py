"""Answer the question a run asks."""

from __future__ import annotations

from typing import Annotated

from cyclopts import App, Parameter

from outlast.cli.options import AsJson, Config, RunId, Words
from outlast.cli.signalling import signal
from outlast.domain.ids import LOCAL_USER
from outlast.service import signals

app = App(name="answer")

Question = Annotated[str | None, Parameter(help="Id of the question, where several are open.")]


@app.default
def answer(
    run: RunId, text: Words, /, *, question: Question = None, config: Config = None, json: AsJson = False
) -> int:
    """Answer the question a run asks."""
    return signal(
        config,
        run,
        lambda store: signals.answer(store, run, LOCAL_USER, text, question),
        "answered",
        as_json=json,
    )
