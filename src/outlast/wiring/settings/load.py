"""Finds the configuration and reads it into the settings tree."""

from __future__ import annotations

import dataclasses
import os
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Final

from outlast.domain.errors import CallerMistake
from outlast.wiring.settings.document import Document, read_file
from outlast.wiring.settings.notices import unused_parts
from outlast.wiring.settings.overrides import Override, applied
from outlast.wiring.settings.problem import Problem, mistake_of, shown_path
from outlast.wiring.settings.reader import Reading
from outlast.wiring.settings.shadowed import unclear_steps
from outlast.wiring.settings.tree import Settings

FILE_NAMES: Final = ("outlast.yaml", "config.yaml")
"""What the configuration is called in a directory; only one of them may be there."""

VARIABLE: Final = "OUTLAST_CONFIG"
"""The variable that names a configuration elsewhere."""


def find_config(
    path: Path | str | None = None, *, directory: Path | None = None, environ: Mapping[str, str] | None = None
) -> Path | None:
    """The configuration to read: `path`, else what OUTLAST_CONFIG names, else the one in `directory`; None: there is none.

    Raises CallerMistake (`config_not_found`, `two_configs`).
    """
    environ = os.environ if environ is None else environ
    named = path or environ.get(VARIABLE)
    if named:
        return _existing(Path(named), "--config" if path else VARIABLE)
    directory = directory or Path.cwd()
    found = [directory / name for name in FILE_NAMES if (directory / name).exists()]
    if len(found) > 1:
        raise CallerMistake(
            "two_configs",
            f"{shown_path(directory)} holds both {FILE_NAMES[0]} and {FILE_NAMES[1]}, so it is not clear which one counts.",
            "Keep one of them, or name one with --config.",
        )
    return found[0] if found else None


def load(
    path: Path | str | None = None,
    *,
    directory: Path | None = None,
    environ: Mapping[str, str] | None = None,
    overrides: Iterable[Override] = (),
) -> Settings:
    """The settings of the configuration that `find_config` finds, or the defaults at home in `directory`, with `overrides` over them.

    Overrides of a task's keys are left out. References in texts stay unresolved. Raises CallerMistake with every problem of the
    document (`invalid_settings`), or for a file that cannot be found or read.
    """
    environ = os.environ if environ is None else environ
    file = find_config(path, directory=directory, environ=environ)
    document = read_file(file) if file else Document("the defaults", {})
    settings, problems = read_settings(document, environ, overrides)
    if problems:
        raise mistake_of(problems, "Correct the configuration; docs/reference/settings.md lists every key.")
    home = file.resolve().parent if file else (directory or Path.cwd()).resolve()
    return dataclasses.replace(settings, home=home, file=file)


def read_settings(
    document: Document, environ: Mapping[str, str], overrides: Iterable[Override] = ()
) -> tuple[Settings, list[Problem]]:
    """The settings in a document and everything that is wrong with them; what is wrong has its default."""
    document = applied(document, [override for override in overrides if override.path[0] != "task"])
    reading = Reading(document, environ)
    settings: Settings = reading.whole()
    reading.problems += _unclear_servers(settings, document)
    reading.problems += unclear_steps(settings, document)
    notices = tuple(unused_parts(document) + reading.notices)
    return dataclasses.replace(settings, notices=notices, missing=tuple(reading.missing)), reading.problems


def _unclear_servers(settings: Settings, document: Document) -> list[Problem]:
    return [
        Problem(
            document.place(("mcp_servers", name)),
            f"mcp_servers.{name}",
            "give either url or command, and only one of them",
        )
        for name, server in settings.mcp_servers.items()
        if (server.url is None) == (server.command is None)
    ]


def _existing(path: Path, origin: str) -> Path:
    if path.is_file():
        return path
    problem = "is a directory" if path.is_dir() else "does not exist"
    raise CallerMistake(
        "config_not_found",
        f"The configuration {path} ({origin}) {problem}.",
        "Name a YAML file that is there.",
    )
