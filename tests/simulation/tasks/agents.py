"""The runs of the simulation: they are started, tell of events or do something else, and end. A model of what delivers."""

from collections.abc import Callable
from dataclasses import dataclass, field
from datetime import timedelta
from functools import partial
from random import Random
from typing import Any

from outlast.domain.notification import Notification
from outlast.ports.batch import Committed, Guard, Item
from outlast.ports.queue import Claim, Enqueue, Release
from outlast.ports.run_rows import InsertRun, RunRow, UpdateRun
from outlast.ports.task_rows import TaskFilter
from outlast.tasks.acts import Held
from outlast.tasks.decide import decide
from outlast.tasks.desk import Kept, items_to_write, read_kept
from outlast.tasks.happenings import (
    Decided,
    Dispatched,
    Happening,
    NotificationClaimed,
    Queue,
    RunEnded,
    ThreadBusy,
    ThreadGone,
    Told,
)
from outlast.tasks.rules import Moment, RulesOf
from tests.simulation.tasks.shelf import read_row
from tests.simulation.tasks.steps import Step, SteppingStore


@dataclass
class Talk:
    """The threads there are, and what their people have been told: (task, version, event), in order."""

    alive: set[str] = field(default_factory=set)
    standing_still: set[str] = field(default_factory=set)
    heard: list[tuple[str, int, Any]] = field(default_factory=list)
    started: list[str] = field(default_factory=list)
    is_doomed: bool = False
    is_calm: bool = False


class Agents:
    """Starts notification runs and carries runs to their ends."""

    def __init__(self, store: Any, rules: RulesOf, talk: Talk, dice: Random) -> None:
        self._store: SteppingStore = store
        self._as_store: Any = store
        self._rules = rules
        self._talk = talk
        self._dice = dice

    async def tell(self, held: Held, kept: Kept) -> None:
        """The act on a notification: start a run, tell one that stands still, or wait."""
        newest: Kept | None = kept
        while newest is not None:
            moment = held.moment()
            taken = decide(newest.task, NotificationClaimed(), self._rules(newest.task), moment)
            if not isinstance(taken, Decided):
                await self._store.commit([_back(held.claim)])
                return
            happening, also = await self._wanted(newest)
            decided = decide(taken.task, happening, self._rules(newest.task), moment)
            assert isinstance(decided, Decided), decided
            items = [*also, *items_to_write(newest, decided, held.claim)]
            if isinstance(happening, Dispatched):
                items += await self._others(newest, happening, moment)
            said = [(newest.task.task_id, newest.task.event_version, newest.task.event)]
            told = said if isinstance(happening, Told) else []
            answer = await self._store.commit_then(items, partial(self._heard, None, told))
            if isinstance(answer, Committed) or answer.guard is Guard.GENERATION:
                return
            newest = await read_kept(self._as_store, kept.task.task_id)

    async def _wanted(self, kept: Kept) -> tuple[Happening, list[Item]]:
        await Step("look", is_store=True)
        task, talk = kept.task, self._talk
        if task.thread_id not in talk.alive:
            return ThreadGone(), []
        active = self._store.shelf.active_run(task.thread_id)
        if active is not None:
            return (Told() if active.run_id in talk.standing_still else ThreadBusy()), []
        key = f"task:{task.task_id}:{task.event_version}:{task.dispatch_attempt + 1}"
        run_id = f"n-{len(talk.started)}"
        talk.started.append(run_id)
        now = self._store.shelf.clock()
        run = new_run(run_id, task.thread_id, now, key)
        return Dispatched(run_id), [InsertRun(run), Enqueue("runs", run_id, now, "ann")]

    async def _others(self, first: Kept, happening: Dispatched, moment: Moment) -> list[Item]:
        """What else of the thread is to be told goes with it."""
        wanted = TaskFilter(thread_id=first.task.thread_id, is_undelivered=True)
        items: list[Item] = []
        for row in await self._store.list_tasks(wanted):
            kept = Kept(read_row(row), row.revision)
            taken = decide(kept.task, NotificationClaimed(), self._rules(kept.task), moment)
            if row.task_id == first.task.task_id or not isinstance(taken, Decided):
                continue
            decided = decide(taken.task, happening, self._rules(kept.task), moment)
            assert isinstance(decided, Decided)
            items += items_to_write(kept, decided)
        return items

    async def carry_on(self, held: Held) -> None:
        """The act on a run: it works for a while and ends, and with it what it was to tell."""
        run = self._store.shelf.runs[held.claim.item]
        for _ in range(self._dice.randrange(3)):
            await Step("model")
        talk, chance = self._talk, self._dice.random()
        fails = not talk.is_calm and (talk.is_doomed or chance < 0.25)
        error = f"model_overload: {chance}" if fails else None
        while True:
            items: list[Item] = []
            told: list[tuple[str, int, Any]] = []
            for row in await self._store.list_tasks(TaskFilter(thread_id=run.thread_id)):
                kept_task = Kept(read_row(row), row.revision)
                task, moment = kept_task.task, held.moment()
                ended = RunEnded(run.run_id, task.dispatch_version, error)
                decided = decide(task, ended, self._rules(task), moment)
                if isinstance(decided, Decided):
                    items += items_to_write(kept_task, decided)
                    told.append((task.task_id, task.dispatch_version, task.dispatch_event))
                elif task.notification is Notification.PENDING and task.is_undelivered:
                    items.append(Enqueue(Queue.NOTIFY.value, task.task_id, moment.now, task.user_id))
            over = UpdateRun(
                run.run_id, "ENDED", False, "full", held.moment().now, "{}", 1, held.claim.generation
            )
            answer = await self._store.commit_then(
                [over, *items, _back(held.claim)], partial(self._heard, error, told)
            )
            if isinstance(answer, Committed) or answer.guard is Guard.GENERATION:
                return

    def _heard(self, error: str | None, told: list[tuple[str, int, Any]]) -> None:
        if error is None:
            self._talk.heard += told


def new_run(run_id: str, thread_id: str, now: Any, key: str | None = None) -> RunRow:
    """A run that has just been started."""
    return RunRow(
        run_id=run_id,
        thread_id=thread_id,
        user_id="ann",
        task="chat",
        state="INIT",
        is_active=True,
        created_at=now,
        updated_at=now,
        summary="{}",
        key=key,
    )


def moments(
    claim: Claim, clock: Callable[[], Any], skew_seconds: float, dice: Random
) -> Callable[[], Moment]:
    """The time as a worker sees it whose clock goes wrong by some seconds after its claim."""
    return lambda: Moment(clock() + timedelta(seconds=skew_seconds), dice.random())


def _back(claim: Claim) -> Release:
    return Release(claim.queue, claim.item, claim.generation, None)
