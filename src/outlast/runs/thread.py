"""What a run knows of its thread: the newest of what was said in it before, as much as there is room for."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from outlast.domain.events import Recorded, RunStarted
from outlast.domain.message import Message
from outlast.domain.thread import ThreadSaid
from outlast.journal.thread import read_thread_words
from outlast.ports.store import Store
from outlast.runs.line import turn_of
from outlast.runs.lines import TokenCount

MOST_WORDS: Final = 200
"""How many of the newest words of a thread are looked at."""

LEFT_OUT: Final = "[What was said in this conversation before this is left out here.]"


async def known_thread(
    store: Store, history: Sequence[Recorded], count: TokenCount
) -> tuple[tuple[Message, ...], int]:
    """What the run of a journal knows of its thread, in at most half a context, and the position up to which it knows it."""
    started = history[0].event
    assert isinstance(started, RunStarted)
    position = turn_of(history)
    if position is None:
        position = await store.read_head(started.thread_id)
    room = started.definition.context_max_tokens // 2
    return await thread_messages(store, started.thread_id, position, room, count), position


async def thread_messages(
    store: Store, thread_id: str, position: int, room_tokens: int, count: TokenCount
) -> tuple[Message, ...]:
    """What was said in a thread up to a position, as messages: the newest that fit into `room_tokens`, and a word on the others."""
    if position == 0:
        return ()
    first = max(0, position - MOST_WORDS)
    said = await read_thread_words(store, thread_id, after=first, limit=position - first)
    kept = _newest(said, room_tokens, count)
    left_out = [Message("user", LEFT_OUT)] if first or len(kept) < len(said) else []
    return (*left_out, *kept)


def _newest(said: list[ThreadSaid], room_tokens: int, count: TokenCount) -> list[Message]:
    kept: list[Message] = []
    for words in reversed(said):
        message = Message(words.speaker, words.text)
        room_tokens -= count((message,), ())
        if room_tokens < 0:
            break
        kept.insert(0, message)
    return kept
