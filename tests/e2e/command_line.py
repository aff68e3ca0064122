"""The real command line in a directory of its own: commands as processes, watched by what they write."""

from __future__ import annotations

import io
import json
import os
import queue
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Mapping
from contextlib import chdir, redirect_stderr, redirect_stdout
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import Any
from unittest.mock import patch

from outlast.cli.main import answer
from tests.patience import PATIENCE_SECONDS

ROOT = Path(__file__).resolve().parents[2]
OUTLAST = (sys.executable, "-m", "outlast.cli")


@dataclass(frozen=True)
class Ended:
    """A command that has ended."""

    code: int
    out: str
    err: str

    @property
    def document(self) -> Any:
        """The JSON document on stdout."""
        return json.loads(self.out)

    @property
    def lines(self) -> list[dict[str, Any]]:
        """The JSON lines on stdout."""
        return [json.loads(line) for line in self.out.splitlines()]


class Going:
    """A command at work; what it writes to stderr is read as it comes."""

    def __init__(self, process: subprocess.Popen[str]) -> None:
        self.process = process
        self.err = ""
        self._lines: queue.Queue[str | None] = queue.Queue()
        threading.Thread(target=self._read, daemon=True).start()

    def until(self, text: str) -> str:
        """Wait until `text` stands in a line of stderr; returns the line."""
        give_up_at = time.monotonic() + PATIENCE_SECONDS
        while True:
            line = self._lines.get(timeout=max(0.01, give_up_at - time.monotonic()))
            assert line is not None, f"it ended without saying {text!r}: {self.err}"
            if text in line:
                return line

    def signal(self, number: int) -> None:
        """Send a signal."""
        self.process.send_signal(number)

    def kill(self) -> None:
        """End it as a power cut would."""
        self.process.send_signal(signal.SIGKILL)
        self.process.wait(PATIENCE_SECONDS)

    def end(self) -> Ended:
        """Wait until it has ended."""
        assert self.process.stdout is not None
        out = self.process.stdout.read()
        code = self.process.wait(PATIENCE_SECONDS)
        while self._lines.get(timeout=PATIENCE_SECONDS) is not None:
            pass
        return Ended(code, out, self.err)

    def _read(self) -> None:
        assert self.process.stderr is not None
        for line in self.process.stderr:
            self.err += line
            self._lines.put(line)
        self._lines.put(None)


class Home:
    """A directory with a configuration, and the commands that are given in it."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.environ: dict[str, str] = {}
        self._going: list[Going] = []

    def write(self, name: str, text: str) -> Path:
        """Write a file."""
        path = self.folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
        return path

    def outlast(
        self, *words: str, stdin: str | None = None, environ: Mapping[str, str] | None = None
    ) -> Ended:
        """Run a command to its end."""
        done = subprocess.run(
            [*OUTLAST, *words],
            cwd=self.folder,
            env=self._environ(environ),
            input=stdin if stdin is not None else "",
            capture_output=True,
            encoding="utf-8",
            timeout=2 * PATIENCE_SECONDS,
            check=False,
        )
        return Ended(done.returncode, done.stdout, done.stderr)

    def start(self, *words: str) -> Going:
        """Begin a command; it is ended with the test at the latest."""
        process = subprocess.Popen(
            [*OUTLAST, *words],
            cwd=self.folder,
            env=self._environ(None),
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            encoding="utf-8",
        )
        going = Going(process)
        self._going.append(going)
        return going

    def run_id(self) -> str:
        """The id of the newest run."""
        found: str = self.here("runs", "--json").document["runs"][0]["run_id"]
        return found

    def trace(self, run_id: str) -> list[dict[str, Any]]:
        """The trace of a run."""
        return self.here("trace", run_id, "--json").lines

    def here(self, *words: str, environ: Mapping[str, str] | None = None) -> Ended:
        """A command in this process: the same command, without the start of another Python."""
        out, err = io.StringIO(), io.StringIO()
        with (
            chdir(self.folder),
            redirect_stdout(out),
            redirect_stderr(err),
            patch.dict(os.environ, self._environ(environ)),
        ):
            code = answer(words)
        return Ended(code, out.getvalue(), err.getvalue())

    def close(self) -> None:
        """End what is still at work."""
        for going in self._going:
            if going.process.poll() is None:
                going.kill()
            for stream in (going.process.stdout, going.process.stderr):
                if stream is not None:
                    stream.close()

    def _environ(self, more: Mapping[str, str] | None) -> dict[str, str]:
        kept = {name: value for name, value in os.environ.items() if not name.startswith("OUTLAST")}
        return {**kept, "PYTHONIOENCODING": "utf-8", **self.environ, **(more or {})}


def seconds_between(lines: list[dict[str, Any]], first: str, then: str) -> float:
    """Seconds from the last `first` event to the next `then` after it; `StateEntered:PAUSED` is one with that target."""
    kind, _, target = then.partition(":")
    start = max(at for at, line in enumerate(lines) if line["kind"] == first)
    end = next(
        line
        for line in lines[start + 1 :]
        if line["kind"] == kind and (not target or line["data"].get("target") == target)
    )
    return _seconds(end["at"]) - _seconds(lines[start]["at"])


def _seconds(at: str) -> float:
    return datetime.fromisoformat(at).timestamp()
