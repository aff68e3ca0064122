"""What `outlast config check` finds in the documents: everything that would stop a run, without starting one."""

from __future__ import annotations

import os
import shutil
from collections.abc import Collection, Iterator, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

from outlast.domain.errors import CallerMistake
from outlast.wiring.settings.document import Document, read_file
from outlast.wiring.settings.load import find_config, read_settings
from outlast.wiring.settings.models import ROLES, llm_of, search_of
from outlast.wiring.settings.problem import Place, Problem, nearest, shown_path
from outlast.wiring.settings.shadow_check import shadow_problems
from outlast.wiring.settings.spec import lacking
from outlast.wiring.settings.task_files import read_task, task_files
from outlast.wiring.settings.task_tree import TaskDocument
from outlast.wiring.settings.tree import Llm, Roles, Settings
from outlast.wiring.settings.walk import texts_of


def check(
    path: Path | str | None = None,
    *,
    directory: Path | None = None,
    environ: Mapping[str, str] | None = None,
    known_tools: Collection[str] | None = None,
) -> list[Problem]:
    """Every problem of the configuration and of the tasks beside it, in the order of their places; empty: a run could start.

    Told are unreadable files, unknown keys, wrong values, variables that are needed and not set, and, where `known_tools` lists
    the tools there are, tools that are named and not there. What they point to, `wiring.beside` opens; no server is asked.
    """
    environ = os.environ if environ is None else environ
    try:
        document, settings, problems = documents_of(path, directory, environ)
    except CallerMistake as mistake:
        return [_problem_of(mistake)]
    problems += _missing_variables(settings, document, environ)
    problems += _missing_settings(settings, document)
    problems += _unknown_sections(settings, document, known_tools)
    names: dict[str, str] = {}
    tasks: list[TaskDocument] = []
    for task_file in task_files(settings):
        problems += _check_task(task_file, settings, environ, known_tools, names, tasks)
    problems += shadow_problems(settings, document, environ, tasks, known_tools)
    return sorted(set(problems))


def documents_of(
    path: Path | str | None, directory: Path | None, environ: Mapping[str, str]
) -> tuple[Document, Settings, list[Problem]]:
    """The configuration as it is written and as it is read, and what is wrong with it; what is wrong has its default.

    Raises CallerMistake for one that cannot be found or read.
    """
    file = find_config(path, directory=directory, environ=environ)
    document = read_file(file) if file else Document("the defaults", {})
    settings, problems = read_settings(document, environ)
    home = file.resolve().parent if file else (directory or Path.cwd())
    return document, replace(settings, home=home), problems


def _problem_of(mistake: CallerMistake, place: str = "the configuration") -> Problem:
    return Problem(Place(place), "", mistake.detail, mistake.code)


def _check_task(
    file: Path,
    settings: Settings,
    environ: Mapping[str, str],
    known_tools: Collection[str] | None,
    names: dict[str, str],
    tasks: list[TaskDocument],
) -> Iterator[Problem]:
    try:
        document = read_file(file)
    except CallerMistake as mistake:
        yield _problem_of(mistake, shown_path(file))
        return
    task, problems = read_task(document, environ)
    yield from problems
    tasks.append(task)
    if task.name in names:
        detail = f"{names[task.name]} has a task of this name too; give each a name of its own"
        yield Problem(document.place(("task", "name")), "task.name", detail, "two_tasks")
    names.setdefault(task.name, document.name)
    yield from _unknown_tools(task, document, settings, known_tools)
    yield from _missing_programs(task, document, settings, environ)


def _unknown_tools(
    task: TaskDocument, document: Document, settings: Settings, known: Collection[str] | None
) -> Iterator[Problem]:
    for key, tool in _named_tools(task):
        server, colon, _ = tool.partition(":")
        options = settings.mcp_servers if colon else known
        if options is None or (server if colon else tool) in options:
            continue
        near = nearest(server, options)
        hint = f"; did you mean {near}{tool[len(server) :]}?" if near else ""
        what = f"there is no MCP server {server}" if colon else f"there is no tool {tool}"
        shown = ".".join(key[:2] if key[1] == "tools" else key)
        yield Problem(document.place(key), shown, what + hint, "unknown_tool")


def _named_tools(task: TaskDocument) -> Iterator[tuple[tuple[str, ...], str]]:
    """The tools a task is to have or asks a person about, each with its key: an approval of no tool would guard nothing."""
    for index, tool in enumerate(task.tools or ()):
        yield ("task", "tools", str(index)), tool
    for index, approval in enumerate(task.approvals):
        if approval.tool is not None:
            yield ("task", "approvals", str(index), "tool"), approval.tool


def _missing_programs(
    task: TaskDocument, document: Document, settings: Settings, environ: Mapping[str, str]
) -> Iterator[Problem]:
    """Programs of MCP servers that the task names and that are not on this machine."""
    told: set[str] = set()
    for index, tool in enumerate(task.tools or ()):
        name, colon, _ = tool.partition(":")
        server = settings.mcp_servers.get(name) if colon else None
        if server is None or server.command is None or name in told or server.command.missing(environ):
            continue
        told.add(name)
        command = server.command.resolve(environ)
        if shutil.which(command, path=environ.get("PATH")) or (settings.home / command).is_file():
            continue
        detail = (
            f"the program of the MCP server {name}, {command}, is not there; "
            f"install it, or correct mcp_servers.{name}.command"
        )
        place = document.place(("task", "tools", str(index)))
        yield Problem(place, "task.tools", detail, "program_missing")


def _unknown_sections(
    settings: Settings, document: Document, known: Collection[str] | None
) -> Iterator[Problem]:
    for name in settings.tools.by_name:
        if known is not None and name not in known:
            near = nearest(name, {*known, "paths"})
            detail = f"there is no tool {name}" + (f"; did you mean {near}?" if near else "")
            yield Problem(document.place(("tools", name)), f"tools.{name}", detail, "unknown_tool")


def _missing_settings(settings: Settings, document: Document) -> Iterator[Problem]:
    parts: list[tuple[str, Any]] = [("llm", llm_of(settings, role)) for role in ROLES]
    parts += [("search", search_of(settings)), ("harness.persistence", settings.harness.persistence)]
    for path, section in parts:
        for made in lacking(section):
            key = f"{path}.{made.name}"
            yield Problem(
                document.place(tuple(key.split("."))),
                key,
                f"it is not set; a run needs it. {made.spec.doc}",
                "missing_setting",
            )


def _missing_variables(
    settings: Settings, document: Document, environ: Mapping[str, str]
) -> Iterator[Problem]:
    for key, name in sorted(
        {*_missing_in_texts(settings, environ), *((one.key, one.name) for one in settings.missing)}
    ):
        detail = (
            f"it needs the environment variable {name}, which is not set; set it, or write ${{{name}:-...}}"
        )
        yield Problem(document.place(tuple(key.split("."))), key, detail, "missing_variable")


def _missing_in_texts(settings: Settings, environ: Mapping[str, str]) -> Iterator[tuple[str, str]]:
    parts: list[Any] = [llm_of(settings, role) for role in ROLES]
    parts += [replace(settings, llm=Llm(), roles=Roles(), search=search_of(settings))]
    for part in parts:
        for text in texts_of(part):
            yield from ((text.key, name) for name in text.missing(environ))
