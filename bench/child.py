"""Running probes: each in a process of its own, with a directory of its own on the disk that is measured."""

import json
import os
import signal
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parent.parent
RESULTS = ROOT / "bench" / "results"


class ProbeFailed(Exception):
    """A probe ended with an error; its last words are the message."""


def fresh_directory() -> tempfile.TemporaryDirectory[str]:
    """An empty directory on the disk of this repository, gone after use. The system's own may be in memory."""
    RESULTS.mkdir(exist_ok=True)
    return tempfile.TemporaryDirectory(prefix="probe-", dir=RESULTS)


def probe(
    module: str, *words: object, directory: str | None = None, python: str = sys.executable
) -> dict[str, Any]:
    """What a probe found. Without a directory it gets a fresh one. Raises ProbeFailed."""
    if directory is None:
        with fresh_directory() as made:
            return probe(module, *words, directory=made, python=python)
    started_at = time.monotonic()
    ended = _run(module, words, directory, python)
    if ended.returncode != 0:
        raise ProbeFailed(
            f"{module} {' '.join(map(str, words))} ended with {ended.returncode}:\n{ended.stderr[-2000:]}"
        )
    found: dict[str, Any] = json.loads(ended.stdout.strip().splitlines()[-1])
    return {"started_at": started_at, **found}


def killed(module: str, *words: object, directory: str, python: str = sys.executable) -> None:
    """Run a probe that kills itself. Raises ProbeFailed when it ends in any other way."""
    ended = _run(module, words, directory, python)
    if ended.returncode != -signal.SIGKILL:
        raise ProbeFailed(
            f"{module} was to kill itself but ended with {ended.returncode}:\n{ended.stderr[-2000:]}"
        )


def environment() -> dict[str, str]:
    """The environment of a probe: bytecode is kept, as it is where a program is installed."""
    inherited = {name: value for name, value in os.environ.items() if name != "PYTHONDONTWRITEBYTECODE"}
    return {**inherited, "PYTHONHASHSEED": "0"}


def _run(
    module: str, words: tuple[object, ...], directory: str, python: str
) -> subprocess.CompletedProcess[str]:
    command = [python, "-m", module, *map(str, words), "--directory", directory]
    return subprocess.run(command, capture_output=True, text=True, check=False, cwd=ROOT, env=environment())
