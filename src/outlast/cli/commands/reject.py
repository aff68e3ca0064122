"""Refuse what a run asks approval for."""

from __future__ import annotations

from typing import Annotated

from cyclopts import App, Parameter

from outlast.cli.options import AsJson, Config, RunId, TicketId
from outlast.cli.signalling import signal
from outlast.domain.ids import LOCAL_USER
from outlast.service import signals

app = App(name="reject")

Comment = Annotated[str, Parameter(help="What the model is told.", allow_leading_hyphen=True)]


@app.default
def reject(
    run: RunId,
    /,
    *,
    ticket: TicketId = None,
    comment: Comment = "",
    config: Config = None,
    json: AsJson = False,
) -> int:
    """Refuse what a run asks approval for. The comment reaches the model."""
    return signal(
        config,
        run,
        lambda store: signals.reject(store, run, LOCAL_USER, ticket, comment),
        "rejected",
        as_json=json,
    )
