"""Threads as people see them: their rows, and what was said in them."""

from __future__ import annotations

from typing import Any

from outlast.domain.errors import NotFound
from outlast.journal.thread import read_thread_words
from outlast.ports.store import Store
from outlast.ports.thread_rows import ThreadRow
from outlast.runs.line import unfinished


async def list_threads(store: Store, user_id: str, limit: int = 100) -> list[dict[str, Any]]:
    """The threads of a user, newest first."""
    rows = await store.list_threads(user_id, limit)
    return [
        {"thread_id": row.thread_id, "title": row.title, "created_at": row.created_at.isoformat()}
        for row in rows
    ]


async def show_thread(store: Store, thread_id: str, user_id: str) -> dict[str, Any]:
    """A thread of a user with its words, and its runs that have not ended, the active one first.

    Raises NotFound (`unknown_thread`), also for another user's.
    """
    row = await owned_thread(store, thread_id, user_id)
    words = await read_thread_words(store, thread_id)
    return {
        "thread_id": thread_id,
        "title": row.title,
        "created_at": row.created_at.isoformat(),
        "unfinished": [row.run_id for row in await unfinished(store, thread_id)],
        "messages": [{"run_id": said.run_id, "speaker": said.speaker, "text": said.text} for said in words],
    }


async def owned_thread(store: Store, thread_id: str, user_id: str) -> ThreadRow:
    """The row of a thread of this user. Raises NotFound (`unknown_thread`), also for another user's."""
    row = await store.read_thread(thread_id)
    if row is None or row.user_id != user_id:
        raise NotFound(
            "unknown_thread", f"There is no thread {thread_id}.", "List yours with `outlast threads list`."
        )
    return row
