"""List the tools a task may use, or check them."""

from __future__ import annotations

import dataclasses

from cyclopts import App

from outlast.cli.exits import Exit
from outlast.cli.options import AsJson, Config
from outlast.cli.printing import document, note, out
from outlast.cli.tables import aligned
from outlast.cli.toolbox import catalogue_of
from outlast.domain.errors import CallerMistake
from outlast.wiring.discover import BUILT_IN, ToolCatalogue, ToolEntry
from outlast.wiring.settings.load import load

app = App(name="tools", help="List the tools a task may use, or check them.")


@app.command(name="list")
def list_(*, config: Config = None, json: AsJson = False) -> int:
    """List every tool a task may name: what effect it has, where it comes from, and which built-in one it replaces."""
    entries = catalogue_of(load(config)).list()
    if json:
        document({"tools": [dataclasses.asdict(entry) for entry in entries]})
    else:
        out("\n".join(aligned(map(_row, entries), ("TOOL", "EFFECT", "FROM", "WHERE"))))
    return Exit.DONE


@app.command
def check(*, config: Config = None, json: AsJson = False) -> int:
    """Import the tools of your own and say what is wrong with them; warns of those that declare no effect."""
    catalogue = catalogue_of(load(config))
    problems = [*catalogue.problems()]
    warnings: list[str] = []
    for entry in catalogue.list():
        if entry.origin != BUILT_IN:
            _check_one(catalogue, entry, problems, warnings)
    if json:
        document({"problems": problems, "warnings": warnings})
    else:
        for problem in problems:
            out(f"error: {problem}")
        for warning in warnings:
            out(f"warning: {warning}")
        if not problems and not warnings:
            note("Everything is in order.")
    return Exit.USAGE if problems else Exit.DONE


def _check_one(catalogue: ToolCatalogue, entry: ToolEntry, problems: list[str], warnings: list[str]) -> None:
    try:
        tool = catalogue.load([entry.name])[entry.name]
    except CallerMistake as mistake:
        problems.append(str(mistake))
        return
    if not tool.is_effect_declared:
        warnings.append(
            f"{entry.name} ({entry.path}) declares no effect, so it counts as once: after a crash it is not repeated "
            "without a person. Declare effect = read, idempotent or once."
        )


def _row(entry: ToolEntry) -> tuple[str, ...]:
    origin = f"{entry.origin}, replaces a built-in" if entry.replaces else entry.origin
    return (entry.name, entry.effect or "- (once)", origin, "" if entry.origin == BUILT_IN else entry.path)
