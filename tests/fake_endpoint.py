"""A real HTTP server on the loopback that plays recorded answers, with every way of answering badly."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator, Callable, Iterable, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from enum import Enum
from typing import Any, Final


class Then(Enum):
    """What a reply may do instead of sending bytes."""

    DROP = "drop"
    """Cut the connection without an end."""
    HANG = "hang"
    """Send nothing more until the client goes away."""


@dataclass(frozen=True, slots=True)
class Reply:
    """A response: each of `pieces` is written and flushed by itself."""

    pieces: Iterable[bytes | Then] = ()
    status: int = 200
    headers: Mapping[str, str] = field(default_factory=lambda: {"content-type": "text/event-stream"})


@dataclass(frozen=True, slots=True)
class Received:
    """A request as it came."""

    path: str
    headers: Mapping[str, str]
    body: dict[str, Any]


@dataclass(slots=True)
class FakeEndpoint:
    """The running server: where it is, what came, and events to wait on."""

    answer: Callable[[Received], Reply]
    base_url: str = ""
    received: list[Received] = field(default_factory=list)
    connections: int = 0
    hanging: asyncio.Event = field(default_factory=asyncio.Event)
    dropped: asyncio.Event = field(default_factory=asyncio.Event)
    serving: set[asyncio.Task[None] | None] = field(default_factory=set)

    async def serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        """Answer the requests of one connection."""
        self.connections += 1
        self.serving.add(asyncio.current_task())
        try:
            while await self._exchange(reader, writer):
                pass
        except ConnectionError:
            self.dropped.set()
        finally:
            writer.close()
            self.serving.discard(asyncio.current_task())

    async def end(self) -> None:
        """Wait for connections whose clients are gone, and cut the others, so that none ends with the loop."""
        left = [task for task in self.serving if task is not None]
        if left:
            await asyncio.wait(left, timeout=0.5)
        for task in left:
            task.cancel()
        await asyncio.gather(*left, return_exceptions=True)

    async def _exchange(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> bool:
        request = await _read_request(reader)
        if request is None:
            return False
        self.received.append(request)
        reply = self.answer(request)
        lines = [
            f"HTTP/1.1 {reply.status} Playing",
            *(f"{name}: {value}" for name, value in reply.headers.items()),
        ]
        writer.write("\r\n".join([*lines, "transfer-encoding: chunked", "", ""]).encode())
        for piece in reply.pieces:
            if isinstance(piece, bytes):
                writer.write(b"%x\r\n%s\r\n" % (len(piece), piece))
                await writer.drain()
                await asyncio.sleep(0)
            elif piece is Then.DROP:
                writer.transport.abort()
                return False
            else:
                self.hanging.set()
                await reader.read()
                self.dropped.set()
                return False
        writer.write(b"0\r\n\r\n")
        await writer.drain()
        return True


@asynccontextmanager
async def playing(*replies: Reply | Callable[[Received], Reply]) -> AsyncIterator[FakeEndpoint]:
    """A server that gives `replies` in order, the last one for ever; a function is asked for its reply."""
    left = list(replies)

    def answer(request: Received) -> Reply:
        reply = left.pop(0) if len(left) > 1 else left[0]
        return reply(request) if callable(reply) else reply

    endpoint = FakeEndpoint(answer)
    server = await asyncio.start_server(endpoint.serve, "127.0.0.1", 0)
    endpoint.base_url = f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}/v1"
    try:
        yield endpoint
    finally:
        server.close()
        await server.wait_closed()
        await endpoint.end()


def json_reply(value: object, status: int = 200, **headers: str) -> Reply:
    """A reply with one JSON document; underscores in names of headers stand for hyphens."""
    named = {name.replace("_", "-"): text for name, text in headers.items()}
    return Reply([json.dumps(value).encode()], status, {"content-type": "application/json"} | named)


def sse(*chunks: object) -> bytes:
    """The bytes of a stream of chunks; texts stand as they are."""
    return b"".join(
        f"data: {item if isinstance(item, str) else json.dumps(item, ensure_ascii=False)}\n\n".encode()
        for item in chunks
    )


def delta(finish: str | None = None, **content: object) -> dict[str, object]:
    """A chunk of a chat completion."""
    return {"choices": [{"index": 0, "delta": content, "finish_reason": finish}]}


DONE: Final = "[DONE]"
SAYS_HELLO: Final = sse(
    delta(role="assistant", content=""),
    delta(reasoning_content="They greet."),
    delta(content="Guten Tag, "),
    delta(content="你好 🙂"),
    delta("stop"),
    {"choices": [], "usage": {"prompt_tokens": 10, "completion_tokens": 5}},
    DONE,
)


async def _read_request(reader: asyncio.StreamReader) -> Received | None:
    try:
        head = (await reader.readuntil(b"\r\n\r\n")).decode()
    except asyncio.IncompleteReadError:
        return None
    first, *lines = head.strip().split("\r\n")
    headers = {name.lower(): value.strip() for name, _, value in (line.partition(":") for line in lines)}
    body = await reader.readexactly(int(headers.get("content-length", 0)))
    return Received(first.split()[1], headers, json.loads(body or b"{}"))
