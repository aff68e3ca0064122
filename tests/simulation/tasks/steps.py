"""Work that is done step by step: every await of a store or a driver is a step at which whoever drives it may do something else.

Real code runs here without an event loop. It may be left where it stands for as long as one likes, be told that the store has
failed, or be dropped, as if its process had died.
"""

from collections.abc import Callable, Coroutine, Generator, Sequence
from datetime import datetime
from typing import Any, Generic, TypeVar

from outlast.ports.batch import Committed, Item, Refused
from outlast.ports.task_rows import TaskFilter, TaskRow
from tests.simulation.tasks.shelf import Shelf

T = TypeVar("T")


class Step:
    """A point before or after a call. `is_store` tells calls of the store, which may fail, and `wrote` those that have written."""

    __slots__ = ("is_store", "label", "wrote")

    def __init__(self, label: str, *, is_store: bool = False, wrote: bool = False) -> None:
        self.label = label
        self.is_store = is_store
        self.wrote = wrote

    def __await__(self) -> Generator["Step", None, None]:
        yield self


class Work(Generic[T]):
    """A coroutine under way, and the step it stands at. `worker` is the process it belongs to."""

    def __init__(self, name: str, worker: int, coroutine: Coroutine[Any, Any, T]) -> None:
        self.name = name
        self.worker = worker
        self.at: Step | None = None
        self.result: T | None = None
        self._coroutine = coroutine

    def go_on(self, error: BaseException | None = None) -> bool:
        """Do what comes before the next step, or meet `error` here; is it over?"""
        try:
            self.at = self._coroutine.send(None) if error is None else self._coroutine.throw(error)
        except StopIteration as over:
            self.at, self.result = None, over.value
            return True
        return False

    def drop(self) -> None:
        """Go on no more. What stands in `finally` must not reach the store again."""
        self._coroutine.close()


class SteppingStore:
    """The verbs of the port that are used under a lease, each with a step before and, where it writes, one after it.

    `written` is called with the batch of every commit that holds, before anybody else does anything.
    """

    def __init__(self, shelf: Shelf, written: Callable[[Sequence[Item]], None]) -> None:
        self.shelf = shelf
        self._written = written

    async def commit(self, batch: Sequence[Item]) -> Committed | Refused:
        """See `Store.commit`."""
        return await self.commit_then(batch, _nothing)

    async def commit_then(self, batch: Sequence[Item], happened: Callable[[], None]) -> Committed | Refused:
        """Commit, and if it holds call `happened` in the same moment."""
        await Step("commit", is_store=True)
        answer = self.shelf.commit(batch)
        if isinstance(answer, Committed):
            self._written(batch)
            happened()
        await Step("committed", is_store=True, wrote=True)
        return answer

    async def now(self) -> datetime:
        """See `Store.now`."""
        await Step("now", is_store=True)
        return self.shelf.clock()

    async def read_tasks(self, task_ids: Sequence[str]) -> list[TaskRow]:
        """See `TaskReads.read_tasks`."""
        await Step("read_tasks", is_store=True)
        return [self.shelf.tasks[one] for one in task_ids if one in self.shelf.tasks]

    async def list_tasks(self, wanted: TaskFilter) -> list[TaskRow]:
        """See `TaskReads.list_tasks`."""
        await Step("list_tasks", is_store=True)
        return self.shelf.list_tasks(wanted)


def _nothing() -> None:
    """Nothing more happens."""
