"""What is done under a lease: asking how a task stands, and asking that it be cancelled.

An act awaits the store and the driver and nothing else, so that whoever drives it may stop, fail or repeat it at every step. It
writes what came of it only while the lease is its own, and gives the lease back in the same commit.
"""

from __future__ import annotations

from collections.abc import Callable
from datetime import datetime
from typing import Final

from outlast.domain.background import BackgroundTask
from outlast.domain.dataclass import dataclass
from outlast.ports.background_driver import (
    Acknowledged,
    BackgroundDriver,
    BackgroundDrivers,
    Forgotten,
    Product,
    Snapshot,
    Trouble,
)
from outlast.ports.batch import Committed, Guard, Item
from outlast.ports.queue import Claim, Release
from outlast.ports.store import Store
from outlast.ports.stream import PutPayload
from outlast.ports.task_rows import DeleteTask
from outlast.tasks.asking import answers_to_send
from outlast.tasks.decide import decide
from outlast.tasks.desk import Kept, items_to_write, read_kept
from outlast.tasks.happenings import CancelTried, Decided, Declined, Happening, Polled, Queue, SubmitUnknown
from outlast.tasks.polling import kept_until, result_of
from outlast.tasks.rules import Moment, RulesOf
from outlast.tasks.wishes import handle_of

_CANNOT_CANCEL: Final = Trouble(
    "not_cancellable", "The server offers no way to cancel this task.", "Wait for its end.", passing=False
)


@dataclass(frozen=True, slots=True)
class Held:
    """A lease under which something is done, and the time, by the store's clock."""

    claim: Claim
    moment: Callable[[], Moment]


class Acts:
    """Acts on the tasks of one store through some drivers, by the `rules` of each task."""

    def __init__(self, store: Store, drivers: BackgroundDrivers, rules: RulesOf) -> None:
        self._store = store
        self._drivers = drivers
        self._rules = rules

    async def poll(self, held: Held, kept: Kept) -> None:
        """Send the answers that are stored, then ask how the task stands; of an ended task see whether it is to be kept."""
        if not kept.task.is_open:
            await self._keep_or_delete(held, kept)
        elif kept.task.remote_id is None:
            await self._write(held, kept, SubmitUnknown())
        else:
            await self._write(held, kept, await self._asked(kept.task))

    async def cancel(self, held: Held, kept: Kept) -> None:
        """Ask that the task be cancelled, if that is still wanted."""
        task = kept.task
        if not task.is_open or task.remote_id is None or task.cancel_requested_at is None:
            await self._give_back(held, None)
            return
        driver = await self._drivers.driver_for(task.driver, task.server)
        reply: Acknowledged | Forgotten | Trouble
        if isinstance(driver, Trouble):
            reply = driver
        elif not driver.can_cancel:
            reply = _CANNOT_CANCEL
        else:
            reply = await driver.cancel(handle_of(task), self._rules(task).call_seconds)
        await self._write(held, kept, CancelTried(reply))

    async def _asked(self, task: BackgroundTask) -> Polled:
        driver = await self._drivers.driver_for(task.driver, task.server)
        if isinstance(driver, Trouble):
            return Polled(driver)
        sent = await self._answered(driver, task)
        reply: Snapshot | Forgotten | Trouble = await driver.poll(
            handle_of(task), self._rules(task).call_seconds
        )
        return Polled(reply, sent)

    async def _answered(self, driver: BackgroundDriver, task: BackgroundTask) -> frozenset[str]:
        """The keys of the questions whose answers the other side took."""
        answers = answers_to_send(task)
        if not answers or not driver.can_answer:
            return frozenset()
        reply = await driver.answer(handle_of(task), answers, self._rules(task).call_seconds)
        return frozenset(answers) if isinstance(reply, Acknowledged) else frozenset()

    async def _write(self, held: Held, kept: Kept, happening: Happening) -> None:
        """Decide on the newest row and write it; whoever lost the lease or the task writes nothing."""
        newest: Kept | None = kept
        while newest is not None:
            rules = self._rules(newest.task)
            decided = decide(newest.task, happening, rules, held.moment())
            if isinstance(decided, Declined):
                await self._give_back(held, self._next_look(held, newest.task))
                return
            product = _brought(newest, decided, happening)
            result = None if product is None else result_of(product).text
            items = items_to_write(newest, decided, held.claim, result)
            answer = await self._store.commit([*items, *_artifacts(newest.task, product)])
            if isinstance(answer, Committed) or answer.guard is not Guard.REVISION:
                return
            newest = await read_kept(self._store, held.claim.item)

    def _next_look(self, held: Held, task: BackgroundTask) -> datetime | None:
        """When a task is looked at again whose state made nothing of what was found, because it changed meanwhile."""
        if held.claim.queue != Queue.POLL:
            return None
        moment = held.moment()
        return moment.now if task.is_open else kept_until(task, self._rules(task), moment) or moment.now

    async def _keep_or_delete(self, held: Held, kept: Kept) -> None:
        until = kept_until(kept.task, self._rules(kept.task), held.moment())
        if until is not None:
            await self._give_back(held, until)
            return
        deletion = DeleteTask(kept.task.task_id, kept.revision, tuple(queue.value for queue in Queue))
        claim = held.claim
        await self._store.commit([Release(claim.queue, claim.item, claim.generation, None), deletion])

    async def _give_back(self, held: Held, due_at: datetime | None) -> None:
        claim = held.claim
        await self._store.commit([Release(claim.queue, claim.item, claim.generation, due_at, is_quiet=True)])


def _brought(kept: Kept, decided: Decided, happening: Happening) -> Product | None:
    """What the task came to, when this is what brought it."""
    match happening:
        case Polled(Snapshot(product=product)) if (
            kept.task.product is None and decided.task.product is not None
        ):
            return product
        case _:
            return None


def _artifacts(task: BackgroundTask, product: Product | None) -> list[Item]:
    """What keeps the artifacts of a product with the run that began its task."""
    contents = {} if product is None else product.contents
    return [PutPayload(task.run_id, digest, content) for digest, content in contents.items()]
