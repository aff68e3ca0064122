"""List the tools a task may use, or check them."""

from __future__ import annotations

import dataclasses

from cyclopts import App

from outlast.cli.exits import Exit
from outlast.cli.options import AsJson, Config
from outlast.cli.printing import document, note, out
from outlast.cli.tables import aligned
from outlast.cli.toolbox import catalogue_of, server_tools
from outlast.domain.errors import CallerMistake
from outlast.wiring.discover import BUILT_IN, ToolCatalogue, ToolEntry
from outlast.wiring.settings.load import load

app = App(name="tools", help="List the tools a task may use, or check them.")


@app.command(name="list")
def list_(*, config: Config = None, json: AsJson = False) -> int:
    """List every tool a task may name: what effect it has, where it comes from, and which built-in one it replaces.

    The MCP servers of the configuration are asked for theirs; one that does not answer is shown with the reason.
    """
    settings = load(config)
    entries = [*catalogue_of(settings).list(), *server_tools(settings)]
    if json:
        document({"tools": [dataclasses.asdict(entry) for entry in entries]})
    else:
        out("\n".join(aligned(map(_row, entries), ("TOOL", "EFFECT", "FROM", "WHERE"))))
        for entry in entries:
            if entry.problem:
                note(f"{entry.name} cannot be used: {entry.problem}")
    return Exit.DONE


@app.command
def check(*, config: Config = None, json: AsJson = False) -> int:
    """Import the tools of your own, ask MCP servers for theirs, and say what is wrong; warns of tools that declare no effect."""
    settings = load(config)
    catalogue = catalogue_of(settings)
    problems = [*catalogue.problems()]
    warnings: list[str] = []
    for entry in catalogue.list():
        if entry.origin != BUILT_IN:
            _check_one(catalogue, entry, problems, warnings)
    for entry in server_tools(settings):
        if entry.problem:
            problems.append(f"{entry.name}: {entry.problem}")
        elif entry.effect is None:
            warnings.append(_undeclared(entry, f"Say what it is under mcp_servers.{entry.server}.effects."))
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
        warnings.append(_undeclared(entry, "Declare effect = read, idempotent or once."))


def _undeclared(entry: ToolEntry, next_step: str) -> str:
    return (
        f"{entry.name} ({entry.path}) declares no effect, so it counts as once: after a crash it is not repeated "
        f"without a person. {next_step}"
    )


def _row(entry: ToolEntry) -> tuple[str, ...]:
    origin = f"{entry.origin}, replaces a built-in" if entry.replaces else entry.origin
    effect = "unusable" if entry.problem else entry.effect or "- (once)"
    return (entry.name, effect, origin, "" if entry.origin == BUILT_IN else entry.path)
