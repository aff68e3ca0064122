"""The tasks of the peer, in a file, and how each kind of them goes."""

from __future__ import annotations

import asyncio
import base64
import contextlib
import json
import secrets
import sqlite3
import time
from typing import Any

FAULTS = (
    "slow",  # none: it takes `seconds`
    "fails",  # its result is an error of the tool
    "breaks",  # it ends with an error of the protocol
    "confirm",  # it asks one question
    "two_questions",  # it asks two, which may be answered one by one
    "opens_page",  # it asks a person to open an address
    "wants_model",  # it asks for what no person can give
    "asks_first",  # it asks before it becomes a task
    "no_poll",  # it says nothing of how often to ask
    "zero_poll",  # it says to ask without a pause
    "flaky",  # two of three questions are answered with 503
    "repeats_questions",  # it goes on asking for a while after it was answered
    "expires",  # it is forgotten although it goes on
    "vanishes",  # it is forgotten after two questions
    "odd_status",  # it has a status nobody knows
    "lost_create",  # it is begun, and its id never arrives
    "stubborn",  # it takes a wish to cancel and completes all the same
    "big",  # its result has two megabytes
    "picture",  # its result is binary
    "slow_get",  # each question about it takes three seconds
    "hung_get",  # a question about it is never answered
    "other_task",  # questions about it are answered with another task
    "nonsense",  # questions about it are answered with no task at all
)
QUESTIONS: dict[str, dict[str, dict[str, Any]]] = {
    "confirm": {"sure": {"confirm": {"type": "boolean"}}},
    "repeats_questions": {"again": {"x": {"type": "string"}}},
    "two_questions": {"name": {"name": {"type": "string"}}, "age": {"age": {"type": "integer"}}},
}


async def pause(seconds: float) -> None:
    """Take time, as work does."""
    with contextlib.suppress(TimeoutError):
        async with asyncio.timeout(seconds):
            await asyncio.Event().wait()


def text(words: str, **more: Any) -> dict[str, Any]:
    return {"resultType": "complete", "content": [{"type": "text", "text": words}], **more}


def question(properties: dict[str, Any]) -> dict[str, Any]:
    schema = {"type": "object", "properties": properties, "required": list(properties)}
    params = {"mode": "form", "message": f"{' and '.join(properties)}?", "requestedSchema": schema}
    return {"method": "elicitation/create", "params": params}


def questions_of(tool: str) -> dict[str, Any]:
    if tool == "opens_page":
        url = {"mode": "url", "message": "Sign it.", "url": "https://sign.example/1", "elicitationId": "1"}
        return {"page": {"method": "elicitation/create", "params": url}}
    if tool == "wants_model":
        return {"model": {"method": "sampling/createMessage", "params": {"messages": [], "maxTokens": 1}}}
    return {key: question(properties) for key, properties in QUESTIONS.get(tool, {}).items()}


class Tasks:
    """The tasks in the file; a terminal state is final."""

    def __init__(self, path: str) -> None:
        self._db = sqlite3.connect(path, isolation_level=None)
        self._db.row_factory = sqlite3.Row
        self._db.execute("PRAGMA journal_mode = WAL")
        self._db.execute(
            "CREATE TABLE IF NOT EXISTS tasks (id TEXT PRIMARY KEY, owner TEXT, tool TEXT, arguments TEXT, status TEXT, "
            "created REAL, result TEXT, error TEXT, asked TEXT, answers TEXT DEFAULT '{}', gets INTEGER DEFAULT 0, "
            "runs INTEGER DEFAULT 0, key TEXT)"
        )

    def begin(self, owner: str, tool: str, arguments: dict[str, Any]) -> sqlite3.Row:
        key = arguments.get("idempotency_key")
        same = "SELECT * FROM tasks WHERE key = ? AND tool = ?"
        known = self._db.execute(same, [key, tool]).fetchone() if key else None
        if known is not None:
            return known  # type: ignore[no-any-return]
        task_id = secrets.token_urlsafe(24)
        self._db.execute(
            "INSERT INTO tasks (id, owner, tool, arguments, status, created, key) VALUES (?, ?, ?, ?, 'working', ?, ?)",
            [task_id, owner, tool, json.dumps(arguments), time.time(), key],
        )
        asyncio.get_running_loop().create_task(self.work(task_id))
        return self.row(task_id)

    def row(self, task_id: str) -> sqlite3.Row:
        return self._db.execute("SELECT * FROM tasks WHERE id = ?", [task_id]).fetchone()  # type: ignore[no-any-return]

    def open(self) -> list[str]:
        return [row["id"] for row in self._db.execute("SELECT id FROM tasks WHERE status = 'working'")]

    def count(self) -> int:
        return int(self._db.execute("SELECT count(*) FROM tasks").fetchone()[0])

    def change(self, task_id: str, **values: Any) -> None:
        columns = ", ".join(f"{name} = ?" for name in values)
        self._db.execute(
            f"UPDATE tasks SET {columns} WHERE id = ? AND status NOT IN ('completed', 'failed', 'cancelled')",
            [*values.values(), task_id],
        )

    def asked_once_more(self, task_id: str) -> int:
        self._db.execute("UPDATE tasks SET gets = gets + 1 WHERE id = ?", [task_id])
        return int(self.row(task_id)["gets"])

    async def work(self, task_id: str) -> None:
        task = self.row(task_id)
        tool, arguments = task["tool"], json.loads(task["arguments"])
        self.change(task_id, runs=task["runs"] + 1)
        if (asked := questions_of(tool)) and task["answers"] == "{}":
            named = {f"{task_id}:{key}": one for key, one in asked.items()} if tool == "confirm" else asked
            self.change(task_id, status="input_required", asked=json.dumps(named))
            return
        if tool == "breaks":
            self.change(task_id, status="failed", error=json.dumps({"code": -32603, "message": "panic"}))
            return
        await pause(max(float(arguments.get("seconds", 0.1)) - (time.time() - task["created"]), 0))
        self.change(task_id, status="completed", result=json.dumps(self.result(task_id)))

    def result(self, task_id: str) -> dict[str, Any]:
        task = self.row(task_id)
        label = json.loads(task["arguments"]).get("label", "")
        match task["tool"]:
            case "fails":
                return text("no paper left", isError=True)
            case "big":
                return text("x" * 2_000_000)
            case "picture":
                data = base64.b64encode(b"\x89PNG" + bytes(5000)).decode()
                return {
                    "resultType": "complete",
                    "content": [{"type": "image", "data": data, "mimeType": "image/png"}],
                }
            case tool:
                return text(f"{tool} done {label} {task['answers']} as {task_id}".strip())


def has_expired(task: sqlite3.Row) -> bool:
    return task["tool"] == "expires" and time.time() > task["created"] + 0.5


def view(task: sqlite3.Row) -> dict[str, Any]:
    seen: dict[str, Any] = {
        "taskId": task["id"],
        "status": task["status"],
        "resultType": "complete",
        "ttlMs": 3_600_000,
    }
    seen["createdAt"] = seen["lastUpdatedAt"] = "2026-01-01T00:00:00Z"
    seen["statusMessage"] = f"{task['tool']} is {task['status']}"
    if task["tool"] != "no_poll":
        seen["pollIntervalMs"] = 0 if task["tool"] == "zero_poll" else 100
    if task["status"] == "completed":
        seen["result"] = json.loads(task["result"])
    if task["status"] == "failed":
        seen["error"] = json.loads(task["error"])
    if task["status"] == "input_required":
        seen["inputRequests"] = json.loads(task["asked"])
    if task["tool"] == "odd_status" and task["status"] == "working":
        seen |= {"status": "queued", "resultType": "task"}
    return seen
