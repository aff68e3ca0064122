"""The second tier: what is remembered from before, asked in the name of the run."""

from __future__ import annotations

from datetime import datetime
from typing import Final

from outlast.domain.errors import OutlastError
from outlast.domain.memory import Memory, MemoryKind, Scope, Vector
from outlast.domain.recalled import Recalled
from outlast.domain.run import Branch, RunState
from outlast.ports.embedder import Embedder
from outlast.ports.memory import MemoryHit, MemoryQuery, MemoryStore
from outlast.runs.recall.short_term import visible_subtasks

LEAST_COSINE: Final = 0.35
"""How near an entry that shares no word with the query has to be to be worth showing."""

_MADE_BY_ITSELF: Final = frozenset({MemoryKind.PAGE, MemoryKind.CONCLUSION})
"""Of the run that asks, these are in the first tier already, whether or not they have been remembered yet."""


def asker_of(state: RunState) -> Scope:
    """In whose name a run asks memory and remembers."""
    return Scope(state.user_id, state.thread_id, state.run_id)


async def long_term(
    memory: MemoryStore, embedder: Embedder | None, state: RunState, branch: Branch, query: str, now: datetime
) -> list[Recalled]:
    """What is remembered from other runs, and what was noted in this one where the conversation may see it; the best first.

    Without a vector of the query, words alone decide. Raises what memory raises when it cannot serve.
    """
    wanted = MemoryQuery(
        text=query,
        asker=asker_of(state),
        at=now,
        vector=await query_vector(embedder, query),
        limit=2 * state.definition.recall_top_k,
        subtasks=visible_subtasks(state, branch),
        include_outdated=True,
    )
    hits = await memory.search(wanted)
    return [recalled_of(hit) for hit in hits if _is_worth_showing(hit, state.run_id)]


async def query_vector(embedder: Embedder | None, query: str) -> Vector | None:
    """The meaning of a query; None where no embedder can tell."""
    if embedder is None:
        return None
    try:
        [vector] = await embedder.embed([query], "query")
    except OutlastError:
        return None
    return vector


def recalled_of(hit: MemoryHit) -> Recalled:
    """A hit as an entry that can be shown."""
    memory = hit.memory
    is_conclusion = memory.kind is MemoryKind.CONCLUSION
    return Recalled(
        id=memory.memory_id,
        tier="long_term",
        kind=str(memory.kind),
        text=memory.text,
        score=round(hit.score, 4),
        title="" if is_conclusion else memory.title,
        source=memory.source,
        known_at=_day_of(memory),
        topic=memory.title if is_conclusion else "",
        run_id=memory.origin.run_id or "",
        is_outdated=hit.is_outdated,
    )


def _day_of(memory: Memory) -> str:
    return memory.valid_from.isoformat(timespec="seconds")


def _is_worth_showing(hit: MemoryHit, run_id: str) -> bool:
    """Does it share a word or the sense, and is it not of the first tier?"""
    is_own = hit.memory.origin.run_id == run_id and hit.memory.kind in _MADE_BY_ITSELF
    is_near = hit.keyword > 0 or (hit.vector or 0.0) >= LEAST_COSINE
    return is_near and not is_own
