"""Finds and reads task files: a path, a name among `tasks/*.yaml` beside the config, or a task that is built in."""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Final

from outlast.domain.dataclass import dataclass
from outlast.domain.errors import CallerMistake, NotFound
from outlast.wiring.settings.document import Document, read_file
from outlast.wiring.settings.overrides import Override, applied
from outlast.wiring.settings.problem import Problem, listed, mistake_of, nearest, shown_path
from outlast.wiring.settings.reader import Reading
from outlast.wiring.settings.task_rules import findings
from outlast.wiring.settings.task_tree import TaskDocument, TaskFile
from outlast.wiring.settings.tree import Settings

_SUFFIXES: Final = (".yaml", ".yml")
_BUILT_IN: Final[dict[str, dict[str, str]]] = {
    "research": {
        "name": "research",
        "description": "Study a question and report what the sources say",
        "workflow": "research",
    },
    "chat": {"name": "chat", "description": "Talk with a person", "workflow": "chat"},
}


@dataclass(frozen=True, slots=True)
class Task:
    """A task that was read. `home` is where its hooks and workflow are found: the file's directory, or the config's."""

    document: TaskDocument
    home: Path
    file: Path | None = None


def task_names(settings: Settings) -> list[str]:
    """The names that `find_task` knows, sorted: those of the files beside the config, and the built-in ones."""
    return sorted({*_BUILT_IN, *_files_by_name(settings.home / "tasks")})


def find_task(
    wanted: str,
    settings: Settings,
    *,
    environ: Mapping[str, str] | None = None,
    overrides: Iterable[Override] = (),
    by_name_only: bool = False,
) -> Task:
    """The task in the file `wanted`, or of the name `wanted`, with those `overrides` over it whose path begins with `task`.

    With `by_name_only` (for callers who may not read this machine's files) `wanted` is never taken for a path. A file's task
    hides a built-in one of its name. Raises NotFound (`task_not_found`), CallerMistake (`two_tasks`, `invalid_task` with every
    problem).
    """
    environ = os.environ if environ is None else environ
    file, document = _document_of(wanted, settings, by_name_only=by_name_only)
    task, problems = read_task(document, environ, overrides)
    if problems:
        raise mistake_of(problems, "Correct the task; docs/reference/settings.md lists every key.")
    return Task(task, file.resolve().parent if file else settings.home, file)


def read_task(
    document: Document, environ: Mapping[str, str], overrides: Iterable[Override] = ()
) -> tuple[TaskDocument, list[Problem]]:
    """The task in a document and everything that is wrong with it; what is wrong has its default."""
    document = applied(document, [override for override in overrides if override.path[0] == "task"])
    reading = Reading(document, environ, root=TaskFile)
    file: TaskFile = reading.whole()
    problems = reading.problems + [
        Problem(
            document.place(tuple(missing.key.split("."))),
            missing.key,
            f"the variable {missing.name} is not set",
        )
        for missing in reading.missing
    ]
    if not problems:
        problems += [
            Problem(document.place(("task", *path)), ".".join(("task", *path)), detail)
            for path, detail in findings(file.task)
        ]
    return file.task, [Problem(one.place, one.key, one.detail, "invalid_task") for one in problems]


def task_files(settings: Settings) -> list[Path]:
    """The task files beside the config, by their names."""
    return _task_files(settings.home / "tasks")


def _document_of(wanted: str, settings: Settings, *, by_name_only: bool) -> tuple[Path | None, Document]:
    if not by_name_only and (wanted.endswith(_SUFFIXES) or "/" in wanted):
        path = Path(wanted)
        if not path.is_file():
            raise NotFound(
                "task_not_found",
                f"There is no task file {wanted}.",
                "Name a file that is there, or a task by its name.",
            )
        return path, read_file(path)
    found = _files_by_name(settings.home / "tasks")
    files = found.get(wanted, [])
    if len(files) > 1:
        names = listed([shown_path(file) for file in files])
        raise CallerMistake(
            "two_tasks",
            f"The task {wanted} is in {names}.",
            "Give each task a name of its own, or name the file.",
        )
    if files:
        return files[0], read_file(files[0])
    if wanted in _BUILT_IN:
        return None, Document(f"the built-in task {wanted}", {"task": dict(_BUILT_IN[wanted])})
    raise _no_such_task(wanted, list({**found, **_BUILT_IN}), settings.home / "tasks")


def _no_such_task(wanted: str, names: list[str], directory: Path) -> NotFound:
    near = nearest(wanted, names)
    hint = f"Did you mean {near}?" if near else f"There are {listed(sorted(names))}."
    unreadable = [shown_path(file) for file in _task_files(directory) if _name_in(file) is None]
    also = f" {listed(unreadable)} cannot be read; see outlast config check." if unreadable else ""
    return NotFound(
        "task_not_found", f"There is no task named {wanted!r} in {shown_path(directory)}.", hint + also
    )


def _files_by_name(directory: Path) -> dict[str, list[Path]]:
    found: dict[str, list[Path]] = {}
    for file in _task_files(directory):
        name = _name_in(file)
        if name is not None:
            found.setdefault(name, []).append(file)
    return found


def _task_files(directory: Path) -> list[Path]:
    if not directory.is_dir():
        return []
    return sorted(file for file in directory.iterdir() if file.suffix in _SUFFIXES and file.is_file())


def _name_in(file: Path) -> str | None:
    """The name of the task in a file, if the file can be read; what else is wrong with it is told when the task is wanted."""
    try:
        value = read_file(file).value
    except CallerMistake:
        return None
    task = value.get("task") if isinstance(value, dict) else None
    name = task.get("name") if isinstance(task, dict) else None
    return name if isinstance(name, str) else None
