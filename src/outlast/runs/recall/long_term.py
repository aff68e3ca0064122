"""The second tier: what is remembered from before, asked in the name of the run."""

from __future__ import annotations

from datetime import datetime
from typing import Final

from outlast.domain.memory import Memory, MemoryKind, Scope
from outlast.domain.recalled import Recalled
from outlast.domain.run import Branch, RunState
from outlast.ports.memory import MemoryHit, MemoryQuery
from outlast.runs.recall.short_term import visible_subtasks
from outlast.runs.remembering.long_term_memory import LongTermMemory
from outlast.runs.words import terms_of

LEAST_COSINE: Final = 0.35
"""How near an entry that shares no word with the query has to be to be worth showing."""

_MADE_BY_ITSELF: Final = frozenset({MemoryKind.PAGE, MemoryKind.CONCLUSION})
"""Of the run that asks, these are in the first tier already, whether or not they have been remembered yet."""


def asker_of(state: RunState) -> Scope:
    """In whose name a run asks memory and remembers."""
    return Scope(state.user_id, state.thread_id, state.run_id)


async def long_term(
    kept: LongTermMemory, state: RunState, branch: Branch, query: str, now: datetime, limit: int
) -> list[Recalled]:
    """What is remembered from other runs, and what was noted in this one where the conversation may see it; the best first.

    Raises what memory raises when it cannot serve.
    """
    wanted = MemoryQuery(
        text=query,
        asker=asker_of(state),
        at=now,
        limit=limit,
        subtasks=visible_subtasks(state, branch),
        include_outdated=True,
    )
    words = terms_of(query)
    hits = await kept.search(wanted)
    return [
        recalled_from(hit.memory, now, hit.score)
        for hit in hits
        if is_near(hit, words) and not _is_of_first_tier(hit.memory, state.run_id)
    ]


def recalled_from(memory: Memory, now: datetime, score: float = 0.0) -> Recalled:
    """An entry of memory as it can be shown."""
    is_conclusion = memory.kind is MemoryKind.CONCLUSION
    return Recalled(
        id=memory.memory_id,
        tier="long_term",
        kind=str(memory.kind),
        text=memory.text,
        score=round(score, 4),
        title="" if is_conclusion else memory.title,
        source=memory.source,
        known_at=_day_of(memory),
        topic=memory.title if is_conclusion else "",
        run_id=memory.origin.run_id or "",
        is_outdated=not memory.holds_at(now),
    )


def _day_of(memory: Memory) -> str:
    return memory.valid_from.isoformat(timespec="seconds")


def is_near(hit: MemoryHit, words: frozenset[str]) -> bool:
    """Does an entry share one of the words of the query, or its sense?"""
    memory = hit.memory
    has_word = not words.isdisjoint(terms_of(f"{memory.title} {memory.text}"))
    return has_word or (hit.vector or 0.0) >= LEAST_COSINE


def _is_of_first_tier(memory: Memory, run_id: str) -> bool:
    return memory.origin.run_id == run_id and memory.kind in _MADE_BY_ITSELF
