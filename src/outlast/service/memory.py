"""Long-term memory as people see it: what is remembered of them, found, listed, forgotten, archived and counted.

Every verb takes the user whose memory it is about and reaches no other's.
"""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from typing import Any, Final

from outlast.domain.dataclass import dataclass
from outlast.domain.errors import CallerMistake, NotFound, OutlastError
from outlast.domain.memory import Memory, MemoryKind, Scope
from outlast.ports.memory import MemoryFilter, MemoryQuery, MemoryStore
from outlast.runs.recall.long_term import is_near
from outlast.runs.remembering.long_term_memory import LongTermMemory
from outlast.runs.words import terms_of

MOST_LISTED: Final = 1000


@dataclass(frozen=True, slots=True, kw_only=True)
class Choice:
    """Which entries of a user: those of these ids, or those that fit everything else that is given.

    `ended_before`: those that were outdated before then."""

    ids: tuple[str, ...] = ()
    kind: str | None = None
    source: str | None = None
    thread_id: str | None = None
    run_id: str | None = None
    ended_before: datetime | None = None
    is_everything: bool = False

    @property
    def is_empty(self) -> bool:
        """Does it say nothing?"""
        return not (
            self.ids or self.kind or self.source or self.thread_id or self.run_id or self.ended_before
        )


async def search_memory(
    kept: LongTermMemory,
    user_id: str,
    query: str,
    at: datetime,
    *,
    limit: int = 8,
    thread_id: str | None = None,
) -> list[dict[str, Any]]:
    """What a user, in one of his threads, would be reminded of by a query: entries with scores, best first, outdated ones last.

    Raises CallerMistake (`empty_text`).
    """
    if not query.strip():
        raise CallerMistake("empty_text", "There is nothing to look for in an empty text.", "Give a query.")
    asked = MemoryQuery(
        text=query,
        asker=Scope(user_id, thread_id),
        at=at,
        limit=limit,
        include_outdated=True,
    )
    words = terms_of(query)
    hits = [hit for hit in await kept.search(asked) if is_near(hit, words)]
    return [{**as_document(hit.memory, at), "score": round(hit.score, 4)} for hit in hits]


async def list_memory(
    memory: MemoryStore,
    user_id: str,
    choice: Choice,
    at: datetime,
    *,
    archived: bool = False,
    limit: int = 100,
) -> list[dict[str, Any]]:
    """The entries of a user that fit, newest first; archived ones only when asked for. Raises CallerMistake (`bad_choice`)."""
    found = await memory.list_memories(user_id, _filter(choice, archived=archived), min(limit, MOST_LISTED))
    return [as_document(one, at) for one in found]


async def forget_memory(memory: MemoryStore, user_id: str, choice: Choice) -> int:
    """Delete entries of a user for good; returns how many there were.

    Raises CallerMistake (`bad_choice`) for a choice that says nothing, not even that everything is meant, and NotFound
    (`unknown_memory`) for an id that is not there; nothing is deleted then.
    """
    return await memory.forget(user_id, await _chosen(memory, user_id, choice))


async def archive_memory(memory: MemoryStore, user_id: str, choice: Choice, at: datetime) -> int:
    """Keep entries of a user out of every recall from now on; returns how many. Raises as `forget_memory` does."""
    return await memory.archive(user_id, await _chosen(memory, user_id, choice), at)


async def memory_stats(kept: LongTermMemory, user_id: str) -> dict[str, Any]:
    """How much is remembered of a user, by kind, and how much of it the present embedder has embedded."""
    stats = await kept.store.stats(user_id)
    space = await _space_of(kept)
    return {
        "entries": stats.entries,
        "kinds": {str(kind): count for kind, count in sorted(stats.kinds.items())},
        "outdated": stats.outdated,
        "archived": stats.archived,
        "embedder": space,
        "embedded": stats.vectors.get(space, 0) if space is not None else 0,
        "vectors": dict(sorted(stats.vectors.items())),
    }


def as_document(memory: Memory, at: datetime) -> dict[str, Any]:
    """An entry as it is shown; `holds` is False once something newer took its place."""
    return {
        "id": memory.memory_id,
        "kind": str(memory.kind),
        "text": memory.text,
        "title": memory.title,
        "source": memory.source,
        "thread_id": memory.origin.thread_id,
        "run_id": memory.origin.run_id,
        "position": memory.origin.position,
        "subtasks": list(memory.subtasks),
        "for": "thread" if memory.scope.thread_id is not None else "user",
        "known_at": memory.valid_from.isoformat(),
        "holds": memory.holds_at(at),
        "superseded_by": memory.superseded_by,
        "expires_at": memory.expires_at.isoformat() if memory.expires_at is not None else None,
        "archived_at": memory.archived_at.isoformat() if memory.archived_at is not None else None,
    }


async def _chosen(memory: MemoryStore, user_id: str, choice: Choice) -> MemoryFilter:
    if choice.is_empty and not choice.is_everything:
        detail = "Nothing says which entries are meant."
        raise CallerMistake(
            "bad_choice", detail, "Name ids, a kind, a source, a thread or a run, or everything."
        )
    if choice.ids:
        known = {one.memory_id for one in await memory.get(user_id, choice.ids)}
        missing = [name for name in choice.ids if name not in known]
        if missing:
            detail = f"Memory has no entry {', '.join(missing)}."
            raise NotFound("unknown_memory", detail, "List yours with `outlast memory list`.")
    return _filter(choice, archived=None)


def _filter(choice: Choice, *, archived: bool | None) -> MemoryFilter:
    return MemoryFilter(
        memory_ids=choice.ids or None,
        kinds=frozenset({_kind_in(choice.kind)}) if choice.kind is not None else frozenset(),
        source=choice.source,
        thread_id=choice.thread_id,
        run_id=choice.run_id,
        ended_before=choice.ended_before,
        archived=archived,
    )


def _kind_in(word: str) -> MemoryKind:
    kinds: Sequence[str] = [kind.value for kind in MemoryKind]
    if word not in kinds:
        raise CallerMistake("bad_choice", f"There is no kind {word!r}.", f"Kinds: {', '.join(kinds)}.")
    return MemoryKind(word)


async def _space_of(kept: LongTermMemory) -> str | None:
    """The space of the present embedder; None where there is none or it cannot be asked."""
    if kept.embedder is None:
        return None
    try:
        return await kept.embedder.space()
    except OutlastError:
        return None
