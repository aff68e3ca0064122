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
) -> tuple[tuple[ThreadSaid, ...], int]:
    """What the run of a journal knows of its thread, in at most half a context, and the position up to which it knows it."""
    started = history[0].event
    assert isinstance(started, RunStarted)
    position = turn_of(history)
    if position is None:
        position = await store.read_head(started.thread_id)
    room = started.definition.context_max_tokens // 2
    return await words_before(store, started.thread_id, position, room, count), position


async def words_before(
    store: Store, thread_id: str, position: int, room_tokens: int, count: TokenCount
) -> tuple[ThreadSaid, ...]:
    """What was said in a thread up to a position: the newest that fits into `room_tokens`, and a word on what is left out.

    The newest list of background tasks is there in any case.
    """
    if position == 0:
        return ()
    first = max(0, position - MOST_WORDS)
    said = await read_thread_words(store, thread_id, after=first, limit=position - first)
    kept = said[_first_kept(said, room_tokens, count) :]
    if not first and len(kept) == len(said):
        return tuple(kept)
    tasks = [words for words in said if words.speaker == "tasks"][-1:]
    return (ThreadSaid("", "user", LEFT_OUT), *(words for words in tasks if words not in kept), *kept)


def _first_kept(said: list[ThreadSaid], room_tokens: int, count: TokenCount) -> int:
    """The index of the first of the newest words that fit."""
    for index in range(len(said) - 1, -1, -1):
        room_tokens -= count((Message("user", said[index].text),), ())
        if room_tokens < 0:
            return index + 1
    return 0
