"""Work of hours on MCP servers, from the call that begins it to the word in its thread: killed servers, questions, no id shown."""

from __future__ import annotations

import asyncio
import json
import sqlite3
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from outlast import Harness
from outlast.adapters.execution.validation import problems_in
from outlast.domain.ids import LOCAL_USER
from outlast.service.background import verbs
from tests.law import law
from tests.mcp_peers.running import RunningPeer
from tests.patience import PATIENCE_SECONDS

GROUP = {"submit": "start_job", "status": "job_status", "cancel": "cancel_job", "answer": "answer_job"}


@pytest.fixture
def peer(tmp_path: Path) -> Iterator[RunningPeer]:
    with RunningPeer(tmp_path) as running:
        yield running


def configured(folder: Path, url: str, calls: list[tuple[str, dict[str, Any]]], **server: Any) -> Path:
    """A configuration with the tasks server and a chat that makes these calls."""
    turns: list[dict[str, Any]] = [
        {"when": {"turn": turn}, "call": [{"tool": tool, "arguments": arguments}]}
        for turn, (tool, arguments) in enumerate(calls)
    ]
    turns.append({"say": "So it is.", "repeat": True})
    settings = {
        "llm": {"provider": "scripted", "script": "script.json"},
        "mcp_servers": {"jobs": {"url": url, **server}},
        "background_tasks": {"poll_interval_seconds": 0.05},
    }
    (folder / "outlast.yaml").write_text(json.dumps(settings))
    (folder / "script.json").write_text(json.dumps(turns))
    (folder / "tasks").mkdir(exist_ok=True)
    task = {"name": "jobs", "workflow": "chat", "tools": ["jobs:*"]}
    (folder / "tasks" / "jobs.yaml").write_text(json.dumps({"task": task}))
    return folder / "outlast.yaml"


async def settled(harness: Harness, status: str) -> dict[str, Any]:
    """The one background task, once it has a status and, at its end, its thread was told."""
    store = harness.engine.store
    async with asyncio.timeout(PATIENCE_SECONDS):
        while True:
            listed = await verbs.list_tasks(store, LOCAL_USER)
            if listed and listed[0]["status"] == status:
                shown = await verbs.show_task(store, LOCAL_USER, listed[0]["id"])
                if status == "input_required" or "delivered" in json.dumps(shown):
                    return shown
            watch = store.watch([])
            await watch.wait(0.05)
            watch.stop()


def remote_ids(folder: Path) -> list[str]:
    with sqlite3.connect(folder / "tasks.db") as kept:
        return [row[0] for row in kept.execute("SELECT id FROM tasks")]


@law("TASK-1.b")
async def test_a_task_of_a_server_is_followed_to_its_end_and_told_without_its_id(
    tmp_path: Path, peer: RunningPeer
) -> None:
    config = configured(tmp_path, peer.url, [("jobs__slow", {"seconds": 0.3, "label": "chart"})])
    async with Harness.open(config) as harness:
        run = await harness.start(task="jobs", input="Draw the chart.")
        assert (await run.result())["state"] == "COMPLETED"
        shown = await settled(harness, "completed")
        lines = [line for one in await harness.runs() for line in [await trace(harness, one["run_id"])]]
    assert "slow done chart" in json.dumps(shown)
    [remote_id] = remote_ids(tmp_path)
    assert remote_id not in json.dumps([shown, *lines])


async def trace(harness: Harness, run_id: str) -> list[dict[str, Any]]:
    run = await harness.run(run_id)
    return [line async for line in run.events()]


async def test_a_group_of_tools_is_a_task_and_only_the_first_of_them_is_seen(
    tmp_path: Path, peer: RunningPeer
) -> None:
    calls: list[tuple[str, dict[str, Any]]] = [
        ("jobs__start_job", {"seconds": 0.2}),
        ("jobs__job_status", {}),
    ]
    config = configured(tmp_path, peer.url, calls, tasks=[GROUP])
    async with Harness.open(config) as harness:
        run = await harness.start(task="jobs", input="Start.")
        document = await run.result()
        lines = await trace(harness, run.run_id)
        assert document["state"] == "COMPLETED"
        await settled(harness, "completed")
    assert "unknown_tool" in json.dumps(lines)


async def test_a_question_is_answered_by_its_person_and_goes_back_to_the_server(
    tmp_path: Path, peer: RunningPeer
) -> None:
    config = configured(tmp_path, peer.url, [("jobs__confirm", {})])
    async with Harness.open(config) as harness:
        await (await harness.start(task="jobs", input="Delete it.")).result()
        asked = await settled(harness, "input_required")
        [remote_id] = remote_ids(tmp_path)
        assert remote_id not in json.dumps(asked)
        await verbs.answer_task(harness.engine.store, LOCAL_USER, asked["id"], "true", problems_in)
        ended = await settled(harness, "completed")
    assert "accept" in json.dumps(ended)


async def test_a_task_outlives_its_server_and_the_process_that_began_it(
    tmp_path: Path, peer: RunningPeer
) -> None:
    config = configured(tmp_path, peer.url, [("jobs__slow", {"seconds": 1.0, "label": "film"})])
    async with Harness.open(config) as harness:
        await (await harness.start(task="jobs", input="Render.")).result()
    peer.kill()
    async with Harness.open(config) as harness:
        peer.start()
        assert "slow done film" in json.dumps(await settled(harness, "completed"))
    assert len(remote_ids(tmp_path)) == 1


async def test_a_picture_of_a_task_is_an_artifact_of_the_run(tmp_path: Path, peer: RunningPeer) -> None:
    config = configured(tmp_path, peer.url, [("jobs__picture", {})])
    async with Harness.open(config) as harness:
        await (await harness.start(task="jobs", input="Draw.")).result()
        shown = json.dumps(await settled(harness, "completed"))
        digest = shown.partition("kept as artifact ")[2][:64]
        assert (await harness.engine.store.read_payloads([digest]))[digest].startswith(b"\x89PNG")
