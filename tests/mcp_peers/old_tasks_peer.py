"""A server of the older, experimental tasks (2025-11-25) behind an address: tasks belong to sessions, questions come with results."""

from __future__ import annotations

import asyncio
import json
import secrets
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from typing import Any

from tests.mcp_peers.tasks_kept import pause

RELATED = "io.modelcontextprotocol/related-task"
ENDED = ("completed", "failed", "cancelled")


class Refused(Exception):
    def __init__(self, code: int, message: str, status: int = 200) -> None:
        super().__init__(message)
        self.error = {"code": code, "message": message}
        self.status = status


@dataclass
class OldTask:
    id: str
    session: str
    tool: str
    status: str = "working"
    result: dict[str, Any] | None = None
    asked: bool = False
    changed: asyncio.Event = field(default_factory=asyncio.Event)

    def become(self, status: str, words: str = "") -> None:
        if self.status not in ENDED:
            self.status = status
            self.result = {"content": [{"type": "text", "text": words}], "isError": status == "failed"}
            self.changed.set()

    def view(self) -> dict[str, Any]:
        times = {"createdAt": "2026-01-01T00:00:00Z", "lastUpdatedAt": "2026-01-01T00:00:00Z"}
        return {"taskId": self.id, "status": self.status, "ttl": 60000, "pollInterval": 50, **times}


@dataclass
class OldTasksPeer:
    """The server: `url` while it runs. `writers` are the connections it would be cut from."""

    url: str = ""
    tasks: dict[str, OldTask] = field(default_factory=dict)
    sessions: set[str] = field(default_factory=set)
    background: set[asyncio.Task[None]] = field(default_factory=set)
    writers: set[asyncio.StreamWriter] = field(default_factory=set)
    server: asyncio.Server | None = None

    def unplug(self) -> None:
        assert self.server is not None
        self.server.close()
        for writer in self.writers:
            writer.transport.abort()

    async def serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self.writers.add(writer)
        try:
            while True:
                head = (await reader.readuntil(b"\r\n\r\n")).decode()
                verb, *_ = head.split()
                lines = head.strip().split("\r\n")[1:]
                headers = {
                    name.lower(): value.strip() for name, _, value in (line.partition(":") for line in lines)
                }
                body = json.loads(await reader.readexactly(int(headers.get("content-length", 0))) or b"{}")
                if verb != "POST":
                    reply(writer, None, 405)
                else:
                    await self.answer(body, headers, writer)
                await writer.drain()
        except (asyncio.IncompleteReadError, ConnectionError):
            pass
        finally:
            writer.close()

    async def answer(
        self, body: dict[str, Any], headers: dict[str, str], writer: asyncio.StreamWriter
    ) -> None:
        session = headers.get("mcp-session-id", "")
        message: dict[str, Any] = {"jsonrpc": "2.0", "id": body.get("id")}
        method, params = body.get("method"), body.get("params") or {}
        try:
            if method == "initialize":
                session = secrets.token_hex(8)
                self.sessions.add(session)
                reply(writer, {**message, "result": hello()}, 200, session)
            elif method == "server/discover":
                raise Refused(-32601, "Method not found")
            elif session not in self.sessions:
                raise Refused(-32000, "Bad Request: No valid session ID provided", 400)
            elif method is None:
                self.told(str(body.get("id")), body.get("result") or {})
                reply(writer, None, 202)
            elif "id" not in body:
                reply(writer, None, 202)
            elif method == "tasks/result":
                await self.result(message, self.found(params, session), writer)
            else:
                reply(writer, {**message, "result": self.done(method, params, session)})
        except Refused as refused:
            reply(writer, {**message, "error": refused.error}, refused.status)

    def done(self, method: str, params: dict[str, Any], session: str) -> dict[str, Any]:
        match method:
            case "tools/list":
                kinds = ("quick", "long", "asks", "fails")
                return {
                    "tools": [
                        {"name": name, "inputSchema": {"type": "object"}, **support(name)} for name in kinds
                    ]
                }
            case "tools/call" if "task" in params:
                task = OldTask(secrets.token_hex(16), session, params["name"])
                self.tasks[task.id] = task
                self.start(task)
                return {"task": task.view()}
            case "tools/call":
                return {"content": [{"type": "text", "text": "at once"}]}
            case "tasks/get":
                return self.found(params, session).view()
            case "tasks/cancel":
                task = self.found(params, session)
                if task.status in ENDED:
                    raise Refused(-32602, "Cannot cancel task in terminal status")
                task.become("cancelled")
                return task.view()
        raise Refused(-32601, "Method not found")

    def found(self, params: dict[str, Any], session: str) -> OldTask:
        task = self.tasks.get(params.get("taskId", ""))
        if task is None or task.session != session:
            raise Refused(-32602, "Task not found")
        return task

    def start(self, task: OldTask) -> None:
        match task.tool:
            case "fails":
                task.become("failed", "no paper left")
            case "asks":
                task.status = "input_required"
            case "quick":
                running = asyncio.create_task(self.finish(task))
                self.background.add(running)
                running.add_done_callback(self.background.discard)

    async def finish(self, task: OldTask) -> None:
        await pause(0.05)
        task.become("completed", "quick done")

    def told(self, request_id: str, result: dict[str, Any]) -> None:
        """A response to a question, whose id names its task."""
        task = self.tasks.get(request_id.removeprefix("ask-"))
        if task is not None:
            task.become("completed", f"they said {json.dumps(result)}")

    async def result(self, message: dict[str, Any], task: OldTask, writer: asyncio.StreamWriter) -> None:
        """Blocks until the task has ended; a question goes out first, once."""
        writer.write(
            b"HTTP/1.1 200 X\r\ncontent-type: text/event-stream\r\ntransfer-encoding: chunked\r\n\r\n"
        )
        meta = {RELATED: {"taskId": task.id}}
        if task.status == "input_required" and not task.asked:
            task.asked = True
            schema = {"type": "object", "properties": {"confirm": {"type": "boolean"}}}
            params = {"message": "Sure?", "requestedSchema": schema, "_meta": meta}
            event(
                writer,
                {"jsonrpc": "2.0", "id": f"ask-{task.id}", "method": "elicitation/create", "params": params},
            )
        await writer.drain()
        await asyncio.wait_for(task.changed.wait(), 30)
        event(writer, {**message, "result": {**(task.result or {}), "_meta": meta}})
        writer.write(b"0\r\n\r\n")


def support(name: str) -> dict[str, Any]:
    return {"execution": {"taskSupport": "optional"}} if name != "plain" else {}


def hello() -> dict[str, Any]:
    tasks = {"requests": {"tools": {"call": {}}}, "cancel": {}, "list": {}}
    told = {"name": "old", "version": "1"}
    return {
        "protocolVersion": "2025-11-25",
        "capabilities": {"tools": {}, "tasks": tasks},
        "serverInfo": told,
    }


def reply(
    writer: asyncio.StreamWriter, message: dict[str, Any] | None, status: int = 200, session: str = ""
) -> None:
    sent = json.dumps(message).encode() if message is not None else b""
    named = f"mcp-session-id: {session}\r\n" if session else ""
    head = (
        f"HTTP/1.1 {status} X\r\n{named}content-type: application/json\r\ncontent-length: {len(sent)}\r\n\r\n"
    )
    writer.write(head.encode() + sent)


def event(writer: asyncio.StreamWriter, message: dict[str, Any]) -> None:
    sent = f"event: message\ndata: {json.dumps(message)}\n\n".encode()
    writer.write(b"%x\r\n%s\r\n" % (len(sent), sent))


@asynccontextmanager
async def old_tasks_peer() -> AsyncIterator[OldTasksPeer]:
    """The server, running."""
    peer = OldTasksPeer()
    peer.server = await asyncio.start_server(peer.serve, "127.0.0.1", 0)
    peer.url = f"http://127.0.0.1:{peer.server.sockets[0].getsockname()[1]}/mcp"
    try:
        yield peer
    finally:
        peer.unplug()
