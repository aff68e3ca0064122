"""Deleting a thread: what goes on in it is ended first, then its runs and its words are taken out of the store.

Nothing of it is ever begun again: its runs are gone, and what would tell it of something finds no thread.
"""

from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress
from typing import Final

from outlast.domain.dataclass import dataclass
from outlast.domain.errors import Conflict
from outlast.journal.history import read_history
from outlast.journal.upcast import READER
from outlast.ports.batch import Committed
from outlast.ports.memory import MemoryFilter, MemoryStore
from outlast.ports.run_rows import DeleteRun, RunFilter
from outlast.ports.store import Store
from outlast.ports.thread_rows import DeleteThread
from outlast.runs.elapsed import elapsed_seconds
from outlast.runs.giving_back import cancel_unbuilt
from outlast.runs.line import unfinished
from outlast.service import signals
from outlast.service.background.verbs import end_tasks
from outlast.service.threads import owned_thread

_LEASE_SECONDS: Final = 10.0
_LOOK_SECONDS: Final = 0.5
_PAGE: Final = 200


@dataclass(frozen=True, slots=True, kw_only=True)
class Ender:
    """Who deletes: `holder` for leases, `is_gone` says of another holder whether its process is gone beyond doubt.

    A run that a live worker holds is waited for so long.
    """

    holder: str
    is_gone: Callable[[str], bool]
    patience_seconds: float = 20.0


@dataclass(frozen=True, slots=True)
class Gone:
    """What went with a thread: so many runs, and so many entries of long-term memory that they had left."""

    runs: int
    entries: int


async def delete_thread(
    store: Store, memory: MemoryStore | None, thread_id: str, user_id: str, ender: Ender
) -> Gone:
    """Cancel what goes on in a thread of a user and delete it with everything in it, and what it left in memory, for whomever.

    What forks and continuations refer to stays. Raises NotFound (`unknown_thread`) and Conflict (`thread_busy`) when a worker does
    not let go of a run in time: it is cancelled all the same, and deleting again takes the rest.
    """
    await owned_thread(store, thread_id, user_id)
    give_up_at = elapsed_seconds() + ender.patience_seconds
    gone = entries = 0
    while True:
        for row in await unfinished(store, thread_id):
            with suppress(Conflict):  # it has ended meanwhile
                await signals.cancel(store, row.run_id, user_id, "its thread is deleted")
            await _ended(store, row.run_id, ender)
        gone += await _runs_deleted(store, thread_id)
        await end_tasks(store, user_id, thread_id)
        if memory is not None:
            entries += await memory.forget(user_id, MemoryFilter(thread_id=thread_id))
        if isinstance(await store.commit([DeleteThread(thread_id)]), Committed):
            return Gone(gone, entries)
        if await store.read_thread(thread_id) is None:
            return Gone(gone, entries)
        if elapsed_seconds() > give_up_at:
            detail = f"A run of the thread {thread_id} has not ended yet, though it was cancelled."
            raise Conflict("thread_busy", detail, "Delete the thread again in a while.")


async def _ended(store: Store, run_id: str, ender: Ender) -> None:
    """End a cancelled run here where nobody works on it, else wait a moment for its worker."""
    watch = store.watch([run_id])
    try:
        entry = await store.read_entry("runs", run_id)
        is_left = entry is not None and entry.holder is not None and ender.is_gone(entry.holder)
        evict = entry.generation if entry is not None and entry.until is not None and is_left else None
        claims = await store.claim(
            "runs", ender.holder, _LEASE_SECONDS, item=run_id, evict=evict, reader=READER
        )
        if claims:
            await cancel_unbuilt(store, claims[0], await read_history(store, run_id), "deletion")
        else:
            await watch.wait(_LOOK_SECONDS)
    finally:
        watch.stop()


async def _runs_deleted(store: Store, thread_id: str) -> int:
    """Delete the runs of a thread that have ended; how many there were."""
    gone = 0
    while rows := await store.list_runs(RunFilter(thread_id=thread_id, limit=_PAGE)):
        before = gone
        for row in rows:
            head = await store.read_head(row.run_id)
            gone += isinstance(await store.commit([DeleteRun(row.run_id, head)]), Committed)
        if gone == before:
            break
    return gone
