"""A harness whose model is a real server on the loopback, which refuses what strict servers refuse."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator, Callable, Iterable
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from datetime import datetime
from pathlib import Path
from typing import Any

from outlast.api.harness import Harness, Run
from outlast.tools import tool
from tests.fake_endpoint import DONE, FakeEndpoint, Received, Reply, delta, json_reply, playing, sse
from tests.patience import PATIENCE_SECONDS

CONFIG = """
llm: {{provider: openai_compatible, base_url: "{base_url}", model: m, api_key: sk-secret-key-1234}}
harness: {{persistence: {{backend: {backend}}}, retry: {{max_attempts: 3, backoff: none}}}}
memory: {{enabled: false}}
"""
TASK = "task: {{name: t, workflow: chat, tools: [{tools}], {more}}}\n"


@dataclass
class Scene:
    """A harness and its server: what it was sent, and what tools did."""

    harness: Harness
    endpoint: FakeEndpoint
    tools: list[object]
    done: list[tuple[str, dict[str, Any]]] = field(default_factory=list)

    async def play(self, words: str = "Go") -> tuple[dict[str, Any], list[dict[str, Any]]]:
        """The `show` document and the trace of a run, once it rests."""
        async with asyncio.timeout(PATIENCE_SECONDS):
            run = await self.harness.start(task="t", input=words)
            shown = await run.result()
            return shown, await self._lines(run, "RunReleased")

    async def line_of(self, run: Run, kind: str) -> dict[str, Any]:
        """The first line of a kind in the trace of a run, once it is there."""
        async with asyncio.timeout(PATIENCE_SECONDS):
            return (await self._lines(run, kind))[-1]

    async def _lines(self, run: Run, last: str) -> list[dict[str, Any]]:
        lines: list[dict[str, Any]] = []
        async for line in run.events():
            lines.append(line)
            if line["kind"] == last:
                break
        return lines

    def sent(self, number: int = -1) -> list[dict[str, Any]]:
        """The messages of a request."""
        messages: list[dict[str, Any]] = self.endpoint.received[number].body["messages"]
        return messages


def seconds_between(earlier: str, later: str) -> float:
    """The seconds from one time of a trace to another."""
    return (datetime.fromisoformat(later) - datetime.fromisoformat(earlier)).total_seconds()


def bytewise(stream: bytes, status: int = 200) -> Reply:
    """A stream of which each byte is sent by itself."""
    return Reply([stream[at : at + 1] for at in range(len(stream))], status)


def says(text: str) -> Reply:
    """A plain answer."""
    return bytewise(sse(delta(content=text), delta("stop"), DONE))


def asks(*calls: dict[str, Any], finish: str = "tool_calls", **more: Any) -> Reply:
    """An answer that asks for calls, a delta each."""
    return bytewise(sse(*(delta(tool_calls=[call], **more) for call in calls), delta(finish), DONE))


def call(name: str | None, arguments: object, **keys: object) -> dict[str, Any]:
    """One delta of a call."""
    return {**keys, "function": {"name": name, "arguments": arguments}}


def fault_in(messages: Iterable[dict[str, Any]]) -> str:
    """What a strict server would refuse in a conversation; nothing where it is in order."""
    open_calls: list[str] = []
    before = ""
    for message in messages:
        role = message["role"]
        if role == "tool":
            if not open_calls or message["tool_call_id"] != open_calls.pop(0):
                return f"a result without its call, or out of order: {message}"
        elif open_calls:
            return f"calls without a result: {open_calls}"
        elif role == before == "user":
            return "two messages of the user in a row"
        for asked in message.get("tool_calls") or ():
            open_calls.append(asked["id"])
            if not isinstance(json.loads(asked["function"]["arguments"]), dict):
                return f"arguments that are no object: {asked}"
        if len(set(open_calls)) != len(open_calls):
            return f"an id twice: {open_calls}"
        before = role
    return f"calls without a result: {open_calls}" if open_calls else ""


def strict(*replies: Reply | Callable[[Received], Reply]) -> Callable[[Received], Reply]:
    """Replies in order, the last for ever, from a server that refuses a conversation out of order."""
    left = list(replies)

    def answer(request: Received) -> Reply:
        fault = fault_in(request.body["messages"])
        if fault:
            return json_reply({"error": {"message": fault}}, 400)
        reply = left.pop(0) if len(left) > 1 else left[0]
        return reply(request) if callable(reply) else reply

    return answer


@asynccontextmanager
async def served(
    folder: Path, *replies: Reply | Callable[[Received], Reply], more: str = "", backend: str = "memory"
) -> AsyncIterator[Scene]:
    """A scene whose server gives these replies; its tools write down how they were called."""
    done: list[tuple[str, dict[str, Any]]] = []

    @tool(effect="read")
    async def find(q: str = "", n: int = 0, tags: list[str] | None = None) -> str:
        """Find something."""
        done.append(("find", {"q": q, "n": n, **({"tags": tags} if tags else {})}))
        return f"found {q}{n}"

    @tool(effect="once")
    async def wipe(path: str = "everything") -> str:
        """Wipe a path; without one, everything."""
        done.append(("wipe", {"path": path}))
        return f"wiped {path}"

    async with playing(strict(*replies)) as endpoint:
        (folder / "tasks").mkdir(exist_ok=True)
        (folder / "tasks/t.yaml").write_text(TASK.format(tools="find, wipe", more=more))
        (folder / "outlast.yaml").write_text(CONFIG.format(base_url=endpoint.base_url, backend=backend))
        async with Harness.open(folder / "outlast.yaml", tools=[find, wipe]) as harness:
            yield Scene(harness, endpoint, [find, wipe], done)
