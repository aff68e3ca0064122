"""The rows of background tasks that one commit writes: what happens to a task twice in it is decided on what came of it first."""

from __future__ import annotations

from dataclasses import field
from datetime import datetime

from outlast.domain.background import BackgroundTask
from outlast.domain.dataclass import dataclass
from outlast.ports.batch import Item
from outlast.ports.queue import Enqueue
from outlast.ports.store import Store
from outlast.ports.task_rows import DeleteTask
from outlast.tasks.decide import decide
from outlast.tasks.desk import Kept, items_to_insert, items_to_write, read_kept
from outlast.tasks.happenings import Decided, Declined, Happening, Queue
from outlast.tasks.rules import Moment, RulesOf


@dataclass(slots=True)
class TaskBatch:
    """Decides what happens to tasks, and gives the items of it."""

    store: Store
    rules: RulesOf
    now: datetime
    _kept: dict[str, Kept | None] = field(default_factory=dict)
    _decided: dict[str, Decided] = field(default_factory=dict)
    _deleted: set[str] = field(default_factory=set)
    _alarming: set[str] = field(default_factory=set)

    async def find(self, task_id: str) -> BackgroundTask | None:
        """The task as it is after what has happened so far."""
        if task_id not in self._kept:
            self._kept[task_id] = await read_kept(self.store, task_id)
        if task_id in self._decided:
            return self._decided[task_id].task
        kept = self._kept[task_id]
        return None if kept is None or task_id in self._deleted else kept.task

    def insert(self, begun: Decided) -> None:
        """Add a task that is new."""
        self._decided[begun.task.task_id] = begun

    async def delete(self, task_id: str) -> None:
        """Take a task out that came to nothing."""
        if await self.find(task_id) is not None:
            self._deleted.add(task_id)

    async def happen(self, task_id: str, happening: Happening) -> BackgroundTask | None:
        """Let something happen to a task: how it is now; None when there is none, or when it makes nothing of it."""
        task = await self.find(task_id)
        if task is None:
            return None
        decided = decide(task, happening, self.rules(task), Moment(self.now))
        if isinstance(decided, Declined):
            return None
        before = self._decided.get(task_id)
        due = {**before.due, **decided.due} if before is not None else decided.due
        self._decided[task_id] = Decided(decided.task, due, decided.has_event)
        return decided.task

    def alert(self, task_id: str) -> None:
        """Let operators be told of a task."""
        self._alarming.add(task_id)

    def items(self) -> list[Item]:
        """What must be written."""
        items: list[Item] = []
        for task_id, decided in self._decided.items():
            kept = self._kept.get(task_id)
            items += items_to_insert(decided) if kept is None else items_to_write(kept, decided)
        for task_id in self._deleted:
            kept = self._kept[task_id]
            if kept is not None:
                items.append(DeleteTask(task_id, kept.revision, tuple(queue.value for queue in Queue)))
        return [*items, *(alert(self._decided[task_id].task, self.now) for task_id in self._alarming)]


def alert(task: BackgroundTask, now: datetime) -> Enqueue:
    """What makes an alert of a task due."""
    return Enqueue(Queue.ALERT.value, task.task_id, now, task.user_id, task.server)
