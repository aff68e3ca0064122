"""A gateway for tests: real sockets and real workers in the test's own process, over a store in memory."""

from __future__ import annotations

import asyncio
import json
import secrets
from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from datetime import datetime
from pathlib import Path
from typing import Any

import httpx2
from fastapi import FastAPI

from outlast.domain.access import Scope
from outlast.gateway.serving import Place, Serving
from outlast.service.access import Grant, Issued, issue
from outlast.testing import ScriptedProvider
from outlast.wiring.engine import Engine
from tests.patience import PATIENCE_SECONDS

TASKS = {
    "talk": "task: {name: talk, workflow: chat, tools: []}\n",
    "ask": "task: {name: ask, workflow: chat, tools: [ask_human]}\n",
    "gated": "task: {name: gated, workflow: chat, tools: [], approvals: [{on: 'EXECUTING->COMPLETED'}]}\n",
    "letters": "task: {name: letters, workflow: chat, tools: [send], approvals: [{tool: send}]}\n",
}


@dataclass(frozen=True)
class Frame:
    """One frame of an event stream."""

    event: str | None
    id: str | None
    data: Any
    comment: str | None = None


@dataclass
class House:
    """A gateway that is open, and a client of it."""

    serving: Serving
    client: httpx2.AsyncClient
    seen: dict[str, list[Frame]] = field(default_factory=dict)

    @property
    def app(self) -> FastAPI:
        """The application."""
        app: FastAPI = self.serving.app
        return app

    @property
    def cookie(self) -> str:
        """The name of the session cookie."""
        return self.serving.site.access.terms.cookie

    async def now(self) -> datetime:
        """The time."""
        return await self.serving.site.store.now()

    async def start(self, task: str = "talk", text: str = "Go", **more: Any) -> dict[str, Any]:
        """A new run, as it was answered."""
        answer = await self.client.post("/api/runs", json={"task": task, "input": text, **more})
        assert answer.status_code in (200, 202), answer.text
        started: dict[str, Any] = answer.json()
        return started

    async def user(self, name: str, *scopes: Scope, expires_at: datetime | None = None) -> Issued:
        """A token of a user."""
        grant = Grant(user_id=name, scopes=scopes or ("read", "write"), expires_at=expires_at)
        return await issue(self.serving.site.store, grant, secrets.token_bytes(40))

    async def until(self, run_id: str, *states: str) -> dict[str, Any]:
        """The run once it is in one of these states."""
        watch = self.serving.site.store.watch([run_id])
        try:
            async with asyncio.timeout(PATIENCE_SECONDS):
                while True:
                    shown: dict[str, Any] = (await self.client.get(f"/api/runs/{run_id}")).json()
                    if shown["state"] in states:
                        return shown
                    await watch.wait(1.0)
        finally:
            watch.stop()

    @asynccontextmanager
    async def events(self, run_id: str, **more: Any) -> AsyncIterator[AsyncIterator[Frame]]:
        """The frames of a run's stream, as they come."""
        async with (
            asyncio.timeout(PATIENCE_SECONDS),
            self.client.stream("GET", f"/api/runs/{run_id}/events", **more) as answer,
        ):
            assert answer.status_code == 200, (await answer.aread(), answer.status_code)
            yield frames_in(answer.aiter_lines())

    async def all_events(self, run_id: str, **more: Any) -> list[Frame]:
        """Every frame of a run's stream until the server ends it."""
        async with self.events(run_id, **more) as frames:
            return [frame async for frame in frames]


@asynccontextmanager
async def house_of(
    folder: Path,
    script: Sequence[dict[str, Any]] = ({"say": "Done.", "repeat": True},),
    *,
    config: str = "",
    tools: Sequence[object] = (),
    workers: int = 1,
    persistence: str = "backend: memory",
) -> AsyncIterator[House]:
    """An open gateway with scripted answers and the tasks above."""
    (folder / "tasks").mkdir(exist_ok=True)
    for name, text in TASKS.items():
        (folder / f"tasks/{name}.yaml").write_text(text)
    (folder / "outlast.yaml").write_text(f"harness: {{persistence: {{{persistence}}}}}\n{config}")
    engine = Engine.from_config(folder / "outlast.yaml", tools=tools, provider=ScriptedProvider(list(script)))
    await engine.open()
    serving = Serving(engine, Place("127.0.0.1", 0, workers))
    running = asyncio.create_task(serving.run())
    try:
        async with httpx2.AsyncClient(base_url=serving.bound, timeout=PATIENCE_SECONDS) as client:
            yield House(serving, client)
    finally:
        serving.stop()
        await running
        await engine.close()


async def eventually(holds: Callable[[], bool]) -> None:
    """Let everything go on until something holds."""
    async with asyncio.timeout(PATIENCE_SECONDS):
        while not holds():  # noqa: ASYNC110 - what is waited for is no event of ours
            await asyncio.sleep(0)


async def frames_in(lines: AsyncIterator[str]) -> AsyncIterator[Frame]:
    """The frames in the lines of an event stream."""
    event = name = comment = None
    data: list[str] = []
    async for line in lines:
        if line == "":
            yield Frame(event, name, json.loads("\n".join(data)) if data else None, comment)
            event = name = comment = None
            data = []
        elif line.startswith(":"):
            comment = line[1:].strip()
        else:
            key, _, value = line.partition(": ")
            event = value if key == "event" else event
            name = value if key == "id" else name
            data += [value] if key == "data" else []
