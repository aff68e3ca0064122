"""Plain functions in processes of their own, seen from the worker: start, listen, end them all."""

from __future__ import annotations

import asyncio
import atexit
import json
import os
import socket
import subprocess
import sys
from functools import cache
from typing import Any, Final

from outlast.adapters.execution.line import Ended, Line
from outlast.domain.errors import Broken

_MOST_STARTS: Final = 3
_BOOT: Final = (
    "import json, sys; sys.path[:] = json.loads(sys.argv[2]); "
    "from outlast.adapters.execution.child_main import serve; serve(int(sys.argv[1]))"
)


class Children:
    """Starts tool processes, each forked from one prepared process that lives as long as this object."""

    def __init__(self) -> None:
        self._owner = os.getpid()
        self._forker: subprocess.Popen[bytes] | None = None
        self._requests: socket.socket | None = None

    async def call(self, job: dict[str, Any], timeout_seconds: float) -> Ended:
        """Run one job and wait until it has ended with everything it started, at most `timeout_seconds` and a
        moment.

        When cancelled, ends it all first. Raises Broken (`no_child_process`) when no process can be started.
        """
        line = await self._start()
        try:
            return await line.attend(json.dumps(job).encode(), timeout_seconds)
        finally:
            line.close()

    def close(self) -> None:
        """Let the prepared process go; calls in flight end. Safe to call twice."""
        if self._requests is not None:
            self._requests.close()
        if self._forker is not None and self._owner == os.getpid():
            self._forker.wait()
        self._requests = self._forker = None

    async def _start(self) -> Line:
        line = Line()
        try:
            await self._request(line.far_ends())
        except BaseException:
            line.close()
            raise
        finally:
            line.close_far_ends()
        return line

    async def _request(self, descriptors: list[int]) -> None:
        for _ in range(_MOST_STARTS):
            try:
                await _send(self._open(), descriptors)
                return
            except OSError:
                # The prepared process was killed: start another.
                self.close()
        raise Broken(
            "no_child_process",
            "No process can be started for a tool.",
            "See what the machine is short of: processes, memory or file descriptors.",
        )

    def _open(self) -> socket.socket:
        if self._owner != os.getpid():
            self._owner, self._requests, self._forker = os.getpid(), None, None
        if self._requests is None:
            near, far = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
            with far:
                self._forker = subprocess.Popen(
                    [sys.executable, "-c", _BOOT, str(far.fileno()), json.dumps(sys.path)],
                    pass_fds=[far.fileno()],
                    stdin=subprocess.DEVNULL,
                    stdout=subprocess.DEVNULL,
                    start_new_session=True,
                )
            near.setblocking(False)
            self._requests = near
        return self._requests


async def _send(requests: socket.socket, descriptors: list[int]) -> None:
    while True:
        try:
            socket.send_fds(requests, [b"f"], descriptors)
            return
        except BlockingIOError:
            await asyncio.sleep(0.01)


@cache
def default_children() -> Children:
    """The Children of this process, made when they are first needed and closed when it ends."""
    children = Children()
    atexit.register(children.close)
    return children
