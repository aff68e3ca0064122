"""What is asked of a run from another process is acted on because its commit wakes somebody, and not by looking now and then."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from datetime import datetime
from typing import Any

import pytest

from outlast.domain.events import RunClaimed, StateEntered
from outlast.journal.history import read_history
from outlast.ports.store import Store
from outlast.runs import loop, shift
from outlast.wiring.engine import Engine
from outlast.wiring.settings.load import load
from tests.e2e.command_line import Home
from tests.law import law
from tests.patience import PATIENCE_SECONDS, PROMPT_SECONDS

HOUR_SECONDS = 3600.0
"""Nobody looks in between."""

ASK = "- call: [{tool: ask_human, arguments: {question: 'Which colour?'}}]\n- {say: thanks, repeat: true}\n"
HOLD = "- call: [{tool: hold}]\n- {say: done, repeat: true}\n"


@pytest.fixture(params=["sqlite", "postgres"])
def steered(talking: Home, request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> Home:
    """A home whose workers in this process look for work or signals only when they are told."""
    monkeypatch.setattr(shift, "SAFETY_POLL_SECONDS", HOUR_SECONDS)
    monkeypatch.setattr(loop, "SAFETY_POLL_SECONDS", HOUR_SECONDS)
    if request.param == "postgres":
        talking.environ = {"URL": request.getfixturevalue("postgres_store_url")}
        persistence = 'harness: {lease_seconds: 3000, persistence: {backend: postgres, url: "${URL}"}}\n'
    else:
        persistence = "harness: {lease_seconds: 3000}\n"
    config = (talking.folder / "outlast.yaml").read_text()
    talking.write("outlast.yaml", config + persistence)
    return talking


@asynccontextmanager
async def served(home: Home) -> AsyncIterator[Store]:
    """A worker in this process, idle or at work."""
    engine = Engine(load(home.folder / "outlast.yaml"), environ=home.environ)
    await engine.open()
    serving = engine.shift(4)
    task = asyncio.create_task(serving.serve())
    try:
        yield engine.store
    finally:
        serving.hurry()
        await task
        await engine.close()


async def elsewhere(home: Home, *words: str) -> str:
    """A command in a process of its own; `resume` stays until the run waits again."""
    ended = await asyncio.to_thread(home.outlast, *words)
    assert ended.code == (3 if words[0] == "resume" else 0), ended.err
    return ended.out.strip()


def is_kind(event: Any, wanted: str) -> bool:
    """Is it an event of this kind, or the entry into this state?"""
    return type(event).__name__ == wanted or (isinstance(event, StateEntered) and event.target == wanted)


async def moment(store: Store, run: str, wanted: str, after: datetime | None = None) -> datetime:
    """When an event came, not before another."""
    watch = store.watch([run])
    try:
        async with asyncio.timeout(PATIENCE_SECONDS):
            while True:
                for one in await read_history(store, run):
                    if is_kind(one.event, wanted) and (after is None or one.at >= after):
                        return one.at
                await watch.wait(PATIENCE_SECONDS)
    finally:
        watch.stop()


async def seconds_until(
    store: Store, home: Home, run: str, words: tuple[str, ...], signal: str, wanted: str
) -> float:
    """How long after what was asked in another process something came of it, by the run's own journal."""
    before = await store.now()
    await elsewhere(home, words[0], run, *words[1:])
    asked_at = await moment(store, run, signal, before)
    return (await moment(store, run, wanted, asked_at) - asked_at).total_seconds()


@law("RUN-5.a", "RUN-5.b")
async def test_an_idle_worker_is_woken_by_what_is_asked_of_a_waiting_run(steered: Home) -> None:
    steered.write("script.yaml", ASK)
    async with served(steered) as store:
        run = await elsewhere(steered, "run", "--task", "talk", "--input", "hello", "--detach")
        await moment(store, run, "WAITING")
        took = {
            words[0]: await seconds_until(store, steered, run, words, signal, wanted)
            for words, signal, wanted in [
                (("say", "blue is nice"), "Said", RunClaimed.__name__),
                (("set", "max_steps=9"), "LimitsChanged", RunClaimed.__name__),
                (("pause",), "PauseRequested", "PAUSED"),
                (("resume",), "ResumeRequested", "EXECUTING"),
                (("cancel",), "CancelRequested", "CANCELLED"),
            ]
        }
    assert max(took.values()) < PROMPT_SECONDS, took


@law("RUN-5.a", "RUN-5.b")
async def test_a_worker_that_holds_a_run_is_woken_by_what_is_asked_of_it(steered: Home) -> None:
    steered.write("script.yaml", HOLD)
    async with served(steered) as store:
        run = await elsewhere(steered, "run", "--task", "talk", "--input", "hello", "--detach")
        await moment(store, run, "ToolRequested")
        took = await seconds_until(store, steered, run, ("cancel",), "CancelRequested", "CANCELLED")
    assert took < PROMPT_SECONDS
