"""Things to put into a store."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import UTC, datetime, timedelta

from outlast.ports.batch import Committed, Item
from outlast.ports.queue import Claim, Enqueue
from outlast.ports.run_rows import InsertRun, RunRow
from outlast.ports.store import Store
from outlast.ports.stream import Append, EventRow
from outlast.ports.task_rows import TaskRow
from outlast.ports.thread_rows import InsertThread, ThreadRow

AT = datetime(2026, 3, 1, 12, 30, 15, 123457, tzinfo=UTC)
LEASE_SECONDS = 600.0


def events(count: int, after: int = 0, body: str = "{}") -> tuple[EventRow, ...]:
    """Events numbered from `after` + 1, each with a body of its own unless one is given."""
    return tuple(
        EventRow(position, "Noted", 1, AT, body if body != "{}" else f'{{"n":{position}}}')
        for position in range(after + 1, after + count + 1)
    )


def append(stream: str, after: int, count: int = 1, generation: int | None = None) -> Append:
    """Append `count` events at `after`."""
    return Append(stream, after, events(count, after), generation)


def thread(thread_id: str = "t", user_id: str = "ann", *, minutes: int = 0) -> ThreadRow:
    """A thread made some minutes after AT."""
    return ThreadRow(
        thread_id=thread_id, user_id=user_id, title="A talk", created_at=AT + timedelta(minutes=minutes)
    )


def run(
    run_id: str,
    thread_id: str = "t",
    user_id: str = "ann",
    *,
    key: str | None = None,
    is_active: bool = True,
    minutes: int = 0,
    state: str = "INIT",
    task: str = "study",
    min_reader: int = 1,
) -> RunRow:
    """A run made some minutes after AT."""
    return RunRow(
        run_id=run_id,
        thread_id=thread_id,
        user_id=user_id,
        task=task,
        state=state,
        is_active=is_active,
        created_at=AT + timedelta(minutes=minutes),
        updated_at=AT + timedelta(minutes=minutes, microseconds=1),
        summary='{"input":"why"}',
        key=key,
        min_reader=min_reader,
    )


def task(
    task_id: str,
    thread_id: str = "t",
    user_id: str = "ann",
    *,
    name: str = "",
    remote_id: str | None = None,
    status: str = "working",
    notification: str = "none",
    is_open: bool = True,
    event_version: int = 0,
    minutes: int = 0,
) -> TaskRow:
    """A background task made some minutes after AT, named after its id unless a name is given."""
    return TaskRow(
        task_id=task_id,
        user_id=user_id,
        thread_id=thread_id,
        run_id="r",
        name=name or task_id,
        server="jobs",
        remote_id=remote_id,
        status=status,
        tracking="ok",
        notification=notification,
        is_open=is_open,
        event_version=event_version,
        created_at=AT + timedelta(minutes=minutes),
        updated_at=AT + timedelta(minutes=minutes, microseconds=1),
        body_version=1,
        body='{"n":1}',
    )


async def put(store: Store, *items: Item) -> None:
    """Commit what cannot be refused."""
    assert await store.commit(items) == Committed()


async def start(store: Store, run_id: str = "r", *, min_reader: int = 1) -> None:
    """A thread of its own, a run in it and its entry in the queue `runs`, due now."""
    thread_id = f"t-{run_id}"
    await put(
        store,
        InsertThread(thread(thread_id)),
        InsertRun(run(run_id, thread_id, min_reader=min_reader)),
        Enqueue("runs", run_id, await store.now(), "ann"),
    )


async def take(store: Store, item: str = "r", queue: str = "runs", *, evict: int | None = None) -> Claim:
    """The lease on one entry, which must be free."""
    [claim] = await store.claim(queue, "worker", LEASE_SECONDS, item=item, evict=evict)
    return claim


def bodies(found: Sequence[EventRow]) -> list[str]:
    """The bodies of events."""
    return [event.body for event in found]
