"""Agree to what a run asks approval for, perhaps with other arguments."""

from __future__ import annotations

from typing import Annotated, Any

from cyclopts import App, Parameter

from outlast.cli.edits import check_for, edit_in
from outlast.cli.options import AsJson, Config, RunId, TicketId
from outlast.cli.signalling import signal
from outlast.domain.ids import LOCAL_USER
from outlast.ports.store import Store
from outlast.service import signals

app = App(name="approve")

Edit = Annotated[
    str | None,
    Parameter(help="A JSON object: the arguments to use instead of the model's.", allow_leading_hyphen=True),
]


@app.default
def approve(
    run: RunId, /, *, ticket: TicketId = None, edit: Edit = None, config: Config = None, json: AsJson = False
) -> int:
    """Agree to what a run asks approval for. Where several tickets are open, name one."""
    arguments: dict[str, Any] | None = edit_in(edit) if edit is not None else None
    check = check_for(config) if edit is not None else None

    async def act(store: Store) -> object:
        return await signals.approve(store, run, LOCAL_USER, ticket, arguments, check)

    return signal(config, run, act, "approved", as_json=json)
