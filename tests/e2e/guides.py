"""Carries out the pages of docs as they are written: files are made, scripts and commands run, what is shown compared."""

import json
import os
import re
import shlex
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from tests.patience import PATIENCE_SECONDS

ROOT = Path(__file__).resolve().parents[2]

_BLOCK = re.compile(r"^```(?P<language>\w+)(?P<info>[^\n]*)\n(?P<text>.*?)^```$", re.MULTILINE | re.DOTALL)
_TITLE = re.compile(r"title=(\S+)")
_EXIT = re.compile(r"exit=(-?\d+)")
_PLACEHOLDER = re.compile(r"\b(TEXT|ID|SEQ|FILE|NAME|TICKET)\b")
_RUN = re.compile(r"\bRUN\b")
_RUNNABLE = ("outlast ", "python ", "pytest ")
_VERB = re.compile(r"^outlast ([a-z]+)")


@dataclass(frozen=True)
class Block:
    """A fenced block: its language, the file it is (or none), the exit code its commands have, its text."""

    language: str
    file: str | None
    exit_code: int
    text: str


def blocks_in(page: str) -> list[Block]:
    """The fenced blocks of a page, in order."""
    return [_block(found) for found in _BLOCK.finditer(page)]


def verbs_in(page: str) -> Iterator[str]:
    """The verbs of the command line that a page shows as commands."""
    for block in blocks_in(page):
        if block.language == "sh":
            yield from (found[1] for line in block.text.splitlines() if (found := _VERB.match(line)))


def carry_out(page: str, folder: Path) -> int:
    """Do in `folder` what the page says; returns how many scripts and commands were run.

    Files of titled blocks are written as they come. A Python block without a title is a script; the lines of an `sh` block
    are commands, where RUN is the newest run and lines with another placeholder are left out. A `text` block holds lines that
    the commands just before it show.
    """
    told, count = "", 0
    for number, block in enumerate(blocks_in(page), 1):
        if block.file is not None:
            path = folder / block.file
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(block.text, "utf-8")
        elif block.language == "python":
            script = folder / f"script_{number}.py"
            script.write_text(block.text, "utf-8")
            told, count = _run([sys.executable, script.name], folder, block.exit_code), count + 1
        elif block.language == "sh":
            commands = [line for line in block.text.splitlines() if _is_runnable(line)]
            told = "".join(run_line(line, folder, block.exit_code) for line in commands)
            count += len(commands)
        elif block.language == "text":
            missing = [line for line in block.text.splitlines() if line.strip() not in told]
            assert not missing, f"not shown: {missing}\nbut:\n{told}"
    return count


def run_line(line: str, folder: Path, exit_code: int = 0) -> str:
    """What one command of a page prints in `folder`; it must end with `exit_code`."""
    return _run(_argv(line, folder), folder, exit_code)


def _block(found: re.Match[str]) -> Block:
    title, code = _TITLE.search(found["info"]), _EXIT.search(found["info"])
    return Block(found["language"], title[1] if title else None, int(code[1]) if code else 0, found["text"])


def _is_runnable(line: str) -> bool:
    return line.startswith(_RUNNABLE) and not _PLACEHOLDER.search(line.partition("#")[0])


def _argv(line: str, folder: Path) -> list[str]:
    program, *arguments = shlex.split(line, comments=True)
    if _RUN.search(" ".join(arguments)):
        newest = _newest_run(folder)
        arguments = [_RUN.sub(newest, argument) for argument in arguments]
    module = {"outlast": ["-m", "outlast.cli"], "pytest": ["-m", "pytest", "-p", "no:cacheprovider"]}
    return [sys.executable, *module.get(program, []), *arguments]


def _newest_run(folder: Path) -> str:
    listed = json.loads(_run([sys.executable, "-m", "outlast.cli", "runs", "--json"], folder, 0))
    return str(listed["runs"][0]["run_id"])


def _run(argv: list[str], folder: Path, exit_code: int) -> str:
    """What a command printed; it must end with `exit_code`. It has no key, no proxy and no configuration but the page's."""
    kept = {name: os.environ[name] for name in ("PATH", "HOME", "LANG") if name in os.environ}
    kept["PATH"] = os.pathsep.join([str(Path(sys.executable).parent), kept.get("PATH", "")])
    done = subprocess.run(
        argv,
        check=False,
        cwd=folder,
        env=kept,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        timeout=2 * PATIENCE_SECONDS,
    )
    assert done.returncode == exit_code, f"{argv[1:]} ended with {done.returncode}:\n{done.stdout}"
    return done.stdout
