"""Bring the database to the newest schema, or check it for damage."""

from __future__ import annotations

import asyncio
import os

from cyclopts import App

from outlast.cli.exits import Exit
from outlast.cli.opening import existing_store
from outlast.cli.options import AsJson, Config
from outlast.cli.printing import document, note, out
from outlast.wiring.settings.load import load
from outlast.wiring.settings.tree import Settings
from outlast.wiring.stores import database_path, inspect_store

app = App(name="db", help="Bring the database to the newest schema, or check it for damage.")


@app.command
def upgrade(*, config: Config = None, json: AsJson = False) -> int:
    """Bring the database to the newest schema now. Every command that opens it does the same."""
    settings = load(config)
    before = inspect_store(settings, os.environ).version
    asyncio.run(_opened(settings))
    after = inspect_store(settings, os.environ).version
    if json:
        document({"path": str(database_path(settings, os.environ)), "from": before, "to": after})
    else:
        out(
            f"Schema version {after}"
            + (f", brought from {before}." if before != after else ": nothing to do.")
        )
    return Exit.DONE


@app.command
def check(*, config: Config = None, json: AsJson = False) -> int:
    """Read the whole database and say what is damaged; exit 1 if anything is."""
    settings = load(config)
    found = inspect_store(settings, os.environ)
    path = database_path(settings, os.environ)
    if json:
        shown = {"path": str(path), "version": found.version, "newest_version": found.newest_version}
        document({**shown, "size_bytes": found.size_bytes, "problems": list(found.problems)})
    else:
        out(f"{path}: schema version {found.version} of {found.newest_version}, {found.size_bytes:,} bytes")
        for problem in found.problems:
            out(f"damaged: {problem}")
        note("Restore it from a backup." if found.problems else "No damage was found.")
    return Exit.FAILED if found.problems else Exit.DONE


async def _opened(settings: Settings) -> None:
    async with existing_store(settings):
        pass
