"""The store of the simulation of tasks keeps the promises that stores make of tasks."""

from collections.abc import Sequence
from datetime import UTC, datetime
from typing import Any

import pytest

from outlast.ports.batch import Committed, Item, Refused
from outlast.ports.task_rows import TaskFilter, TaskRow
from outlast.testing.contracts.store.handles import MakeStore, StoreFixtures
from outlast.testing.contracts.store.tasks import TaskContract
from tests.simulation.tasks.shelf import Shelf


class ShelfStore:
    """The shelf behind the port, as far as the contract of tasks goes."""

    def __init__(self) -> None:
        self._shelf = Shelf(lambda: datetime(2026, 3, 1, 13, tzinfo=UTC))

    async def open(self) -> None:
        """Nothing to open."""

    async def close(self) -> None:
        """Nothing to close."""

    async def now(self) -> datetime:
        return self._shelf.clock()

    async def commit(self, batch: Sequence[Item]) -> Committed | Refused:
        return self._shelf.commit(batch)

    async def read_tasks(self, task_ids: Sequence[str]) -> list[TaskRow]:
        return [self._shelf.tasks[one] for one in task_ids if one in self._shelf.tasks]

    async def read_task_result(self, task_id: str) -> str | None:
        return self._shelf.results.get(task_id)

    async def list_tasks(self, wanted: TaskFilter) -> list[TaskRow]:
        return self._shelf.list_tasks(wanted)

    async def count_tasks(self, wanted: TaskFilter) -> int:
        return self._shelf.count_tasks(wanted)

    async def claim(self, *args: Any, **kwargs: Any) -> Any:
        return self._shelf.claim(*args, **kwargs)

    async def read_entry(self, queue: str, item: str) -> Any:
        return self._shelf.read_entry(queue, item)

    async def next_due(self, queue: str) -> datetime | None:
        return self._shelf.next_due(queue)


class TestShelf(TaskContract, StoreFixtures):
    is_shared = False

    @pytest.fixture
    def make_store(self) -> MakeStore:
        return ShelfStore  # type: ignore[return-value]
