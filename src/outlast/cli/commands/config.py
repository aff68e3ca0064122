"""Show the settings in force, or check the configuration and its tasks."""

from __future__ import annotations

import io

from cyclopts import App
from ruamel.yaml import YAML

from outlast.cli.exits import Exit
from outlast.cli.options import AsJson, Config, Sets
from outlast.cli.printing import document, note, out
from outlast.cli.toolbox import known_tools
from outlast.domain.door import Json
from outlast.wiring.beside import look_beside
from outlast.wiring.settings.check import check as problems_of
from outlast.wiring.settings.load import load
from outlast.wiring.settings.overrides import from_options
from outlast.wiring.settings.problem import Problem
from outlast.wiring.settings.walk import masked

app = App(name="config", help="Show the settings in force, or check the configuration and its tasks.")


@app.command
def show(*, sets: Sets = None, config: Config = None, json: AsJson = False) -> int:
    """Show every setting in force, defaults included. Secrets are shown as references or masked."""
    settings = load(config, overrides=from_options(sets or ()))
    note(f"# {settings.file or 'no configuration file: the defaults'}")
    for notice in settings.notices:
        note(f"# {notice}")
    values = masked(settings)
    if json:
        document(values)
    else:
        out(_as_yaml(values))
    return Exit.DONE


@app.command
def check(*, config: Config = None, json: AsJson = False) -> int:
    """Say everything that is wrong with the configuration and the tasks beside it; exit 2 if anything is.

    What they name is opened: scripts, the folder that is searched, tools, and the modules of workflows and hooks. What is not there
    at all is a warning. No server is asked.
    """
    beside = look_beside(config)
    problems = sorted({*problems_of(config, known_tools=known_tools(config)), *beside.broken})
    if json:
        document({"problems": _listed(problems), "warnings": _listed(beside.missing)})
    else:
        for problem in problems:
            out(str(problem))
        for warning in beside.missing:
            out(f"warning: {warning}")
        if problems:
            note(f"{len(problems)} to correct.")
        elif not beside.missing:
            note("Everything is in order.")
    return Exit.USAGE if problems else Exit.DONE


def _listed(problems: list[Problem]) -> list[Json]:
    return [
        {
            "file": one.place.source,
            "line": one.place.line,
            "key": one.key,
            "code": one.code,
            "detail": one.detail,
        }
        for one in problems
    ]


def _as_yaml(values: dict[str, Json]) -> str:
    yaml = YAML(typ="safe", pure=True)
    yaml.default_flow_style = False
    yaml.allow_unicode = True
    yaml.sort_base_mapping_type_on_output = False  # type: ignore[assignment]
    stream = io.StringIO()
    yaml.dump(values, stream)
    return stream.getvalue()
