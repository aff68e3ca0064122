"""Writes the first configuration, task and folder of documents: what `outlast init` does."""

from __future__ import annotations

from importlib import resources
from pathlib import Path
from typing import Final

from outlast.domain.errors import CallerMistake
from outlast.wiring.settings.load import FILE_NAMES

_TEMPLATES: Final = ("outlast.yaml", "tasks/research.yaml", "docs/README.md")


def initialise(directory: Path) -> list[Path]:
    """Write what a directory lacks to run a first task, and return the files written.

    Nothing that is there is changed, so a second call writes nothing; a `config.yaml` stands for `outlast.yaml`, and a `docs`
    folder or task of one's own for ours. Raises CallerMistake (`cannot_write`).
    """
    try:
        directory.mkdir(parents=True, exist_ok=True)
        return [path for name in _TEMPLATES if (path := _written(directory, name)) is not None]
    except OSError as error:
        raise CallerMistake(
            "cannot_write",
            f"{error.filename or directory} cannot be written ({error.strerror}).",
            "Name a directory that you may write to.",
        ) from error


def _written(directory: Path, name: str) -> Path | None:
    path = directory / name
    rivals = [directory / other for other in FILE_NAMES] if name in FILE_NAMES else [path]
    if name == "docs/README.md" and path.parent.exists():
        return None
    if any(rival.exists() for rival in rivals):
        return None
    path.parent.mkdir(exist_ok=True)
    content = resources.files("outlast.wiring").joinpath("templates", *name.split("/")).read_bytes()
    try:
        with path.open("xb") as file:
            file.write(content)
    except FileExistsError:
        return None
    return path
