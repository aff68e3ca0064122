"""Background tasks on a real store, a server, and workers at work on them."""

import asyncio
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass, field, replace
from datetime import timedelta
from pathlib import Path
from typing import Any

from outlast.adapters.stores.sqlite import SqliteStore
from outlast.domain.background import BackgroundTask
from outlast.ports.queue import Shares
from outlast.runs.elapsed import elapsed_seconds
from outlast.tasks.acts import Acts
from outlast.tasks.desk import happen, items_to_insert, read_kept
from outlast.tasks.guarding import GuardedDrivers
from outlast.tasks.happenings import Declined, Queue
from outlast.tasks.lane import Act, Lane
from outlast.tasks.loops import TaskShift
from outlast.tasks.rules import Moment, TaskRules
from outlast.tasks.wishes import begun
from tests.patience import PATIENCE_SECONDS
from tests.unit.tasks.props import task
from tests.unit.tasks.remote import Remote

PACE = TaskRules(poll_interval_seconds=0.05, call_seconds=20, lease_seconds=600)


@dataclass
class Scene:
    """A store with tasks, a server, and workers."""

    store: SqliteStore
    remote: Remote
    rules: TaskRules = PACE
    slots: int = 50
    shares: Shares = field(default_factory=Shares)

    async def add(self, name: str, *, due_in_seconds: float = 0, **changes: Any) -> BackgroundTask:
        """A task that is polled in some seconds."""
        now = await self.store.now()
        new = task(
            **{
                "task_id": name,
                "name": name,
                "remote_id": f"far-{name}",
                "created_at": now,
                "updated_at": now,
                **changes,
            }
        )
        decided = begun(new, self.rules, Moment(now))
        due = {Queue.POLL: now + timedelta(seconds=due_in_seconds)}
        await self.store.commit(items_to_insert(replace(decided, due=due)))
        return new

    async def happen(self, name: str, happening: Any) -> None:
        """Let something happen that must not be declined."""
        decided = await happen(
            self.store, name, happening, lambda _: self.rules, Moment(await self.store.now())
        )
        assert decided is not None
        assert not isinstance(decided, Declined)

    async def task(self, name: str) -> BackgroundTask:
        """The task as it is kept."""
        kept = await read_kept(self.store, name)
        assert kept is not None
        return kept.task

    def shift(self, store: Any = None, tell: Act | None = None) -> TaskShift:
        """A worker's lanes; with `tell`, one that tells of events."""
        acts = Acts(store or self.store, GuardedDrivers(self.remote), lambda _: self.rules)
        lanes = [
            Lane(
                store or self.store,
                queue,
                act,
                holder="worker",
                slots=self.slots,
                shares=self.shares,
                lease_seconds=self.rules.lease_seconds,
                elapsed=elapsed_seconds,
                chance=lambda: 0.5,
            )
            for queue, act in ((Queue.POLL, acts.poll), (Queue.CANCEL, acts.cancel), (Queue.NOTIFY, tell))
            if act is not None
        ]
        return TaskShift(store or self.store, lanes)

    async def until(self, holds: Callable[[BackgroundTask], bool], *names: str) -> None:
        """Wait until something holds for these tasks."""
        async with asyncio.timeout(PATIENCE_SECONDS):
            watch = self.store.watch([f"queue:{queue.value}" for queue in Queue])
            while not all([holds(await self.task(name)) for name in names]):
                await watch.wait(0.02)
            watch.stop()


@asynccontextmanager
async def staged(tmp_path: Path, **about: Any) -> AsyncIterator[Scene]:
    store = SqliteStore(tmp_path / "outlast.db")
    await store.open()
    yield Scene(store, Remote(), **about)
    await store.close()


@asynccontextmanager
async def serving(shift: TaskShift) -> AsyncIterator[None]:
    serving = asyncio.create_task(shift.serve())
    try:
        yield
    finally:
        shift.stop()
        async with asyncio.timeout(PATIENCE_SECONDS):
            await asyncio.gather(serving, return_exceptions=True)


def has_ended(found: BackgroundTask) -> bool:
    return not found.is_open
