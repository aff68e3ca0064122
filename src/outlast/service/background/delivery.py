"""Telling a thread what became of its background tasks: a run of its own agent, a word to a run that stands still, or a note.

What is done here is done under the lease on the task's entry in the queue of notifications, and written with what it does to
the thread in one commit, so that an event is told once however often a worker dies.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from dataclasses import replace
from datetime import datetime
from typing import Final

from outlast.domain.background import BackgroundTask
from outlast.domain.dataclass import dataclass
from outlast.domain.errors import OutlastError
from outlast.domain.events import TaskReported
from outlast.domain.notification import Notification
from outlast.domain.run import RunState
from outlast.domain.states import HELD
from outlast.domain.task import TaskDefinition
from outlast.domain.thread import ThreadSaid
from outlast.journal.append import items_to_append, placed
from outlast.journal.fold import load_state
from outlast.ports.batch import Committed, Guard, Item
from outlast.ports.queue import Claim, Enqueue, Release
from outlast.ports.run_rows import InsertRun, RunFilter
from outlast.ports.store import Store
from outlast.ports.task_rows import TaskFilter
from outlast.runs.line import awaiting, unfinished
from outlast.runs.summary import said_items
from outlast.service.background.batch import alert
from outlast.service.background.judging import Judge
from outlast.service.background.public import neutral, told_to_agent
from outlast.service.background.telling import instruction, teller
from outlast.service.start import Order, items_to_start
from outlast.tasks.acts import Held
from outlast.tasks.codec import task_in
from outlast.tasks.decide import decide
from outlast.tasks.desk import Kept, items_to_write, read_kept
from outlast.tasks.happenings import (
    Decided,
    Dispatched,
    DispatchFailed,
    Happening,
    NotificationClaimed,
    Queue,
    ThreadBusy,
    ThreadGone,
    Told,
)
from outlast.tasks.rules import Moment, RulesOf

MOST_TOGETHER: Final = 20
"""How many events one run tells of."""

MAX_RACES: Final = 20


@dataclass(frozen=True, slots=True)
class _Taken:
    """A task whose event was taken to be told, and the lease on its notification."""

    kept: Kept
    task: BackgroundTask
    claim: Claim


class Delivery:
    """The act on notifications. `random` gives bytes for ids; `holder` and `lease_seconds` are for the leases of events told with
    the one that was claimed."""

    def __init__(
        self,
        store: Store,
        rules: RulesOf,
        judge: Judge,
        *,
        holder: str,
        lease_seconds: float,
        random: Callable[[int], bytes],
    ) -> None:
        self._store = store
        self._rules = rules
        self._judge = judge
        self._holder = holder
        self._lease_seconds = lease_seconds
        self._random = random

    async def __call__(self, held: Held, kept: Kept) -> None:
        """Tell the event of one task, and those of others of its thread that are due."""
        taken = self._taken(kept, held.claim, held.moment())
        if taken is None:
            await self._store.commit([_back(held.claim)])
            return
        for _ in range(MAX_RACES):
            if await self._told(taken, held):
                return
            newest = await read_kept(self._store, held.claim.item)
            taken = None if newest is None else self._taken(newest, held.claim, held.moment())
            if taken is None:
                await self._store.commit([_back(held.claim)])
                return
        await self._store.commit(
            [Release(held.claim.queue, held.claim.item, held.claim.generation, held.moment().now)]
        )

    def _taken(self, kept: Kept, claim: Claim, moment: Moment) -> _Taken | None:
        decided = decide(kept.task, NotificationClaimed(), self._rules(kept.task), moment)
        return _Taken(kept, decided.task, claim) if isinstance(decided, Decided) else None

    async def _told(self, taken: _Taken, held: Held) -> bool:
        """Do what is right for the thread as it stands now; False when it has changed meanwhile."""
        task, moment = taken.task, held.moment()
        thread = await self._store.read_thread(task.thread_id)
        if thread is None or thread.user_id != task.user_id:
            return await self._write([taken], ThreadGone(), moment)
        try:
            taken = await self._judged(taken)
        except OutlastError as error:
            return await self._write([taken], _failed(error), moment)
        moment = held.moment()
        if task.notify == "note":
            return await self._noted(taken, moment)
        rows = await unfinished(self._store, task.thread_id)
        if rows:
            return await self._told_beside(taken, await load_state(self._store, rows[0].run_id), moment)
        return await self._dispatched(taken, moment)

    async def _noted(self, taken: _Taken, moment: Moment) -> bool:
        """A note in the thread, without a model."""
        said = ThreadSaid(taken.task.run_id, "note", _as_json(told_to_agent(taken.task)))
        return await self._write([taken], Told(), moment, said_items(taken.task.thread_id, said, moment.now))

    async def _told_beside(self, taken: _Taken, state: RunState, moment: Moment) -> bool:
        """The thread has a run: it is told if it stands still or waits for the task, else the event waits for its end."""
        if state.has_ended:
            return False
        task = taken.task
        if state.state not in HELD and not _is_awaited(state, task.task_id):
            wait = awaiting(state, Queue.NOTIFY.value, task.task_id, moment.now)
            return await self._write([taken], ThreadBusy(), moment, wait)
        reported = TaskReported(
            task.task_id,
            task.name,
            task.status.value,
            task.is_open,
            _as_json(told_to_agent(task)),
        )
        words = items_to_append(state.run_id, placed([reported], state.position, moment.now), None)
        due = Enqueue("runs", state.run_id, moment.now, state.user_id, state.definition.name)
        return await self._write([taken], Told(), moment, [*words, due])

    async def _dispatched(self, first: _Taken, moment: Moment) -> bool:
        """A run of the thread's own agent tells it, with what else is due."""
        definition = await self._definition(first.task)
        if definition is None:
            return await self._write([first], ThreadGone(), moment)
        together = [first, *await self._others(first, moment)]
        try:
            items = await self._run_items(first, together, definition)
        except OutlastError as error:
            return await self._write(together, _failed(error), moment)
        run_id = next(item.row.run_id for item in items if isinstance(item, InsertRun))
        return await self._write(together, Dispatched(run_id), moment, items)

    async def _run_items(
        self, first: _Taken, together: Sequence[_Taken], definition: TaskDefinition
    ) -> list[Item]:
        tasks = [taken.task for taken in together]
        order = Order(
            definition=teller(definition),
            tools=(),
            input=instruction(tasks),
            random=self._random(40),
            user_id=first.task.user_id,
            thread_id=first.task.thread_id,
            key=first.task.dispatch_key,
            tells_of=tuple(task.task_id for task in tasks),
            material=_as_json([told_to_agent(task) for task in tasks]),
        )
        return await items_to_start(self._store, order)

    async def _others(self, first: _Taken, moment: Moment) -> list[_Taken]:
        """Other events of the thread that are due and can be taken."""
        wanted = TaskFilter(
            user_id=first.task.user_id,
            thread_id=first.task.thread_id,
            notification=Notification.PENDING.value,
            is_undelivered=True,
            limit=MOST_TOGETHER,
        )
        found: list[_Taken] = []
        for row in await self._store.list_tasks(wanted):
            if row.task_id == first.task.task_id or task_in(row).notify != "agent":
                continue
            claims = await self._store.claim(
                Queue.NOTIFY.value, self._holder, self._lease_seconds, item=row.task_id
            )
            kept = await read_kept(self._store, row.task_id) if claims else None
            taken = self._taken(kept, claims[0], moment) if kept is not None else None
            if taken is None and claims:
                await self._store.commit([_back(claims[0])])
            elif taken is not None:
                found += await self._judged_too(taken, moment)
        return found

    async def _judged_too(self, taken: _Taken, moment: Moment) -> list[_Taken]:
        """A task that is told of with another; one whose hook cannot be asked is given back, to be told of by itself."""
        try:
            return [await self._judged(taken)]
        except OutlastError:
            await self._store.commit([_back(taken.claim, moment.now)])
            return []

    async def _judged(self, taken: _Taken) -> _Taken:
        return replace(taken, task=await self._judge.judged(taken.task))

    async def _definition(self, task: BackgroundTask) -> TaskDefinition | None:
        """What the agent of the thread is like: as in the run that began the task, else as in the newest of the thread."""
        rows = await self._store.list_runs(RunFilter(thread_id=task.thread_id, limit=1))
        for run_id in (task.run_id, *(row.run_id for row in rows)):
            if await self._store.read_run(run_id) is not None:
                return (await load_state(self._store, run_id)).definition
        return None

    async def _write(
        self, together: Sequence[_Taken], happening: Happening, moment: Moment, also: Sequence[Item] = ()
    ) -> bool:
        """Write what came of it for all that were taken, with `also`. False when something changed meanwhile; then the leases of all
        but the first are given back, due at once."""
        items: list[Item] = [*also]
        for taken in together:
            decided = decide(taken.task, happening, self._rules(taken.task), moment)
            assert isinstance(decided, Decided)
            items += items_to_write(taken.kept, decided, taken.claim)
            if decided.task.notification is Notification.DEAD_LETTER:
                items.append(alert(decided.task, moment.now))
        written = await self._store.commit(items)
        if isinstance(written, Committed):
            return True
        for taken in together[1:]:
            claim = taken.claim
            await self._store.commit([Release(claim.queue, claim.item, claim.generation, moment.now)])
        lost = written.guard is Guard.GENERATION
        gone = written.guard is Guard.MISSING and isinstance(items[written.index], InsertRun)
        if gone:
            return await self._write(together[:1], ThreadGone(), moment)
        if written.guard is Guard.KEY:
            return await self._write(
                together[:1], DispatchFailed("key_used: The run was begun before."), moment
            )
        return lost


def _is_awaited(state: RunState, task_id: str) -> bool:
    """Does a branch of the run stand still for this task?"""
    awaited = state.background.get(task_id)
    branch = state.branches.get(awaited.branch) if awaited is not None else None
    return branch is not None and state.awaits(branch)


def _back(claim: Claim, due_at: datetime | None = None) -> Release:
    return Release(claim.queue, claim.item, claim.generation, due_at)


def _failed(error: OutlastError) -> DispatchFailed:
    return DispatchFailed(f"{error.code}: {error.detail}")


def _as_json(value: object) -> str:
    return neutral(json.dumps(value, ensure_ascii=False))
