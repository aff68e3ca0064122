"""A server that is a program: started with few variables, its messages taken from stdout, its chatter from stderr."""

from __future__ import annotations

import asyncio
import os
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Final

from mcp import StdioServerParameters, stdio_client
from mcp.client._transport import TransportStreams

from outlast.adapters.mcp.config import ServerConfig

_KEPT_BYTES: Final = 4_000


class Chatter(asyncio.Protocol):
    """What a program writes to stderr: read without end, so that it never waits for a reader; only the last of it is kept."""

    def __init__(self) -> None:
        self._kept = bytearray()

    @property
    def text(self) -> str:
        """The last of what was written."""
        return self._kept.decode("utf-8", "replace").strip()

    def data_received(self, data: bytes) -> None:
        """Take in what was written."""
        self._kept += data
        del self._kept[:-_KEPT_BYTES]


@asynccontextmanager
async def program(config: ServerConfig, chatter: Chatter) -> AsyncIterator[TransportStreams]:
    """The streams of a program of its own, which is ended with all it started.

    It gets HOME, LOGNAME, PATH, SHELL, TERM and USER of this process, and the variables that are configured. Entering raises
    OSError when the program cannot be started.
    """
    assert config.command is not None
    parameters = StdioServerParameters(
        command=config.command,
        args=[*config.args],
        env=dict(config.env),
        cwd=config.cwd,
        encoding_error_handler="replace",
    )
    reading, writing = os.pipe()
    near, far = os.fdopen(reading, "rb", buffering=0), os.fdopen(writing, "w", encoding="utf-8")
    listening, _ = await asyncio.get_running_loop().connect_read_pipe(lambda: chatter, near)
    try:
        async with stdio_client(parameters, errlog=far) as streams:
            far.close()
            yield streams
    finally:
        far.close()
        listening.close()
