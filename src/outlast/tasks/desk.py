"""Between the machine and the store: a task as it is kept, and what is written when something happens to it.

Whatever happens is decided on the newest row and written under its revision; a lost race is decided again. Who acts under a
lease writes under its generation too and gives the lease back in the same commit, so that a stale worker changes nothing.
"""

from __future__ import annotations

from outlast.domain.background import BackgroundTask
from outlast.domain.dataclass import dataclass
from outlast.ports.batch import Committed, Guard, Item
from outlast.ports.queue import Claim, Enqueue, Release
from outlast.ports.store import Store
from outlast.ports.task_rows import InsertTask, UpdateTask
from outlast.tasks.codec import row_of, task_in
from outlast.tasks.decide import decide
from outlast.tasks.happenings import Decided, Declined, Happening
from outlast.tasks.rules import Moment, RulesOf


@dataclass(frozen=True, slots=True)
class Kept:
    """A task and the revision of its row."""

    task: BackgroundTask
    revision: int


async def read_kept(store: Store, task_id: str) -> Kept | None:
    """The task as it is kept. Raises what `task_in` raises."""
    rows = await store.read_tasks([task_id])
    return Kept(task_in(rows[0]), rows[0].revision) if rows else None


def items_to_insert(begun: Decided) -> list[Item]:
    """What a commit must hold to add a task that was just begun."""
    return [InsertTask(row_of(begun.task)), *_enqueued(begun, None)]


def items_to_write(
    kept: Kept, decided: Decided, held: Claim | None = None, result: str | None = None
) -> list[Item]:
    """What a commit must hold so that what was decided on `kept` holds, and the lease `held` is given back."""
    items: list[Item] = []
    if decided.task != kept.task or result is not None:
        lease = ("", None) if held is None else (held.queue, held.generation)
        items.append(UpdateTask(row_of(decided.task), kept.revision, result, *lease))
    items += _enqueued(decided, held)
    if held is not None:
        due_at = next((at for queue, at in decided.due.items() if queue.value == held.queue), None)
        items.append(Release(held.queue, held.item, held.generation, due_at, is_quiet=True))
    return items


def _enqueued(decided: Decided, held: Claim | None) -> list[Item]:
    task = decided.task
    return [
        Enqueue(queue.value, task.task_id, due_at, task.user_id, task.server)
        for queue, due_at in decided.due.items()
        if held is None or queue.value != held.queue
    ]


async def happen(
    store: Store, task_id: str, happening: Happening, rules: RulesOf, moment: Moment
) -> Decided | Declined | None:
    """Let something happen to a task that nobody needs a lease for: what came of it, None when there is no such task.

    Raises what `task_in` and the store raise.
    """
    while True:
        kept = await read_kept(store, task_id)
        if kept is None:
            return None
        decided = decide(kept.task, happening, rules(kept.task), moment)
        if isinstance(decided, Declined):
            return decided
        answer = await store.commit(items_to_write(kept, decided))
        if isinstance(answer, Committed):
            return decided
        if answer.guard is Guard.MISSING:
            return None
