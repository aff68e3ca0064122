"""Makes the database that the present program writes, to be kept for ever: `python -m tests.golden.databases.make`.

Run it when a migration has been added, before the release that brings it; the file is named after its schema version. It holds runs
that completed, failed, wait for a person, and a fork, with payloads in the journal and in a thread; and a background task that asked
something, was answered and has ended, with its result; and two entries of memory, one in place of the other.
"""

import asyncio
import sqlite3
import sys
import tempfile
from contextlib import chdir, closing
from pathlib import Path

from outlast import Harness
from outlast.adapters.stores.sqlite import SqliteStore
from outlast.adapters.stores.sqlite.schema import migrations
from outlast.domain.errors import ModelCallFailed
from outlast.ports.background_driver import Answer
from outlast.ports.memory import Entry
from outlast.ports.provider import ModelAnswer, ModelRequest
from outlast.tasks.desk import Kept, items_to_insert, items_to_write
from outlast.tasks.happenings import Answered
from outlast.tasks.wishes import begun
from outlast.testing import ScriptedProvider
from outlast.testing.contracts.memory import NOW, note, pointing
from tests.unit.tasks.props import QUESTION, RULES, after, asking, at, completed, task

FOLDER = Path(__file__).parent
LONG = "The tide turns twice a day. " * 400


def _answer(request: ModelRequest) -> ModelAnswer:
    asked = str(request.messages)
    if "fail" in asked:
        raise ModelCallFailed("auth", "the key is refused")
    return ModelAnswer(f"{LONG}潮汐\U0001f30a")


def _write_configuration() -> None:
    Path("tasks").mkdir()
    Path("tasks/talk.yaml").write_text("task: {name: talk, workflow: chat, tools: []}\n")
    Path("tasks/asked.yaml").write_text(
        'task: {name: asked, workflow: chat, tools: [], approvals: [{on: "INIT->EXECUTING"}]}\n'
    )
    Path("outlast.yaml").write_text("harness: {persistence: {path: made.db}}\n")


async def _play() -> None:
    await _play_runs()
    store = SqliteStore(Path("made.db"))
    await store.open()
    new = task()
    await store.commit(items_to_insert(begun(new, RULES, at(0))))
    asked = after(new, asking(k=QUESTION), Answered("k", Answer("accept", {"colour": "red"}), "ann"))
    ended = after(asked.task, completed(LONG))
    await store.commit(items_to_write(Kept(new, 1), ended, result=LONG))
    await _remember(store)
    await store.close()


async def _remember(store: SqliteStore) -> None:
    tea, coffee = (
        note("Ada likes tea."),
        note("Ada likes coffee now.", title="茶", source="https://a.example/"),
    )
    ids = await store.memory.put([Entry(tea, pointing(0)), Entry(coffee, pointing(30))])
    await store.memory.supersede("ada", ids, ids[1], NOW)


async def _play_runs() -> None:
    async with Harness.open("outlast.yaml", provider=ScriptedProvider(_answer)) as harness:
        first = await harness.start(task="talk", input=f"Tell of tides. {LONG}", key="golden")
        await first.result()
        second = await harness.start(task="talk", input="And again.", thread_id=first.thread_id)
        await second.result()
        at = next(
            line["seq"] for line in [one async for one in first.events()] if line["kind"] == "RunClaimed"
        )
        await (await harness.fork(first.run_id, at=at)).result()
        await (await harness.start(task="talk", input="Please fail.")).result()
        await (await harness.start(task="asked", input="May I?")).result()


def make() -> Path:
    """The file that was made. Raises FileExistsError rather than write over one that is kept."""
    target = FOLDER / f"sqlite-v{max(migrations())}.db"
    if target.exists():
        raise FileExistsError(target)
    with tempfile.TemporaryDirectory() as folder, chdir(folder):
        _write_configuration()
        asyncio.run(_play())
        with closing(sqlite3.connect("made.db")) as connection:
            connection.execute("VACUUM INTO ?", [str(target)])
    return target


if __name__ == "__main__":
    sys.stdout.write(f"{make()}\n")
