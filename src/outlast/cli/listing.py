"""The commands there are, found by their files, and the text of `outlast --help`."""

from __future__ import annotations

from pathlib import Path
from typing import Final

SECTIONS: Final[dict[str, tuple[str, ...]]] = {
    "Work": ("init", "run", "chat", "resume", "fork", "serve", "worker"),
    "Steer a run": ("pause", "cancel", "say", "answer", "approve", "reject", "set"),
    "Look": ("runs", "show", "report", "trace", "threads", "tasks", "memory", "stats", "shadow"),
    "Keep and move": ("export", "import", "archive", "prune"),
    "Set up": ("config", "tools", "token", "doctor", "db", "completion"),
}
"""The order in which commands are listed. A command that is not named here is listed last."""

_FOLDER: Final = Path(__file__).parent / "commands"


def command_names() -> list[str]:
    """The names of all commands, sorted."""
    return sorted(path.stem for path in _FOLDER.glob("*.py") if not path.stem.startswith("_"))


def summary_of(name: str) -> str:
    """What a command does, in one line: the first of its file."""
    with (_FOLDER / f"{name}.py").open(encoding="utf-8") as file:
        return file.readline().strip().strip('"')


def overview() -> str:
    """The text of `outlast --help`."""
    names = command_names()
    placed = {name for section in SECTIONS.values() for name in section}
    rest = tuple(name for name in names if name not in placed)
    lines = [
        "outlast: agent runs that outlive the process, the machine and the deploy.",
        "",
        "Usage: outlast COMMAND ...",
    ]
    for title, members in {**SECTIONS, "More": rest}.items():
        listed = [name for name in members if name in names]
        if listed:
            lines += ["", f"{title}:", *(f"  {name:<10} {summary_of(name)}" for name in listed)]
    lines += [
        "",
        "`outlast COMMAND --help` tells the options of a command. All take --config FILE and --json; --debug shows tracebacks.",
        "Exit codes: 0 done, 1 the run failed, 2 wrong usage or configuration, 3 a person is needed or the run is paused,",
        "4 not found, 5 conflict, 130 interrupted (the run can be resumed).",
    ]
    return "\n".join(lines) + "\n"
