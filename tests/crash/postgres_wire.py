"""Between a store and its server: something that cuts connections at chosen messages, and something that hands them round."""

import asyncio
import contextlib
import struct
import tempfile
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Literal

Side = Literal["asked", "answered"]
Stream = tuple[asyncio.StreamReader, asyncio.StreamWriter]

SOCKET = ".s.PGSQL.5432"

_READY = b"Z\x00\x00\x00\x05I"


async def read_message(reader: asyncio.StreamReader, *, has_kind: bool = True) -> bytes:
    """One message of the protocol; the first of a client has no kind."""
    head = await reader.readexactly(5 if has_kind else 4)
    (length,) = struct.unpack("!I", head[-4:])
    return head + await reader.readexactly(length - 4)


@asynccontextmanager
async def listening(serve: Callable[[Stream], asyncio.Future[None]]) -> AsyncIterator[str]:
    """Serves clients on a socket of its own; gives the address to connect to."""
    tasks: set[asyncio.Future[None]] = set()

    def accept(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        task = asyncio.ensure_future(serve((reader, writer)))
        tasks.add(task)

    with tempfile.TemporaryDirectory(prefix="outlast-wire-") as folder:
        server = await asyncio.start_unix_server(accept, f"{folder}/{SOCKET}")
        try:
            yield f"postgresql://outlast@/postgres?host={folder}"
        finally:
            server.close()
            for task in tasks:
                task.cancel()
            await asyncio.gather(*tasks, return_exceptions=True)


class Cutter:
    """Relays messages, and does something to the `at`-th of those on one `side` since it was armed.

    It cuts the connection before the message goes on; a `deaf` one keeps it and lets nothing more through to the client.
    """

    def __init__(self, server: Path) -> None:
        self._server = server
        self._at = 0
        self._side: Side = "asked"
        self._is_deaf = False
        self.seen = 0
        self.struck = asyncio.Event()

    def arm(self, side: Side, at: int, *, deaf: bool = False) -> None:
        """Strike at the `at`-th message from now on."""
        self._side, self._at, self._is_deaf = side, at, deaf
        self.seen = 0
        self.struck.clear()

    async def serve(self, client: Stream) -> None:
        """Relay for one client."""
        server = await asyncio.open_unix_connection(str(self._server / SOCKET))
        try:
            server[1].write(await read_message(client[0], has_kind=False))
            relays = [
                asyncio.create_task(self._relay(client[0], server[1], "asked")),
                asyncio.create_task(self._relay(server[0], client[1], "answered")),
            ]
            try:
                await asyncio.wait(relays, return_when=asyncio.FIRST_COMPLETED)
            finally:
                for relay in relays:
                    relay.cancel()
                await asyncio.gather(*relays, return_exceptions=True)
        except asyncio.IncompleteReadError:
            pass
        finally:
            await _close(client, server)

    async def _relay(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter, side: Side) -> None:
        is_deaf = False
        with contextlib.suppress(asyncio.IncompleteReadError, ConnectionError):
            while True:
                message = await read_message(reader)
                if side == self._side and self._at:
                    self.seen += 1
                    if self.seen == self._at:
                        self.struck.set()
                        is_deaf = self._is_deaf
                        if not is_deaf:
                            return
                if not is_deaf:
                    writer.write(message)
                    await writer.drain()


class Pooler:
    """A transaction pooler: a client has a connection of the server for a transaction, and another one for the next."""

    def __init__(self, server: Path, size: int = 2) -> None:
        self._server = server
        self._size = size
        self._free: asyncio.Queue[Stream] = asyncio.Queue()
        self._greeting = b""
        self.errors = 0

    async def start(self) -> None:
        """Connect to the server."""
        startup = b"user\x00outlast\x00database\x00postgres\x00\x00"
        for _ in range(self._size):
            reader, writer = await asyncio.open_unix_connection(str(self._server / SOCKET))
            writer.write(struct.pack("!II", len(startup) + 8, 196608) + startup)
            self._greeting = b""
            while not self._greeting.endswith(_READY):
                self._greeting += await read_message(reader)
            self._free.put_nowait((reader, writer))

    async def stop(self) -> None:
        """Disconnect."""
        while not self._free.empty():
            await _close(self._free.get_nowait())

    async def serve(self, client: Stream) -> None:
        """Greet one client, then lend it a connection a transaction."""
        try:
            await read_message(client[0], has_kind=False)
            client[1].write(self._greeting)
            while True:
                asked = await read_message(client[0])
                if asked[:1] == b"X":
                    return
                server = await self._free.get()
                try:
                    await self._transaction(client, server, asked)
                finally:
                    self._free.put_nowait(server)
        except (asyncio.IncompleteReadError, ConnectionError):
            pass
        finally:
            await _close(client)

    async def _transaction(self, client: Stream, server: Stream, asked: bytes) -> None:
        server[1].write(asked)
        asking = asyncio.create_task(self._forward(client[0], server[1]))
        try:
            answered = b""
            while answered != _READY:
                answered = await read_message(server[0])
                self.errors += answered[:1] == b"E"
                client[1].write(answered)
        finally:
            asking.cancel()  # the client asks nothing more before it has read that it may
            await asyncio.gather(asking, return_exceptions=True)

    async def _forward(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        while True:
            writer.write(await read_message(reader))


async def _close(*streams: Stream) -> None:
    for _, writer in streams:
        writer.close()
        with contextlib.suppress(ConnectionError):
            await writer.wait_closed()
