"""Take up a run that was exported or archived."""

# ruff: noqa: N999 - a command is named as its file, and this one is named `import`

from __future__ import annotations

import asyncio
import secrets
from pathlib import Path
from typing import Annotated

from cyclopts import App, Parameter

from outlast.cli.exits import Exit
from outlast.cli.opening import store_to_fill
from outlast.cli.options import AsJson, Config
from outlast.cli.phrases import counted
from outlast.cli.printing import document, note, out
from outlast.cli.whole_files import lines_in
from outlast.service.importing import Imported, import_run
from outlast.service.portable import Portable, read_portable
from outlast.wiring.settings.load import load

app = App(name="import")


@app.default
def import_(
    file: Annotated[str, Parameter(help="What `outlast export` or `outlast archive` wrote; - for stdin.")],
    /,
    *,
    as_new: Annotated[
        bool, Parameter(name="--as-new", help="Under a new id in a new thread, like a fork at its end.")
    ] = False,
    config: Config = None,
    json: AsJson = False,
) -> int:
    """Take up a run that was exported or archived, under the ids it had. It is checked first; nothing is taken up in part.

    A run that has not ended rests here until `outlast resume`.
    """
    portable = read_portable(lines_in(None if file == "-" else Path(file)))
    taken = asyncio.run(_taken(config, portable, secrets.token_bytes(40) if as_new else None))
    if json:
        shown = {"run_id": taken.run_id, "thread_id": taken.thread_id, "state": str(taken.state)}
        document({**shown, "events": taken.events, "is_new": taken.is_new, "tasks": taken.tasks})
        return Exit.DONE
    out(taken.run_id)
    note(_told(taken))
    return Exit.DONE


async def _taken(config: str | None, portable: Portable, random: bytes | None) -> Imported:
    async with store_to_fill(load(config)) as store:
        return await import_run(store, portable, random)


def _told(taken: Imported) -> str:
    if taken.tasks:
        return f"{counted(taken.tasks, 'background task')} of {taken.run_id} are followed from here now."
    if not taken.is_new:
        return f"{taken.run_id} is here already, event for event; nothing was changed."
    if taken.can_go_on:
        return (
            f"{taken.state} after {taken.events:,} events. It goes on with `outlast resume {taken.run_id}`; "
            "make sure that it does not also go on where it came from."
        )
    return f"{taken.state} after {taken.events:,} events. `outlast show {taken.run_id}` shows it."
