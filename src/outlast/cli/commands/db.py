"""Bring the database to the newest schema, check it for damage, or make it smaller."""

from __future__ import annotations

import asyncio
import os
from typing import Annotated, Any

from cyclopts import App, Parameter

from outlast.cli.conformance import conformance_of
from outlast.cli.exits import Exit
from outlast.cli.opening import existing_store
from outlast.cli.options import AsJson, Config
from outlast.cli.printing import document, note, out
from outlast.domain.errors import CallerMistake
from outlast.service.inspection import Problem, Progress, check_store
from outlast.wiring.settings.load import load
from outlast.wiring.settings.tree import Settings
from outlast.wiring.stores import (
    SchemaVersions,
    database_path,
    give_back,
    inspect_store,
    schema_of,
    server_of,
)

app = App(name="db", help="Bring the database to the newest schema, check it for damage, or make it smaller.")


@app.command
def upgrade(*, config: Config = None, json: AsJson = False) -> int:
    """Bring the database to the newest schema now. Every command that opens it does the same."""
    settings = load(config)
    place, versions = asyncio.run(_upgraded(settings))
    if json:
        document({"path": place, "from": versions.found, "to": versions.now})
    else:
        has_changed = versions.found != versions.now
        out(
            f"Schema version {versions.now}"
            + (f", brought from {versions.found}." if has_changed else ": nothing to do.")
        )
    return Exit.DONE


@app.command
def check(
    *,
    conformance: Annotated[
        bool,
        Parameter(
            negative=(),
            help="Also hold the store to its contract, in scratch schemas that are removed afterwards.",
        ),
    ] = False,
    config: Config = None,
    json: AsJson = False,
) -> int:
    """Read everything that is stored and say what is damaged; exit 1 if anything is.

    The file itself, every journal and the states it recorded, every payload, and what is queued. Takes as long as reading it all.
    """
    settings = load(config)
    shown, problems = _stored(settings)
    kept = conformance_of(settings) if conformance else None
    broken = {} if kept is None else kept["failed"]
    if json:
        document({**shown, "problems": problems, **({} if kept is None else {"conformance": kept})})
        return Exit.FAILED if problems or broken else Exit.DONE
    out(", ".join(_in_words(shown)))
    for problem in problems:
        out(f"damaged: {problem}")
    if not problems and shown.get("version", 0) > shown.get("newest_version", 0):
        note("Only the file was checked: a newer outlast wrote it, and that one can check the rest.")
    elif "runs" not in shown and not problems:
        note("Only the file was checked: bring it forward with `outlast db upgrade`, then check again.")
    note("Restore it from a backup." if problems else "No damage was found.")
    for test, why in broken.items():
        out(f"not kept: {test}: {why}")
    if kept is not None:
        note(f"Of the store contract {kept['passed']} promises are kept and {len(broken)} are not.")
    return Exit.FAILED if problems or broken else Exit.DONE


@app.command
def compact(*, config: Config = None, json: AsJson = False) -> int:
    """Write the database file anew without the room that deleted runs left. Workers wait meanwhile."""
    settings = load(config)
    if not _is_file(settings):
        detail = f"harness.persistence.backend is {settings.harness.persistence.backend}; there is no database file."
        raise CallerMistake("nothing_to_inspect", detail, "A server gives room back by itself.")
    inspect_store(settings, os.environ)
    given = give_back(settings, os.environ, None)
    if json:
        document({"given_back_bytes": given})
    elif given is None:
        note("Another process keeps the database locked; nothing was changed. Try again when it has ended.")
    else:
        out(f"{given:,} bytes given back.")
    return Exit.CONFLICT if given is None else Exit.DONE


def _is_file(settings: Settings) -> bool:
    return settings.harness.persistence.backend == "sqlite"


def _stored(settings: Settings) -> tuple[dict[str, Any], list[str]]:
    """What is stored and what of it is damaged."""
    shown, problems = _file(settings) if _is_file(settings) else ({}, [])
    if not problems and shown.get("version") == shown.get("newest_version"):
        more, runs, place = asyncio.run(_checked(settings))
        problems = [f"{one.where}: {one.what}" for one in more]
        shown = {"path": place, **shown, "runs": runs}
    return shown, problems


def _file(settings: Settings) -> tuple[dict[str, Any], list[str]]:
    found = inspect_store(settings, os.environ)
    shown = {
        "path": str(database_path(settings, os.environ)),
        "version": found.version,
        "newest_version": found.newest_version,
        "size_bytes": found.size_bytes,
    }
    return shown, list(found.problems)


def _in_words(shown: dict[str, Any]) -> list[str]:
    words = [str(shown["path"])]
    if "version" in shown:
        words.append(f"schema version {shown['version']} of {shown['newest_version']}")
        words.append(f"{shown['size_bytes']:,} bytes")
    if "runs" in shown:
        words.append(f"{shown['runs']:,} runs")
    return words


async def _upgraded(settings: Settings) -> tuple[str, SchemaVersions]:
    before = inspect_store(settings, os.environ).version if _is_file(settings) else 0
    async with existing_store(settings) as store:
        if not _is_file(settings):
            return server_of(store) or "", schema_of(store)
    path = database_path(settings, os.environ)
    return str(path), SchemaVersions(before, inspect_store(settings, os.environ).version)


async def _checked(settings: Settings) -> tuple[list[Problem], int, str]:
    problems: list[Problem] = []
    runs = 0
    async with existing_store(settings) as store:
        async for found in check_store(store):
            match found:
                case Problem():
                    problems.append(found)
                case Progress():
                    runs = found.runs
        return problems, runs, server_of(store) or ""
