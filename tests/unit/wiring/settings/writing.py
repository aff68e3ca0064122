"""Configurations and tasks written for a test, and what is said of them."""

from collections.abc import Mapping
from pathlib import Path

import pytest

from outlast.domain.errors import CallerMistake
from outlast.wiring.settings.load import load
from outlast.wiring.settings.task_files import Task, find_task
from outlast.wiring.settings.tree import Settings

DOCUMENTS = Path(__file__).parent / "documents"


def settings_of(folder: Path, text: str, environ: Mapping[str, str] | None = None) -> Settings:
    """The settings in a configuration with this text."""
    (folder / "outlast.yaml").write_text(text, "utf-8")
    return load(directory=folder, environ=environ or {})


def task_of(folder: Path, text: str, environ: Mapping[str, str] | None = None) -> Task:
    """The task in a file with this text below `task:`."""
    (folder / "tasks").mkdir(exist_ok=True)
    indented = "".join(f"  {line}\n" for line in text.splitlines())
    (folder / "tasks" / "it.yaml").write_text(f"task:\n  name: it\n{indented}", "utf-8")
    return find_task("it", Settings(home=folder), environ=environ or {})


def said_of(folder: Path, text: str, environ: Mapping[str, str] | None = None) -> str:
    """What is said of a configuration that is refused."""
    with pytest.raises(CallerMistake) as caught:
        settings_of(folder, text, environ)
    return str(caught.value)


def said_of_task(folder: Path, text: str) -> str:
    """What is said of a task that is refused."""
    with pytest.raises(CallerMistake) as caught:
        task_of(folder, text)
    return str(caught.value)
