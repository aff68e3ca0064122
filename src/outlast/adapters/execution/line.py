"""The connections between the worker and one tool process."""

from __future__ import annotations

import asyncio
import contextlib
import fcntl
import json
import os
import socket
from io import FileIO
from typing import Any, Final

from outlast.adapters.execution.outcome import MOST_FRAME_BYTES
from outlast.adapters.execution.printed import Printed
from outlast.domain.dataclass import dataclass

_END_SECONDS: Final = 6.0
_PART_BYTES: Final = 256 * 1024


@dataclass(frozen=True, slots=True)
class Ended:
    """How a tool process ended, and what it left: its answer as bytes, if it gave one, and what was printed.

    `exit_code` is negative for a signal and None when it is not known. `is_gone` says that no process of the
    call is left.
    """

    frame: bytes | None
    printed: Printed
    exit_code: int | None
    is_timed_out: bool
    is_gone: bool


class Line:
    """The three connections to one tool process: the leash to its supervisor, the talk with it, what it prints."""

    def __init__(self) -> None:
        self._leash, self._far_leash = socket.socketpair()
        self._talk, self._far_talk = socket.socketpair()
        reading, writing = os.pipe()
        self._printing = FileIO(reading, "rb")
        os.set_blocking(reading, False)
        self._far_printing = os.fdopen(writing, "wb", buffering=0)
        self._leash.setblocking(False)
        self._talk.setblocking(False)
        with contextlib.suppress(OSError):
            fcntl.fcntl(reading, fcntl.F_SETPIPE_SZ, 1024 * 1024)

    def far_ends(self) -> list[int]:
        """The descriptors the other side is given."""
        return [self._far_leash.fileno(), self._far_talk.fileno(), self._far_printing.fileno()]

    def close_far_ends(self) -> None:
        """Give up this process's copies of the other side's descriptors."""
        for far in (self._far_leash, self._far_talk, self._far_printing):
            far.close()

    def close(self) -> None:
        """Give up everything; a supervisor that is still there ends its processes."""
        for end in (self._leash, self._talk, self._printing):
            end.close()

    async def attend(self, job: bytes, timeout_seconds: float) -> Ended:
        """Send the job and wait for the end of its processes, which is brought about after `timeout_seconds`."""
        loop = asyncio.get_running_loop()
        listener = _Listener(self._printing)
        loop.add_reader(self._printing, listener.read)
        answering = asyncio.ensure_future(self._converse(job))
        ending = asyncio.ensure_future(loop.sock_recv(self._leash, 4096))
        try:
            await asyncio.wait({ending}, timeout=timeout_seconds)
            is_timed_out = not ending.done()
            status = await self._end(ending)
            await asyncio.wait([answering], timeout=_END_SECONDS)
            await asyncio.wait([listener.ended], timeout=_END_SECONDS)
            frame = answering.result() if answering.done() else None
            return Ended(frame, listener.printed, is_timed_out=is_timed_out, **status)
        except asyncio.CancelledError:
            await self._end(ending)
            raise
        finally:
            answering.cancel()
            ending.cancel()
            loop.remove_reader(self._printing)

    async def _end(self, ending: asyncio.Future[bytes]) -> dict[str, Any]:
        """Pull the leash unless the processes have ended, and wait for the word that nothing is left."""
        if not ending.done():
            with contextlib.suppress(OSError):
                self._leash.send(b"end")
            await asyncio.wait({ending}, timeout=_END_SECONDS)
        try:
            status = json.loads(ending.result())
        except (OSError, ValueError, asyncio.InvalidStateError):
            return {"exit_code": None, "is_gone": False}
        return {"exit_code": status["exit"], "is_gone": status["is_gone"]}

    async def _converse(self, job: bytes) -> bytes | None:
        """Send the job, then read the answer; None when the process ended without one or sent more than it may."""
        loop = asyncio.get_running_loop()
        try:
            await loop.sock_sendall(self._talk, len(job).to_bytes(8, "big") + job)
            size = int.from_bytes(await self._exactly(8), "big")
            return await self._exactly(size) if size <= MOST_FRAME_BYTES else None
        except (OSError, EOFError):
            return None

    async def _exactly(self, size: int) -> bytes:
        loop, data = asyncio.get_running_loop(), bytearray()
        while len(data) < size:
            part = await loop.sock_recv(self._talk, min(size - len(data), 1024 * 1024))
            if not part:
                raise EOFError
            data += part
        return bytes(data)


class _Listener:
    """Takes in what is printed as it comes, so that no process ever waits on a full pipe.

    No transport of the loop reads the pipe: those of uvloop close its descriptor a second time, when it may be another's.
    """

    def __init__(self, printing: FileIO) -> None:
        self._printing = printing
        self._loop = asyncio.get_running_loop()
        self.printed = Printed()
        self.ended: asyncio.Future[None] = self._loop.create_future()

    def read(self) -> None:
        """Take in what is there."""
        data = self._printing.read(_PART_BYTES)
        if data:
            self.printed.add(data)
        elif data is not None:  # at its end, and not merely empty
            self._loop.remove_reader(self._printing)
            self.ended.set_result(None)
