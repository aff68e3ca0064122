"""Exporting a run: the whole of it as lines, read in pages, so that its length does not matter."""

from __future__ import annotations

from collections.abc import AsyncIterator
from typing import Final

from outlast.domain.errors import Broken, Conflict
from outlast.domain.states import HELD
from outlast.ports.run_rows import RunRow
from outlast.ports.store import Store
from outlast.ports.task_rows import TaskFilter
from outlast.service.background.moving import mark_as_moved, tasks_to_take
from outlast.service.portable import Lines
from outlast.service.show import owned_row

_PAGE: Final = 500
_LOOKS: Final = 20


async def export_run(
    store: Store, run_id: str, user_id: str | None = None, *, moves: bool = False
) -> AsyncIterator[bytes]:
    """The lines of a run as it stands, each with its end; see `service.portable`.

    The background tasks of the run that are settled travel along. With `moves` those that go on do so too, and are marked first:
    nobody here follows them from then on. Raises NotFound (`unknown_run`), Conflict: `run_busy` for a run that goes too fast to be
    caught between two steps, `tasks_open` for one at work whose background tasks go on here, `tasks_busy` for tasks that cannot be
    moved right now, and Broken (`journal_damaged`) when a payload is missing.
    """
    if moves:
        await _move(store, run_id, user_id)
    row, events = await _between_steps(store, run_id, user_id)
    if row.is_active and await store.count_tasks(TaskFilter(run_id=run_id, is_open=True)):
        raise Conflict(
            "tasks_open",
            f"Background tasks of {run_id} go on here; a copy elsewhere would wait for them for ever.",
            "Take them along with `--move`, wait until they have ended, or cancel them: `outlast tasks list`.",
        )
    thread = await store.read_thread(row.thread_id)
    if thread is None:
        raise Broken("journal_damaged", f"The thread {row.thread_id} of {run_id} is missing.", _LOOK_CLOSER)
    words = await store.read_head(row.thread_id)
    holders = {"run": await store.list_payloads(run_id), "thread": await store.list_payloads(row.thread_id)}
    digests = sorted({digest for held in holders.values() for digest in held})
    tasks = await tasks_to_take(store, run_id)
    lines = Lines()
    yield lines.header(run_id, events, words, len(digests), len(tasks))
    yield lines.run(row)
    yield lines.thread(thread)
    for after in range(0, words, _PAGE):
        for said in await store.read_events(row.thread_id, after, min(_PAGE, words - after)):
            yield lines.said(said)
    for after in range(0, events, _PAGE):
        for event in await store.read_events(run_id, after, min(_PAGE, events - after)):
            yield lines.event(event)
    for digest in digests:
        of = [name for name, held in holders.items() if digest in held]
        yield lines.payload(digest, of, await _content(store, run_id, digest))
    for task in tasks:
        yield lines.task(task)
    yield lines.end()


_LOOK_CLOSER: Final = "Run `outlast db check`; restore the database from a backup."


async def _move(store: Store, run_id: str, user_id: str | None) -> None:
    """Mark the tasks of a run that stands still or has ended."""
    row = await owned_row(store, run_id, user_id)
    entry = await store.read_entry("runs", run_id)
    is_at_work = entry is not None and entry.until is not None
    if is_at_work or (row.is_active and row.state not in HELD):
        raise Conflict(
            "run_busy",
            f"{run_id} is at work, and may begin more background tasks.",
            f"Pause it with `outlast pause {run_id}`, or let it come to a rest.",
        )
    await mark_as_moved(store, run_id)


async def _between_steps(store: Store, run_id: str, user_id: str | None) -> tuple[RunRow, int]:
    """The row of a run and where its journal ended when the row was as it is."""
    for _ in range(_LOOKS):
        head = await store.read_head(run_id)
        row = await owned_row(store, run_id, user_id)
        if await store.read_head(run_id) == head:
            return row, head
    raise Conflict(
        "run_busy", f"{run_id} goes on too fast to be exported.", f"Pause it with `outlast pause {run_id}`."
    )


async def _content(store: Store, run_id: str, digest: str) -> bytes:
    found = await store.read_payloads([digest])
    if digest not in found:
        raise Broken("journal_damaged", f"A payload of {run_id} is missing: {digest}.", _LOOK_CLOSER)
    return found[digest]
