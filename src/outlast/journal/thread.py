"""Reading the words of a thread."""

from __future__ import annotations

from outlast.domain.thread import ThreadSaid
from outlast.journal.codec import decode, payloads_named_in
from outlast.ports.store import Store


async def read_thread_words(
    store: Store, thread_id: str, limit: int | None = None, *, after: int = 0
) -> list[ThreadSaid]:
    """What was said in a thread, in order, from position `after` + 1: all of it, or the first `limit` words."""
    rows = await store.read_events(thread_id, after, limit)
    digests = [digest for row in rows for digest in payloads_named_in(row.body)]
    payloads = await store.read_payloads(digests) if digests else {}
    return [decode(ThreadSaid, row.body, payloads) for row in rows]
