"""Threads as people see them: their rows, and what was said in them."""

from __future__ import annotations

from typing import Any

from outlast.domain.door import clean_text
from outlast.domain.errors import Broken, NotFound
from outlast.domain.ids import thread_id_from
from outlast.journal.thread import read_thread_words
from outlast.ports.batch import Committed
from outlast.ports.store import Store
from outlast.ports.thread_rows import InsertThread, ThreadRow
from outlast.runs.line import unfinished


async def list_threads(store: Store, user_id: str, limit: int = 100) -> list[dict[str, Any]]:
    """The threads of a user, newest first."""
    return [_listed(row) for row in await store.list_threads(user_id, limit)]


async def open_thread(store: Store, user_id: str, title: str, random: bytes) -> dict[str, Any]:
    """A new thread of a user, without runs yet, named by at least ten random bytes."""
    row = ThreadRow(
        thread_id=thread_id_from(random),
        user_id=user_id,
        title=clean_text(title).strip(),
        created_at=await store.now(),
    )
    if not isinstance(await store.commit([InsertThread(row)]), Committed):
        raise Broken("store_contended", "A thread of this name is another user's.", "Try again.")
    return _listed(row)


async def show_thread(store: Store, thread_id: str, user_id: str) -> dict[str, Any]:
    """A thread of a user with its words, and its runs that have not ended, the active one first.

    Raises NotFound (`unknown_thread`), also for another user's.
    """
    row = await owned_thread(store, thread_id, user_id)
    words = await read_thread_words(store, thread_id)
    return {
        **_listed(row),
        "unfinished": [row.run_id for row in await unfinished(store, thread_id)],
        "messages": [
            {"run_id": said.run_id, "speaker": said.speaker, "text": said.text}
            for said in words
            if said.speaker != "tasks"
        ],
    }


async def owned_thread(store: Store, thread_id: str, user_id: str) -> ThreadRow:
    """The row of a thread of this user. Raises NotFound (`unknown_thread`), also for another user's."""
    row = await store.read_thread(thread_id)
    if row is None or row.user_id != user_id:
        raise NotFound(
            "unknown_thread", f"There is no thread {thread_id}.", "List yours with `outlast threads list`."
        )
    return row


def _listed(row: ThreadRow) -> dict[str, Any]:
    return {"thread_id": row.thread_id, "title": row.title, "created_at": row.created_at.isoformat()}
