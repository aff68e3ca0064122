"""The list of commands: complete, honest, and free of charge."""

import importlib
import subprocess
import sys

import pytest
from cyclopts import App

from outlast.cli.listing import SECTIONS, command_names, overview, summary_of
from outlast.cli.main import answer

FAMILIES = {"tasks", "token", "config", "db", "memory", "shadow", "threads", "tools"}


def test_the_list_needs_no_library() -> None:
    program = (
        "import sys; from outlast.cli.main import answer; answer(['--help']); "
        "print([name for name in ('cyclopts', 'rich', 'asyncio', 'sqlite3', 'ruamel') if name in sys.modules])"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert done.stdout.endswith("\n[]\n")
    assert "outlast COMMAND" in done.stdout


def test_every_command_is_placed_and_every_place_is_a_command() -> None:
    placed = [name for section in SECTIONS.values() for name in section]
    assert sorted(placed) == command_names()
    assert all(f"  {name} " in overview() for name in placed)


@pytest.mark.parametrize("name", command_names())
def test_a_command_is_called_as_its_file_is_and_says_what_it_does(
    name: str, capsys: pytest.CaptureFixture[str]
) -> None:
    app: App = importlib.import_module(f"outlast.cli.commands.{name}").app
    assert app.name == (name,)
    summary = summary_of(name)
    assert summary[0].isupper()
    assert summary.endswith(".")
    assert answer([name, "--help"]) == 0
    shown = capsys.readouterr().out
    assert f"outlast {name}" in shown
    if name not in FAMILIES:
        assert "--json" in shown or name in ("worker", "completion")


def test_the_version_is_told(capsys: pytest.CaptureFixture[str]) -> None:
    assert answer(["--version"]) == 0
    assert capsys.readouterr().out.startswith("outlast 0.")
