"""A proxy on a unix socket between a store and its server that loses connections when it is told to."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import AsyncIterator
from enum import Enum
from pathlib import Path
from types import TracebackType


class Loss(Enum):
    """What becomes of the next message that holds the mark; the connection ends with it each time."""

    REQUEST = "the server never hears of it"
    REPLY = "the server does it, and nobody hears the answer"
    LATE = "the server hears of it when `deliver` is called"


class TamperingProxy:
    """Passes everything on, but for the messages that `lose` names. Use as an async context manager."""

    def __init__(self, socket: Path, upstream: Path) -> None:
        self.url = f"unix://{socket}"
        self.lost = asyncio.Event()
        self._socket = socket
        self._upstream = upstream
        self._losses: list[tuple[bytes, Loss]] = []
        self._held: list[tuple[asyncio.StreamReader, asyncio.StreamWriter, bytes]] = []
        self._clients: dict[asyncio.Task[None], asyncio.StreamWriter] = {}

    def lose(self, mark: bytes, *losses: Loss) -> None:
        """Do this to the next messages of a client in which `mark` is."""
        self._losses += [(mark, loss) for loss in losses]
        self.lost.clear()

    async def deliver(self) -> None:
        """Let the server have what was held back, and wait until it has ended those connections."""
        for reader, writer, message in self._held:
            writer.write(message)
            writer.write_eof()
            await reader.read()
            writer.close()
        self._held.clear()

    async def __aenter__(self) -> TamperingProxy:
        self._server = await asyncio.start_unix_server(self._serve, self._socket)
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._server.close()
        for client in self._clients.values():
            client.close()
        await asyncio.gather(*self._clients)

    async def _serve(self, client_reader: asyncio.StreamReader, client: asyncio.StreamWriter) -> None:
        task = asyncio.current_task()
        assert task is not None
        self._clients[task] = client
        task.add_done_callback(self._clients.pop)
        reader, writer = await asyncio.open_unix_connection(self._upstream)
        answers = asyncio.create_task(_pump(reader, client))
        try:
            async for message in _messages(client_reader):
                if (loss := self._loss_of(message)) is None:
                    writer.write(message)
                    continue
                await self._tamper(loss, message, reader, writer, answers)
                break
        finally:
            answers.cancel()
            await asyncio.gather(answers, return_exceptions=True)
            client.close()
            if not any(writer is held for _, held, _ in self._held):
                writer.close()

    def _loss_of(self, message: bytes) -> Loss | None:
        if self._losses and self._losses[0][0] in message:
            return self._losses.pop(0)[1]
        return None

    async def _tamper(
        self,
        loss: Loss,
        message: bytes,
        reader: asyncio.StreamReader,
        writer: asyncio.StreamWriter,
        answers: asyncio.Task[None],
    ) -> None:
        answers.cancel()
        await asyncio.gather(answers, return_exceptions=True)
        if loss is Loss.REPLY:
            writer.write(message)
            await reader.read(1)
        if loss is Loss.LATE:
            self._held.append((reader, writer, message))
        self.lost.set()


async def _messages(reader: asyncio.StreamReader) -> AsyncIterator[bytes]:
    while message := await reader.read(1 << 20):
        yield message


async def _pump(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    with contextlib.suppress(ConnectionError):
        async for message in _messages(reader):
            writer.write(message)
        writer.close()
