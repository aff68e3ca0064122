"""Alerts: operators hear of dead letters and of tasks that cannot be followed, until somebody took the word."""

import asyncio
import json
import logging
import sys
from pathlib import Path
from typing import Any

import pytest

from outlast.adapters.alarms.command import CommandAlarm
from outlast.adapters.alarms.webhook import WebhookAlarm
from outlast.domain.background import Notify
from outlast.ports.background_driver import Trouble
from outlast.service.background.verbs import count_troubles, list_dead_letters, list_tasks
from outlast.tasks.happenings import Queue
from tests.law import law
from tests.unit.service.background.farm import Hands, farming

DOWN = Trouble("down", "The server is down.", "Start it.")


class Deaf:
    """Takes the second word only."""

    def __init__(self) -> None:
        self.told: list[Any] = []

    async def send(self, told: Any, deadline_seconds: float) -> str | None:
        self.told.append(told)
        return None if len(self.told) > 1 else "nobody is there"


async def degraded(hands: Hands) -> None:
    """A task whose server cannot be asked."""
    await hands.stage.play("render it", thread_id="t-1")
    hands.farm.remote.default = DOWN
    for _ in range(4):
        await hands.poll()


@law("TASK-7.c")
@pytest.mark.parametrize("notify", ["agent", "off"])
async def test_an_outage_is_one_alert_that_is_logged_and_sent_until_it_is_taken(
    tmp_path: Path, caplog: pytest.LogCaptureFixture, notify: Notify
) -> None:
    deaf = Deaf()
    async with farming(tmp_path) as hands:
        hands.stage.notify = notify
        hands.alarms.append(deaf)
        await degraded(hands)
        assert await hands.do(Queue.ALERT) == 1
        assert "degraded: background task render" in caplog.text
        assert "an alert could not be sent: nobody is there" in caplog.text
        await hands.hurry(Queue.ALERT)
        await hands.do(Queue.ALERT)
        assert [one["alert"] for one in deaf.told] == ["degraded"] * 2
        entry = await hands.store.read_entry(Queue.ALERT.value, (await hands.task()).task_id)
        assert entry is not None
        assert entry.due_at is None
        assert await count_troubles(hands.store, "local") == {"dead_letters": 0, "degraded": 1}
        assert [one["tracking"] for one in await list_tasks(hands.store, "local")] == ["degraded"]
        assert await list_dead_letters(hands.store) == []


@pytest.mark.both_loops
@law("TASK-7.d")
async def test_a_command_reads_the_alert_and_its_failures_are_told(tmp_path: Path) -> None:
    kept = tmp_path / "alert.json"
    keeping = f"import sys; open({str(kept)!r}, 'w').write(sys.stdin.read())"
    assert await CommandAlarm([sys.executable, "-c", keeping]).send({"alert": "degraded"}, 20) is None
    assert json.loads(kept.read_text()) == {"alert": "degraded"}
    copying = CommandAlarm(["cp", "/dev/stdin", str(kept)])
    assert await copying.send({"alert": "over", "text": "é" * 100_000}, 20) is None
    assert json.loads(kept.read_text("utf-8"))["alert"] == "over"
    failing = CommandAlarm([sys.executable, "-c", "raise SystemExit(3)"])
    assert "ended with 3" in str(await failing.send({}, 20))
    slow = CommandAlarm([sys.executable, "-c", "import signal; signal.pause()"])
    assert "did not end within" in str(await slow.send({}, 0.2))
    assert "could not be started" in str(await CommandAlarm([str(tmp_path / "none")]).send({}, 5))


@law("TASK-7.d")
async def test_a_webhook_is_sent_the_alert_and_its_failures_are_told_without_its_address() -> None:
    heard: list[bytes] = []
    answers = [b"204 No Content", b"500 Oh"]

    async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        head = await reader.readuntil(b"\r\n\r\n")
        length = int(
            next(line for line in head.split(b"\r\n") if line.lower().startswith(b"content-length")).split(
                b":"
            )[1]
        )
        heard.append(await reader.readexactly(length))
        writer.write(b"HTTP/1.1 " + answers.pop(0) + b"\r\ncontent-length: 0\r\nconnection: close\r\n\r\n")
        await writer.drain()
        writer.close()

    server = await asyncio.start_server(serve, "127.0.0.1", 0)
    async with server:
        port = server.sockets[0].getsockname()[1]
        webhook = WebhookAlarm(f"http://127.0.0.1:{port}/secret-token")
        assert await webhook.send({"alert": "degraded"}, 20) is None
        assert json.loads(heard[0]) == {"alert": "degraded"}
        assert await webhook.send({}, 20) == "the webhook answered 500"
    told = await webhook.send({}, 5)
    assert told is not None
    assert "could not be reached" in told
    assert "secret" not in told


async def test_nobody_is_told_of_what_is_well_again(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    deaf = Deaf()
    async with farming(tmp_path) as hands:
        hands.alarms.append(deaf)
        await degraded(hands)
        hands.farm.remote.default = hands.farm.remote.__class__().default
        await hands.poll()
        caplog.set_level(logging.WARNING)
        await hands.do(Queue.ALERT)
        assert deaf.told == []
