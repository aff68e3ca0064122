"""The parent of one tool process: whatever that process starts, none of it outlives the call.

A supervisor is a subreaper, so each descendant whose own parent ends becomes its child, a `setsid` daemon
too. It ends when its leash says so, when the other end of the leash is gone, or when the tool process ends by
itself.
"""

from __future__ import annotations

import contextlib
import ctypes
import json
import os
import select
import signal
import sys
import time
from pathlib import Path
from typing import Final, NoReturn

from outlast.adapters.execution.runner import run_job

GRACE_SECONDS: Final = 0.5
"""How long processes have between SIGTERM and SIGKILL."""

_KILL_SECONDS: Final = 5.0
_PR_SET_CHILD_SUBREAPER: Final = 36
_LIBC: Final = ctypes.CDLL(None)


def become_subreaper() -> None:
    """Make orphans among the descendants of this process its children.

    Does nothing where the system cannot.
    """
    if sys.platform == "linux":
        _LIBC.prctl(_PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0)


def supervise(leash: int, talk: int, printed: int) -> NoReturn:
    """Run one job in a process below this one; write its exit status to the leash when nothing of it is left."""
    os.setsid()
    become_subreaper()
    tool = os.fork()
    if tool == 0:
        os.close(leash)
        os.setsid()
        run_job(talk, printed)
    os.close(talk)
    os.close(printed)
    family = Family(tool)
    if _ends_on_its_own(tool, leash):
        family.reap()
    else:
        family.signal(signal.SIGTERM)
        family.wait(GRACE_SECONDS)
    is_gone = family.kill(_KILL_SECONDS)
    status = {"exit": family.tool_status, "is_gone": is_gone}
    with contextlib.suppress(OSError):
        os.write(leash, json.dumps(status).encode())
    os._exit(0)


class Family:
    """The children of this process, among them one tool process; orphans below it join them as they appear."""

    def __init__(self, tool: int | None = None, spared: set[int] | None = None) -> None:
        self._tool = tool
        self._spared = set() if spared is None else spared
        self.tool_status: int | None = None

    def reap(self) -> bool:
        """Collect the children that have ended. Is none left?"""
        while True:
            try:
                child, status = os.waitpid(-1, os.WNOHANG)
            except ChildProcessError:
                return True
            if child == 0:
                return False
            self._spared.discard(child)
            if child == self._tool:
                self.tool_status = os.waitstatus_to_exitcode(status)

    def signal(self, number: int) -> None:
        """Send a signal to every child, and to the whole group of each that leads one.

        Only children are named, whose numbers cannot be taken by a stranger before they are collected here.
        """
        for child in _children():
            if child not in self._spared:
                with contextlib.suppress(ProcessLookupError, PermissionError):
                    os.killpg(child, number) if os.getpgid(child) == child else os.kill(child, number)

    def wait(self, seconds: float) -> bool:
        """Wait for the children to end, at most so long. Is none left?"""
        return self._until_gone(seconds, number=None)

    def kill(self, seconds: float) -> bool:
        """SIGKILL children until none is left, at most so long. Is none left?"""
        return self._until_gone(seconds, number=signal.SIGKILL)

    def _until_gone(self, seconds: float, number: int | None) -> bool:
        end, pause = time.monotonic() + seconds, 0.0005
        while not self.reap():
            if time.monotonic() > end:
                return False
            if number is not None:
                self.signal(number)
            time.sleep(pause)
            pause = min(2 * pause, 0.02)
        return True


def _ends_on_its_own(tool: int, leash: int) -> bool:
    """Wait for the tool process or a word from the leash; did the process end first?"""
    ending = os.pidfd_open(tool)
    waiting = select.poll()
    waiting.register(ending, select.POLLIN)
    waiting.register(leash, select.POLLIN)
    return ending in {descriptor for descriptor, _ in waiting.poll()}


def _children() -> list[int]:
    own = os.getpid()
    try:
        return [int(word) for word in Path(f"/proc/self/task/{own}/children").read_text().split()]
    except OSError:
        return [int(entry.name) for entry in Path("/proc").glob("[0-9]*") if _parent_of(entry) == own]


def _parent_of(entry: Path) -> int | None:
    try:
        return int((entry / "stat").read_text().rpartition(")")[2].split()[1])
    except (OSError, ValueError, IndexError):
        return None
