"""Background tasks in one worker, while the other side answers at once: what is due is asked for, what ends is told.

`polls`: so many tasks are due at the same moment; how long after it each was asked for. `endings`: so many tasks, each of a
thread of its own, end at the same moment; how long after it each has a run that tells of it, and what one takes of the CPU, from
the question to the word that it was told. `first` does so with one at a time.
"""

import asyncio
import time
from collections.abc import Mapping
from datetime import timedelta
from pathlib import Path
from statistics import quantiles
from typing import Any

from bench.probes.stores import opened
from bench.work import arguments, emit
from outlast.domain.background import BackgroundTask, TaskStatus
from outlast.ports.background_driver import (
    Acknowledged,
    Answer,
    BackgroundDriver,
    Forgotten,
    Handle,
    Product,
    RemoteStatus,
    Snapshot,
    Trouble,
)
from outlast.ports.batch import Committed, Item
from outlast.ports.queue import Enqueue
from outlast.ports.run_rows import RunFilter
from outlast.ports.store import Store
from outlast.ports.task_rows import TaskFilter
from outlast.tasks.desk import items_to_insert
from outlast.tasks.happenings import Decided, Queue
from outlast.wiring.engine import Engine, Request
from outlast.wiring.settings.load import load

WORKING = Snapshot(status=RemoteStatus.WORKING)
DONE = Snapshot(status=RemoteStatus.COMPLETED, product=Product("done"))
USERS, SERVERS = 20, 20
PATIENCE_SECONDS = 120.0
CONFIGURATION = """
llm: {provider: offline}
background_tasks: {poll_interval_seconds: 60}
"""
CHAT = "task: {name: talk, workflow: chat, tools: []}\n"


class Prompt:
    """Both the drivers and the other side; keeps when each task was asked for."""

    can_cancel = True
    can_answer = True

    def __init__(self) -> None:
        self.reply = WORKING
        self.asked_at: dict[str, float] = {}
        self.awaited = 0
        self.has_been_asked = asyncio.Event()

    async def driver_for(self, driver: str, server: str) -> BackgroundDriver | Trouble:
        """See `BackgroundDrivers.driver_for`."""
        return self

    async def poll(self, handle: Handle, deadline_seconds: float) -> Snapshot | Forgotten | Trouble:
        """See `BackgroundDriver.poll`."""
        self.asked_at.setdefault(handle.remote_id, time.monotonic())
        if len(self.asked_at) == self.awaited:
            self.has_been_asked.set()
        return self.reply

    async def answer(
        self, handle: Handle, answers: Mapping[str, Answer], deadline_seconds: float
    ) -> Acknowledged | Forgotten | Trouble:
        """See `BackgroundDriver.answer`."""
        return Acknowledged()

    async def cancel(self, handle: Handle, deadline_seconds: float) -> Acknowledged | Forgotten | Trouble:
        """See `BackgroundDriver.cancel`."""
        return Acknowledged()


def task(number: int, now: Any, thread_id: str, run_id: str, user_id: str) -> BackgroundTask:
    """A task that works."""
    return BackgroundTask(
        task_id=f"k-{number}",
        user_id=user_id,
        thread_id=thread_id,
        run_id=run_id,
        call_id="c1-0",
        name=f"job-{number}",
        tool="job",
        created_at=now,
        updated_at=now,
        driver="mcp",
        server=f"server-{number % SERVERS}",
        principal="p",
        remote_id=f"far-{number}",
        status=TaskStatus.WORKING,
    )


async def insert(store: Store, tasks: list[BackgroundTask], due_in_seconds: float) -> float:
    """Add tasks whose polls are due at the same moment, by this process's clock."""
    due_at = await store.now() + timedelta(seconds=due_in_seconds)
    moment = time.monotonic() + due_in_seconds
    items: list[Item] = []
    for one in tasks:
        items += items_to_insert(Decided(one, {Queue.POLL: due_at}))
    for first in range(0, len(items), 400):
        assert isinstance(await store.commit(items[first : first + 400]), Committed)
    return moment


async def polls(engine: Engine, remote: Prompt, count: int) -> dict[str, float]:
    """How long after they were due tasks were asked for."""
    remote.awaited = count
    shift = engine.shift()
    serving = asyncio.create_task(shift.serve())
    await asyncio.sleep(0.5)
    now = await engine.store.now()
    tasks = [task(n, now, f"t-{n % 100}", "r", f"user-{n % USERS}") for n in range(count)]
    due_at = await insert(engine.store, tasks, 3.0)
    async with asyncio.timeout(PATIENCE_SECONDS):
        await remote.has_been_asked.wait()
    shift.stop()
    await serving
    waits = sorted(asked_at - due_at for asked_at in remote.asked_at.values())
    return {"p50_ms": waits[len(waits) // 2] * 1000, "last_ms": waits[-1] * 1000}


async def talked(engine: Engine, count: int) -> list[tuple[str, str]]:
    """Threads with a run that has ended."""
    found = []
    for number in range(count):
        begun = await engine.begin(Request(task="talk", input=f"Remember job {number}.", user_id="local"))
        await engine.work_on(begun.run_id)
        found.append((begun.thread_id, begun.run_id))
    return found


async def endings(engine: Engine, remote: Prompt, count: int) -> dict[str, float]:
    """How long after all tasks ended each has a run that tells of it."""
    threads = await talked(engine, count)
    now = await engine.store.now()
    tasks = [task(n, now, thread, run, "local") for n, (thread, run) in enumerate(threads)]
    remote.reply = DONE
    shift = engine.shift()
    serving = asyncio.create_task(shift.serve())
    await asyncio.sleep(0.5)
    due_at = await insert(engine.store, tasks, 2.0)
    due = await engine.store.now() + timedelta(seconds=due_at - time.monotonic())
    used_before = time.process_time()
    await until_told(engine.store, count, 0.25)
    used = time.process_time() - used_before
    shift.stop()
    await serving
    rows = await engine.store.list_runs(RunFilter(limit=3 * count))
    waits = sorted(
        (row.created_at - due).total_seconds() for row in rows if (row.key or "").startswith("task:")
    )
    return {
        "p50_ms": waits[len(waits) // 2] * 1000,
        "last_ms": waits[-1] * 1000,
        "cpu_ms": used / count * 1000,
    }


async def first(engine: Engine, remote: Prompt, count: int) -> dict[str, float]:
    """From the commit of a task's end to that of the first event of the run that tells of it, one at a time."""
    threads = await talked(engine, count)
    shift = engine.shift()
    serving = asyncio.create_task(shift.serve())
    await asyncio.sleep(0.5)
    remote.reply, waits = DONE, []
    for number, (thread, run) in enumerate(threads):
        now = await engine.store.now()
        one = task(number, now, thread, run, "local")
        ended, told = engine.store.watch(["queue:task_notify"]), engine.store.watch(["queue:runs"])
        added = await engine.store.commit(
            [*items_to_insert(Decided(one)), Enqueue(Queue.POLL.value, one.task_id, now, "local", one.server)]
        )
        assert isinstance(added, Committed)
        assert await ended.wait(10)
        ended_at = time.monotonic()
        assert await told.wait(10)
        waits.append((time.monotonic() - ended_at) * 1000)
        ended.stop()
        told.stop()
        await until_told(engine.store, number + 1, 0.02)
    shift.stop()
    await serving
    twentieths = quantiles(waits, n=20)
    return {"p50_ms": twentieths[9], "p95_ms": twentieths[18]}


async def until_told(store: Store, count: int, look_seconds: float) -> None:
    """Wait until the threads of so many tasks were told. Raises TimeoutError."""
    gives_up_at = time.monotonic() + PATIENCE_SECONDS
    while await store.count_tasks(TaskFilter(notification="delivered")) < count:
        if time.monotonic() > gives_up_at:
            raise TimeoutError
        await asyncio.sleep(look_seconds)


async def main() -> None:
    measures = {"polls": polls, "endings": endings, "first": first}
    asked = arguments(__doc__, tuple(measures), count=1000)
    directory: Path = asked.directory
    (directory / "tasks").mkdir()
    (directory / "tasks" / "talk.yaml").write_text(CHAT)
    (directory / "outlast.yaml").write_text(CONFIGURATION)
    remote = Prompt()
    engine = Engine(load(directory / "outlast.yaml"), store=await opened(asked.url, directory))
    engine.drivers = remote
    emit(await measures[asked.mode](engine, remote, asked.count))
    await engine.close()


if __name__ == "__main__":
    asyncio.run(main())
