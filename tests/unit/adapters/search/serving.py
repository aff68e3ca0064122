"""A web server on the loopback that answers what it is told, byte for byte."""

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass, field

Handler = Callable[[asyncio.StreamWriter], Awaitable[None]]


def answer(body: bytes | str = b"", status: int = 200, **headers: str) -> bytes:
    """An answer with its length; header names are written with `_` for `-`."""
    data = body.encode() if isinstance(body, str) else body
    lines = {"Content-Length": str(len(data)), "Connection": "close"}
    lines |= {name.replace("_", "-"): value for name, value in headers.items()}
    head = "".join(f"{name}: {value}\r\n" for name, value in lines.items())
    return f"HTTP/1.1 {status} Said\r\n{head}\r\n".encode() + data


@dataclass
class Site:
    """The server: what it answers by path, and what it was asked."""

    port: int = 0
    answers: dict[str, bytes | Handler] = field(default_factory=dict)
    requests: list[str] = field(default_factory=list)

    def url(self, path: str, host: str = "127.0.0.1") -> str:
        return f"http://{host}:{self.port}{path}"

    @property
    def asked(self) -> list[str]:
        """The paths that were asked for, robots.txt left out."""
        paths = [request.split(" ")[1] for request in self.requests]
        return [path for path in paths if path != "/robots.txt"]

    async def handle(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        try:
            head = (await reader.readuntil(b"\r\n\r\n")).decode("latin-1")
            self.requests.append(head)
            said = self.answers.get(head.split(" ")[1], answer(status=404))
            if isinstance(said, bytes):
                writer.write(said)
                await writer.drain()
            else:
                await said(writer)
        except (ConnectionError, asyncio.IncompleteReadError):
            pass
        finally:
            writer.close()


@asynccontextmanager
async def serving() -> AsyncIterator[Site]:
    """A running Site."""
    site = Site()
    server = await asyncio.start_server(site.handle, "127.0.0.1", 0)
    site.port = server.sockets[0].getsockname()[1]
    try:
        yield site
    finally:
        server.close()
        await server.wait_closed()
