"""A server of the tasks extension that keeps its tasks in a file, and does to its clients whatever servers do to them.

    python -m tests.mcp_peers.tasks_peer PORT DATABASE

Standard library only, so that it starts at once. Killed and started again on the same file it goes on with its tasks.
Tools named in FAULTS are tasks, each with the fault of its name; `start_job`, `job_status`, `cancel_job` and `answer_job` are
ordinary tools that together are one.
"""

from __future__ import annotations

import asyncio
import base64
import json
import sqlite3
import sys
from typing import Any

from tests.mcp_peers.tasks_kept import FAULTS, Tasks, has_expired, pause, question, text, view

VERSION = "2026-07-28"
EXTENSION = "io.modelcontextprotocol/tasks"
META = "io.modelcontextprotocol/"


class Refused(Exception):
    """An error of the protocol and the HTTP status it comes with."""

    def __init__(self, code: int, message: str, data: Any = None, status: int = 400) -> None:
        super().__init__(message)
        self.error = {"code": code, "message": message, **({"data": data} if data else {})}
        self.status = status


class Dropped(Exception):
    """The connection ends without an answer."""


UNDECLARED = Refused(-32021, "missing capability", {"requiredCapabilities": {"extensions": {EXTENSION: {}}}})
UNKNOWN = Refused(-32602, "Failed to retrieve task: Task not found")


class Peer:
    """Answers requests of the protocol."""

    def __init__(self, tasks: Tasks) -> None:
        self.tasks = tasks

    async def answer(self, method: str, params: dict[str, Any], headers: dict[str, str]) -> dict[str, Any]:
        meta = params.get("_meta") or {}
        capabilities = meta.get(f"{META}clientCapabilities") or {}
        is_declared = EXTENSION in (capabilities.get("extensions") or {})
        owner = headers.get("authorization", "")
        match method:
            case "server/discover":
                told = {"tools": {}, "extensions": {EXTENSION: {}}}
                found = {
                    "supportedVersions": [VERSION],
                    "capabilities": told,
                    "ttlMs": 0,
                    "cacheScope": "private",
                }
                return {"resultType": "complete", **found}
            case "tools/list":
                return {"resultType": "complete", "ttlMs": 0, "cacheScope": "private", "tools": tools()}
            case "tools/call":
                return await self.call(params["name"], params.get("arguments") or {}, params, owner)
            case "tasks/get" | "tasks/update" | "tasks/cancel":
                if not is_declared:
                    raise UNDECLARED
                return await self.about(method, params, headers, owner)
            case _:
                raise Refused(-32601, "Method not found", status=404)

    async def call(
        self, tool: str, arguments: dict[str, Any], params: dict[str, Any], owner: str
    ) -> dict[str, Any]:
        if tool == "greet":
            return text(f"Hello, {arguments.get('name')}!")
        if tool == "count_tasks":
            return text(str(self.tasks.count()))
        if tool in ("start_job", "job_status", "cancel_job", "answer_job"):
            return self.job(tool, arguments, owner)
        if tool == "asks_first":
            answers = params.get("inputResponses")
            if not answers:
                asked = {"who": question({"who": {"type": "string"}})}
                return {"resultType": "input_required", "inputRequests": asked, "requestState": "opaque"}
            arguments = {"label": json.dumps(answers)}
        task = self.tasks.begin(owner, tool, arguments)
        if tool == "lost_create":
            raise Dropped
        seen = view(task)
        return {
            **{key: seen[key] for key in seen if key not in ("inputRequests", "result", "error")},
            "resultType": "task",
        }

    def job(self, tool: str, arguments: dict[str, Any], owner: str) -> dict[str, Any]:
        """The same tasks by ordinary tools."""
        if tool == "start_job":
            task = self.tasks.begin(owner, str(arguments.get("kind", "slow")), arguments)
            return text("begun", structuredContent={"task_id": task["id"], "status": "running"})
        task = self.tasks.row(str(arguments.get("task_id")))
        if task is None or task["owner"] != owner:
            return text("?", structuredContent={"error_code": "task_not_found"}, isError=True)
        if tool == "cancel_job":
            self.tasks.change(task["id"], status="cancelled")
        elif tool == "answer_job":
            self.take(task, {arguments["key"]: arguments["response"]})
        seen = view(self.tasks.row(task["id"]))
        words = {"working": "running"}.get(seen["status"], seen["status"])
        told: dict[str, Any] = {"task_id": task["id"], "status": words, "poll_after_seconds": 0.1}
        if words == "completed":
            told["result"] = {"said": seen["result"]["content"][0].get("text", "")}
        if words == "failed":
            told |= {"error": seen["error"]["message"], "error_code": "panic"}
        if words == "input_required":
            asked = {key: one["params"] for key, one in seen["inputRequests"].items()}
            told["input_required"] = {
                key: {"message": one["message"], "schema": one["requestedSchema"]}
                for key, one in asked.items()
            }
        return text("told", structuredContent=told)

    async def about(
        self, method: str, params: dict[str, Any], headers: dict[str, str], owner: str
    ) -> dict[str, Any]:
        task_id = params.get("taskId", "")
        named = headers.get("mcp-name", "")
        if named.startswith("=?base64?"):
            named = base64.b64decode(named[9:-2]).decode()
        if named != task_id:
            raise Refused(-32020, f"Header mismatch: Mcp-Name {named!r}")
        task = self.tasks.row(task_id)
        if task is None or task["owner"] != owner or has_expired(task):
            raise UNKNOWN
        if method == "tasks/get":
            return await self.got(task)
        if method == "tasks/cancel" and task["tool"] != "stubborn":
            self.tasks.change(task_id, status="cancelled")
        if method == "tasks/update":
            self.take(task, params.get("inputResponses") or {})
        return {"resultType": "complete"}

    async def got(self, task: sqlite3.Row) -> dict[str, Any]:
        gets = self.tasks.asked_once_more(task["id"])
        match task["tool"]:
            case "flaky" if gets % 3:
                raise Refused(-32603, "try later", status=503)
            case "vanishes" if gets > 2:
                raise UNKNOWN
            case "slow_get":
                await pause(3)
            case "hung_get":
                await pause(3600)
            case "other_task":
                return {**view(task), "taskId": "another"}
            case "nonsense":
                return {"resultType": "complete", "greeting": "hello"}
            case "repeats_questions" if (
                task["answers"] != "{}" and gets >= 4 and task["status"] == "input_required"
            ):
                self.resume(task["id"])
        return view(self.tasks.row(task["id"]))

    def take(self, task: sqlite3.Row, responses: dict[str, Any]) -> None:
        """Take answers to open questions; those to others are ignored."""
        if task["status"] != "input_required":
            return
        asked = json.loads(task["asked"])
        taken = {key: value for key, value in responses.items() if key in asked}
        answers = {**json.loads(task["answers"]), **taken}
        left = {key: value for key, value in asked.items() if key not in answers}
        if task["tool"] == "repeats_questions" and taken:
            self.tasks.change(task["id"], answers=json.dumps(answers))
        elif taken and left:
            self.tasks.change(task["id"], answers=json.dumps(answers), asked=json.dumps(left))
        elif taken:
            self.tasks.change(task["id"], answers=json.dumps(answers))
            self.resume(task["id"])

    def resume(self, task_id: str) -> None:
        self.tasks.change(task_id, status="working", asked=None)
        asyncio.get_running_loop().create_task(self.tasks.work(task_id))


def tools() -> list[dict[str, Any]]:
    schema = {
        "type": "object",
        "properties": {"seconds": {"type": "number"}, "idempotency_key": {"type": "string"}},
    }
    names = ("greet", "count_tasks", *FAULTS, "start_job", "job_status", "cancel_job", "answer_job")
    return [
        {"name": name, "inputSchema": schema if name != "greet" else {"type": "object"}} for name in names
    ]


async def serve(peer: Peer, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    """Answer the requests of one HTTP connection."""
    try:
        while await exchange(peer, reader, writer):
            pass
    except (asyncio.IncompleteReadError, ConnectionError):
        pass
    finally:
        writer.close()


async def exchange(peer: Peer, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> bool:
    head = (await reader.readuntil(b"\r\n\r\n")).decode()
    lines = head.strip().split("\r\n")[1:]
    headers = {name.lower(): value.strip() for name, _, value in (line.partition(":") for line in lines)}
    body = json.loads(await reader.readexactly(int(headers.get("content-length", 0))) or b"{}")
    method, params = body.get("method", ""), body.get("params") or {}
    reply: dict[str, Any] = {"jsonrpc": "2.0", "id": body.get("id")}
    status = 200
    try:
        check(method, params, headers)
        reply["result"] = await peer.answer(method, params, headers)
    except Refused as refused:
        reply["error"], status = refused.error, refused.status
    except Dropped:
        return False
    sent = json.dumps(reply).encode()
    writer.write(
        f"HTTP/1.1 {status} X\r\ncontent-type: application/json\r\ncontent-length: {len(sent)}\r\n\r\n".encode()
    )
    writer.write(sent)
    await writer.drain()
    return True


def check(method: str, params: dict[str, Any], headers: dict[str, str]) -> None:
    """Refuse what a strict server refuses."""
    version = (params.get("_meta") or {}).get(f"{META}protocolVersion")
    if version is None:
        raise Refused(-32602, "missing _meta protocolVersion")
    if version != VERSION:
        raise Refused(-32022, "Unsupported protocol version", {"supported": [VERSION], "requested": version})
    if headers.get("mcp-protocol-version") != version or headers.get("mcp-method") != method:
        raise Refused(-32020, "Header mismatch")
    if method == "tools/call" and headers.get("mcp-name") != params.get("name"):
        raise Refused(-32020, "Header mismatch: Mcp-Name")


async def main(port: int, path: str) -> None:
    tasks = Tasks(path)
    for task_id in tasks.open():
        asyncio.get_running_loop().create_task(tasks.work(task_id))
    peer = Peer(tasks)
    server = await asyncio.start_server(lambda reader, writer: serve(peer, reader, writer), "127.0.0.1", port)
    sys.stdout.write(f"listening {server.sockets[0].getsockname()[1]}\n")
    sys.stdout.flush()
    async with server:
        await server.serve_forever()


if __name__ == "__main__":
    asyncio.run(main(int(sys.argv[1]), sys.argv[2]))
