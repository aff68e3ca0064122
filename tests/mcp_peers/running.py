"""Peers as processes that are killed and started again at the same address."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path
from typing import Self

from tests.patience import PATIENCE_SECONDS

ROOT = Path(__file__).resolve().parents[2]


class RunningPeer:
    """The tasks server in a process of its own; `kill` ends it as a crash would, `start` starts it again on the same file."""

    def __init__(self, folder: Path) -> None:
        self._database = folder / "tasks.db"
        self._port = 0
        self._process: subprocess.Popen[str] | None = None

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self._port}/mcp"

    def start(self) -> None:
        command = [sys.executable, "-m", "tests.mcp_peers.tasks_peer", str(self._port), str(self._database)]
        self._process = subprocess.Popen(command, stdout=subprocess.PIPE, text=True, cwd=ROOT)
        assert self._process.stdout is not None
        said = self._process.stdout.readline()
        assert said.startswith("listening "), said
        self._port = int(said.split()[1])

    def kill(self) -> None:
        if self._process is not None:
            self._process.kill()
            self._process.wait(PATIENCE_SECONDS)
            assert self._process.stdout is not None
            self._process.stdout.close()
            self._process = None

    def __enter__(self) -> Self:
        self.start()
        return self

    def __exit__(self, *exc: object) -> None:
        self.kill()
