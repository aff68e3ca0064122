"""A server that is a program: started with few variables, its messages taken from stdout, its chatter from stderr.

The client library has such a transport too, but reads a line of any length into memory (decision 0190).
"""

from __future__ import annotations

import asyncio
import contextlib
import os
import signal
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import asynccontextmanager, contextmanager
from typing import Final, cast

import anyio
from anyio.streams.memory import MemoryObjectReceiveStream, MemoryObjectSendStream
from mcp.client._transport import TransportStreams
from mcp.client.stdio import get_default_environment
from mcp.shared.message import SessionMessage

from outlast.adapters.mcp.config import ServerConfig
from outlast.adapters.mcp.lines import Item, Lines, LineTooLong, message_in

FLUSH_SECONDS: Final = 0.5
"""How long what was said to a program may take to be written before its stdin is closed."""

GRACE_SECONDS: Final = 2.0
"""How long a program may take to end when its stdin is closed, then when it is told to, then when it is killed."""

_KEPT_BYTES: Final = 4_000
_PART_BYTES: Final = 64 * 1024
_LOOK_SECONDS: Final = 0.01
_LAST_WORDS_SECONDS: Final = 0.3
_STDIN, _STDOUT = 0, 1


class Chatter:
    """What programs write to stderr: read without end, so that none ever waits for a reader; only the last of it is kept.

    They write to a pipe of ours, since the loop may give them a socket, which they cannot open as `/dev/stderr`.
    """

    def __init__(self) -> None:
        self._kept = bytearray()

    @property
    def text(self) -> str:
        """The last of what was written."""
        return self._kept.decode("utf-8", "replace").strip()

    @contextmanager
    def heard(self) -> Iterator[int]:
        """A pipe that is listened to within this block, in the running loop: its end to write to, which is closed with the block."""
        loop = asyncio.get_running_loop()
        reading, writing = os.pipe()
        os.set_blocking(reading, False)

        def take() -> None:
            self._kept.extend(os.read(reading, _PART_BYTES))
            del self._kept[:-_KEPT_BYTES]

        loop.add_reader(reading, take)
        try:
            yield writing
        finally:
            loop.remove_reader(reading)
            os.close(reading)
            os.close(writing)


@asynccontextmanager
async def program(
    config: ServerConfig, chatter: Chatter, on_too_long: Callable[[], None]
) -> AsyncIterator[TransportStreams]:
    """The streams of a program of its own, which is ended with all it started.

    It gets HOME, LOGNAME, PATH, SHELL, TERM and USER of this process, and the variables that are configured. Entering raises
    OSError when the program cannot be started. At a line that is longer than a message may be, `on_too_long` is called, the
    program is killed and the stream of its messages ends.
    """
    assert config.command is not None
    loop, running = asyncio.get_running_loop(), _Running()
    with chatter.heard() as errors:
        transport, _ = await loop.subprocess_exec(
            lambda: running,
            config.command,
            *config.args,
            stderr=errors,
            env=get_default_environment() | dict(config.env),
            cwd=config.cwd,
            start_new_session=True,
        )
        # From here to the task group nothing is awaited: cancelled between, the program would be left behind.
        into, reading = anyio.create_memory_object_stream[Item](0)
        writing, outof = anyio.create_memory_object_stream[SessionMessage](0)
        async with anyio.create_task_group() as group:
            group.start_soon(_hear, running, into, on_too_long)
            group.start_soon(_say, running, outof, into)
            try:
                yield reading, writing
            finally:
                with anyio.CancelScope(shield=True):
                    reading.close()
                    writing.close()
                    await running.end()
                    transport.close()
                group.cancel_scope.cancel()


class _Running(asyncio.SubprocessProtocol):
    """A program at work, as asyncio tells of it."""

    def __init__(self) -> None:
        self._transport: asyncio.SubprocessTransport | None = None
        self._exited = asyncio.Event()
        self._has_spoken = False
        self._has_ended = False
        self._may_write = asyncio.Event()
        self.has_said_all = asyncio.Event()
        self.output = asyncio.StreamReader(limit=_PART_BYTES)

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        """The program runs."""
        # of a loop that is not asyncio's own it is none of asyncio's classes
        self._transport = cast(asyncio.SubprocessTransport, transport)
        out = self._transport.get_pipe_transport(_STDOUT)
        assert out is not None
        self.output.set_transport(out)
        self._may_write.set()

    def pipe_data_received(self, fd: int, data: bytes) -> None:
        """It wrote something."""
        if fd == _STDOUT and not self._has_ended:
            self._has_spoken = True
            self.output.feed_data(data)

    def pipe_connection_lost(self, fd: int, exc: Exception | None) -> None:
        """It, and all that inherited the pipe, closed it."""
        if fd == _STDOUT:
            self._end_output()
        elif fd == _STDIN:
            self._may_write.set()

    def pause_writing(self) -> None:
        """It does not read as fast as it is written to."""
        self._may_write.clear()

    def resume_writing(self) -> None:
        """It has read some."""
        self._may_write.set()

    def process_exited(self) -> None:
        """It ended; what it started may still be there, and keep its pipes open."""
        self._exited.set()
        self._listen_to_the_end()

    async def write(self, data: bytes) -> None:
        """Write to its stdin once it has read what came before. Raises BrokenPipeError when it closed it."""
        await self._may_write.wait()
        pipe = self._stdin()
        if pipe is None or pipe.is_closing():
            raise BrokenPipeError
        pipe.write(data)
        await self._may_write.wait()

    async def end(self) -> None:
        """Close its stdin and wait; then end it and all it started. Takes a bounded time, unless it is ended already."""
        await _within(FLUSH_SECONDS, self.has_said_all)
        pipe = self._stdin()
        if pipe is not None:
            pipe.close()
        await _within(GRACE_SECONDS, self._exited)
        await self._terminate()
        await _within(GRACE_SECONDS, self._exited)

    def _listen_to_the_end(self) -> None:
        """Hear what it said last; after a silence nothing more comes, whoever keeps its stdout."""
        self._has_spoken = False
        asyncio.get_running_loop().call_later(_LAST_WORDS_SECONDS, self._end_of_silence)

    def _end_of_silence(self) -> None:
        if self._has_spoken:
            self._listen_to_the_end()
        else:
            self._end_output()

    def _end_output(self) -> None:
        if not self._has_ended:
            self._has_ended = True
            self.output.feed_eof()

    def kill(self) -> None:
        """End it and all it started, at once."""
        self._signal(signal.SIGKILL)

    async def _terminate(self) -> None:
        """Tell the whole group to end, and kill what does not."""
        self._signal(signal.SIGTERM)
        with anyio.move_on_after(GRACE_SECONDS):
            while self._signal(0):  # noqa: ASYNC110 - nothing tells when the last of a group is gone
                await anyio.sleep(_LOOK_SECONDS)
            return
        self.kill()

    def _signal(self, number: int) -> bool:
        """Send a signal to its group; is any of it still there? It leads a group of its own, whose number outlives it."""
        assert self._transport is not None
        try:
            os.killpg(self._transport.get_pid(), number)
        except ProcessLookupError:
            return False
        except PermissionError:
            pass  # some of the group belongs to somebody else, and is there
        return True

    def _stdin(self) -> asyncio.WriteTransport | None:
        assert self._transport is not None
        return cast(asyncio.WriteTransport | None, self._transport.get_pipe_transport(_STDIN))


async def _hear(
    running: _Running, into: MemoryObjectSendStream[Item], on_too_long: Callable[[], None]
) -> None:
    """Hand its messages on; once nobody takes them, read on, or a program that writes would never see that it is to end."""
    lines = Lines()
    with into:
        try:
            while part := await running.output.read(_PART_BYTES):
                for line in lines.take(part):
                    await into.send(message_in(line))
        except LineTooLong:
            on_too_long()
            running.kill()
        except (anyio.ClosedResourceError, anyio.BrokenResourceError):
            pass
    while await running.output.read(_PART_BYTES):
        pass


async def _say(
    running: _Running, outof: MemoryObjectReceiveStream[SessionMessage], into: MemoryObjectSendStream[Item]
) -> None:
    """Write what is said to it. When it does not read any more it is taken for ended, or requests would wait for ever."""
    try:
        with outof:
            async for said in outof:
                line = said.message.model_dump_json(by_alias=True, exclude_unset=True)
                await running.write(line.encode("utf-8", "replace") + b"\n")
    except (anyio.ClosedResourceError, anyio.BrokenResourceError, OSError):
        into.close()
    finally:
        running.has_said_all.set()


async def _within(seconds: float, event: asyncio.Event) -> bool:
    """Is it so within that time?"""
    with contextlib.suppress(TimeoutError):
        async with asyncio.timeout(seconds):
            await event.wait()
    return event.is_set()
