"""What a configuration and its tasks point to: opened as a run would at its start, so that what would stop it is told before."""

from __future__ import annotations

import importlib.util
import os
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Final

from outlast.domain.dataclass import dataclass
from outlast.domain.errors import CallerMistake
from outlast.wiring.adapters import PROVIDERS, SEARCHES, symbol
from outlast.wiring.discover import ToolCatalogue
from outlast.wiring.outside import BUILT_IN, find_outside
from outlast.wiring.settings.check import documents_of
from outlast.wiring.settings.document import Document, read_file
from outlast.wiring.settings.models import ROLES, options_of, search_of
from outlast.wiring.settings.problem import Place, Problem
from outlast.wiring.settings.task_files import read_task, task_files
from outlast.wiring.settings.task_rules import HUMAN_APPROVAL
from outlast.wiring.settings.tree import Settings

_SCRIPTED: Final = ("scripted", "replay")


@dataclass(frozen=True, slots=True)
class Beside:
    """What no run could use of what documents name, in the order of places."""

    broken: list[Problem]
    """It is there, and has to be mended."""

    missing: list[Problem]
    """It is not there: it may come with the rest of a deployment, and then nothing has to be mended."""


_Told = tuple[Problem, bool]
"""What is wrong with something, and whether it is there."""


def look_beside(
    path: Path | str | None = None,
    *,
    directory: Path | None = None,
    environ: Mapping[str, str] | None = None,
) -> Beside:
    """Every file, folder and module that the configuration or a task beside it names and no run could use.

    Looked at are scripts and recordings of models, the folder that is searched, the places of tools, and the modules of workflows
    and hooks, which are loaded. What is wrong with the documents themselves, `settings.check` tells.
    """
    environ = os.environ if environ is None else environ
    try:
        document, settings, _ = documents_of(path, directory, environ)
    except CallerMistake:
        return Beside([], [])
    told = [
        *_scripts(document, settings, environ),
        *_search(document, settings, environ),
        *_tools(document, settings, environ),
    ]
    for file in task_files(settings):
        told += _code_of(file, environ)
    broken, missing = (
        {problem for problem, is_there in told if is_there is wanted} for wanted in (True, False)
    )
    return Beside(sorted(broken), sorted(missing))


def _problem(place: Place, key: str, mistake: CallerMistake) -> Problem:
    return Problem(place, key, f"{mistake.detail} {mistake.next_step}".strip(), mistake.code)


def _scripts(document: Document, settings: Settings, environ: Mapping[str, str]) -> Iterator[_Told]:
    """Scripts and recordings that cannot be played; each is read once, where it is named first."""
    seen: set[tuple[str, Path]] = set()
    for llm in (llm for role in ROLES for llm in options_of(settings, role)):
        if llm.provider not in _SCRIPTED or llm.script is None or llm.script.missing(environ):
            continue
        file, key = settings.path(llm.script, environ), llm.script.key
        if (llm.provider, file) in seen:
            continue
        seen.add((llm.provider, file))
        try:
            symbol(PROVIDERS[llm.provider]).from_file(file)
        except CallerMistake as mistake:
            yield _problem(document.place(tuple(key.split("."))), key, mistake), file.exists()


def _search(document: Document, settings: Settings, environ: Mapping[str, str]) -> Iterator[_Told]:
    """A search that was asked for and has nothing to search; what is searched where none was named is settled by the run."""
    wanted = search_of(settings)
    if settings.search is None or wanted.provider not in SEARCHES or wanted.path.missing(environ):
        return
    folder = settings.path(wanted.path, environ)
    if any(file.is_file() for file in folder.rglob("*")):
        return
    code, why = ("corpus_empty", "holds no file") if folder.is_dir() else ("corpus_missing", "is no folder")
    detail = f"{folder} {why}, so no run could search it. Put documents in it, or name another folder."
    yield Problem(document.place(("search", "path")), "search.path", detail, code), False


def _tools(document: Document, settings: Settings, environ: Mapping[str, str]) -> Iterator[_Told]:
    if any(path.missing(environ) for path in settings.tools.paths):
        return
    paths = tuple(settings.path(path, environ) for path in settings.tools.paths)
    try:
        ToolCatalogue(paths, mcp_servers=settings.mcp_servers.keys()).list()
    except CallerMistake as mistake:
        yield (
            _problem(document.place(("tools", "paths")), "tools.paths", mistake),
            mistake.code != "no_such_path",
        )


def _code_of(file: Path, environ: Mapping[str, str]) -> Iterator[_Told]:
    """The workflow and the hooks of a task that cannot be loaded."""
    try:
        document = read_file(file)
    except CallerMistake:
        return
    task, problems = read_task(document, environ)
    if problems:
        return
    named: list[tuple[str, tuple[str, ...], str]] = [
        ("hook", ("task", "hooks", point), hook)
        for point, hook in task.hooks.items()
        if hook != HUMAN_APPROVAL
    ]
    if task.workflow not in BUILT_IN:
        named.append(("workflow", ("task", "workflow"), task.workflow))
    home = file.resolve().parent
    for what, key, name in named:
        try:
            find_outside(name, home, what)
        except CallerMistake as mistake:
            yield _problem(document.place(key), ".".join(key), mistake), _is_there(name, home)


def _is_there(name: str, home: Path) -> bool:
    """Is there a module of this name, or a package that it would be in, whatever it holds?"""
    package = name.partition(":")[0].partition(".")[0]
    try:
        return home.joinpath(f"{package}.py").exists() or importlib.util.find_spec(package) is not None
    except (ImportError, ValueError):
        return True  # the name is none of a module
