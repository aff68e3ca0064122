"""The store of the simulation: rows, queue entries and runs of one small world, by the guards of the port.

It is held to the store contract of tasks and queues, so that it cannot drift from the stores it stands for.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from functools import lru_cache
from typing import Any

from outlast.ports.batch import Committed, Guard, Item, Refused
from outlast.ports.queue import Claim, Enqueue, QueueEntry, Release
from outlast.ports.run_rows import InsertRun, RunRow, UpdateRun
from outlast.ports.task_rows import DeleteTask, InsertTask, TaskFilter, TaskRow, UpdateTask
from outlast.tasks.codec import task_in

_COMMITTED = Committed()

read_row = lru_cache(maxsize=1_000)(task_in)
"""The task of a row, which everybody here reads many times."""


@dataclass(frozen=True, slots=True)
class Entry:
    """An entry of a queue, under a lease while `until` is set."""

    due_at: datetime | None
    generation: int = 0
    until: datetime | None = None
    holder: str | None = None
    attempts: int = 0
    note: str = ""

    @property
    def ready_at(self) -> datetime | None:
        """When it can be claimed."""
        return self.until or self.due_at


class Shelf:
    """Everything is a dictionary of immutable values; a batch that is refused puts the old ones back."""

    def __init__(self, clock: Callable[[], datetime]) -> None:
        self.clock = clock
        self.tasks: dict[str, TaskRow] = {}
        self.results: dict[str, str] = {}
        self.entries: dict[tuple[str, str], Entry] = {}
        self.runs: dict[str, RunRow] = {}

    def commit(self, batch: Sequence[Item]) -> Committed | Refused:
        """All of it or nothing."""
        before = dict(self.tasks), dict(self.results), dict(self.entries), dict(self.runs)
        for index, item in enumerate(batch):
            guard = self._write(item)
            if guard is not None:
                self.tasks, self.results, self.entries, self.runs = before
                return Refused(guard, index)
        return _COMMITTED

    def _write(self, item: Item) -> Guard | None:
        match item:
            case InsertTask(row):
                return self._insert_task(row)
            case UpdateTask():
                return self._update_task(item)
            case DeleteTask():
                return self._delete_task(item)
            case Enqueue():
                self._enqueue(item)
            case Release():
                return self._release(item)
            case InsertRun(row):
                return self._insert_run(row)
            case UpdateRun():
                return self._update_run(item)
            case _:
                raise NotImplementedError(type(item).__name__)
        return None

    def _insert_task(self, row: TaskRow) -> Guard | None:
        if row.task_id in self.tasks:
            return Guard.EXISTS
        if any((known.thread_id, known.name) == (row.thread_id, row.name) for known in self.tasks.values()):
            return Guard.NAME
        if self._is_remote_taken(row, row.user_id):
            return Guard.REMOTE
        self.tasks[row.task_id] = replace(row, revision=1)
        return None

    def _update_task(self, item: UpdateTask) -> Guard | None:
        row, known = item.row, self.tasks.get(item.row.task_id)
        if known is None:
            return Guard.MISSING
        if known.revision != item.after:
            return Guard.REVISION
        if item.generation is not None and not self.is_held(item.queue, row.task_id, item.generation):
            return Guard.GENERATION
        if self._is_remote_taken(row, known.user_id):
            return Guard.REMOTE
        fixed = {
            name: getattr(known, name) for name in ("user_id", "thread_id", "run_id", "name", "created_at")
        }
        self.tasks[row.task_id] = replace(row, revision=item.after + 1, **fixed)
        if item.result is not None:
            self.results[row.task_id] = item.result
        return None

    def _is_remote_taken(self, row: TaskRow, user_id: str) -> bool:
        return row.remote_id is not None and any(
            (known.user_id, known.server, known.remote_id) == (user_id, row.server, row.remote_id)
            for known in self.tasks.values()
            if known.task_id != row.task_id
        )

    def _delete_task(self, item: DeleteTask) -> Guard | None:
        known = self.tasks.get(item.task_id)
        if known is None:
            return Guard.MISSING
        if known.revision != item.after:
            return Guard.REVISION
        del self.tasks[item.task_id]
        self.results.pop(item.task_id, None)
        for queue in item.queues:
            self.entries.pop((queue, item.task_id), None)
        return None

    def _enqueue(self, item: Enqueue) -> None:
        key = (item.queue, item.item)
        known = self.entries.get(key)
        if known is None:
            self.entries[key] = Entry(item.due_at, item.generation)
        elif item.due_at is not None and (known.due_at is None or known.due_at > item.due_at):
            self.entries[key] = replace(known, due_at=item.due_at)

    def _release(self, item: Release) -> Guard | None:
        if not self.is_held(item.queue, item.item, item.generation):
            return Guard.GENERATION
        known = self.entries[item.queue, item.item]
        dues = [at for at in (known.due_at, item.due_at) if at is not None]
        due_at = min(dues) if dues else None
        self.entries[item.queue, item.item] = Entry(due_at, known.generation, note=item.note)
        return None

    def _insert_run(self, row: RunRow) -> Guard | None:
        if row.run_id in self.runs:
            return Guard.EXISTS
        if row.key is not None and any(known.key == row.key for known in self.runs.values()):
            return Guard.KEY
        if row.is_active and self.active_run(row.thread_id) is not None:
            return Guard.THREAD_BUSY
        self.runs[row.run_id] = row
        return None

    def _update_run(self, item: UpdateRun) -> Guard | None:
        known = self.runs.get(item.run_id)
        if known is None:
            return Guard.MISSING
        if item.generation is not None and not self.is_held("runs", item.run_id, item.generation):
            return Guard.GENERATION
        self.runs[item.run_id] = replace(
            known, is_active=item.is_active, state=item.state, outcome=item.outcome
        )
        return None

    def active_run(self, thread_id: str) -> RunRow | None:
        """The run of a thread that has not ended."""
        return next((run for run in self.runs.values() if run.thread_id == thread_id and run.is_active), None)

    def is_held(self, queue: str, item: str, generation: int) -> bool:
        """Is the lease of this generation held still?"""
        entry = self.entries.get((queue, item))
        return entry is not None and entry.until is not None and entry.generation == generation

    def claim(
        self,
        queue: str,
        holder: str,
        lease_seconds: float,
        *,
        limit: int = 1,
        item: str | None = None,
        evict: int | None = None,
        **about: Any,
    ) -> list[Claim]:
        """See `Store.claim`; shares are left to the stores."""
        now = self.clock()
        until, found = now + timedelta(seconds=lease_seconds), list[Claim]()
        for name in self._claimable(queue, item, evict, now)[: None if item is not None else limit]:
            known = self.entries[queue, name]
            generation, attempts = known.generation + 1, known.attempts + 1
            self.entries[queue, name] = Entry(None, generation, until, holder, attempts, known.note)
            found.append(Claim(queue, name, generation, until, now, attempts))
        return found

    def _claimable(self, queue: str, item: str | None, evict: int | None, now: datetime) -> list[str]:
        if item is not None:
            entry = self.entries.get((queue, item))
            is_free = entry is not None and (
                entry.until is None or entry.until <= now or entry.generation == evict
            )
            return [item] if is_free else []
        ready = [
            (entry.ready_at, name)
            for (of, name), entry in self.entries.items()
            if of == queue and entry.ready_at is not None and entry.ready_at <= now
        ]
        return [name for _, name in sorted(ready)]

    def renew(self, claims: Sequence[Claim], lease_seconds: float) -> set[str]:
        """See `Store.renew`."""
        until = self.clock() + timedelta(seconds=lease_seconds)
        kept = [claim for claim in claims if self.is_held(claim.queue, claim.item, claim.generation)]
        for claim in kept:
            key = (claim.queue, claim.item)
            self.entries[key] = replace(self.entries[key], until=until)
        return {claim.item for claim in kept}

    def read_entry(self, queue: str, item: str) -> QueueEntry | None:
        """See `Store.read_entry`."""
        entry = self.entries.get((queue, item))
        if entry is None:
            return None
        return QueueEntry(queue, item, entry.due_at, entry.generation, entry.holder, entry.until, entry.note)

    def next_due(self, queue: str) -> datetime | None:
        """See `Store.next_due`."""
        times = [entry.ready_at for (of, _), entry in self.entries.items() if of == queue]
        return min((at for at in times if at is not None), default=None)

    def list_tasks(self, wanted: TaskFilter) -> list[TaskRow]:
        """See `TaskReads.list_tasks`."""
        found = sorted(self._wanted(wanted), key=lambda row: row.created_at, reverse=True)
        return found[wanted.offset : wanted.offset + wanted.limit]

    def count_tasks(self, wanted: TaskFilter) -> int:
        """See `TaskReads.count_tasks`."""
        return len(self._wanted(wanted))

    def _wanted(self, wanted: TaskFilter) -> list[TaskRow]:
        columns = ("user_id", "thread_id", "run_id", "status", "tracking", "notification", "is_open")
        asked = {name: getattr(wanted, name) for name in columns if getattr(wanted, name) is not None}
        return [
            row
            for row in self.tasks.values()
            if all(getattr(row, name) == value for name, value in asked.items())
            and wanted.is_undelivered in (None, row.event_version > row.notified_version)
        ]
