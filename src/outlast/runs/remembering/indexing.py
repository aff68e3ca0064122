"""Putting what a run found where memory is kept. All of it may be done again: the same finding is the same entry."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from datetime import datetime, timedelta
from typing import Final

from outlast.domain.dataclass import dataclass
from outlast.domain.events import Recorded, RunForked, RunStarted
from outlast.domain.memory import Memory, MemoryKind, Origin, Scope
from outlast.domain.plan import Conclusion
from outlast.journal.history import read_history
from outlast.ports.memory import Entry, MemoryFilter, MemoryQuery
from outlast.ports.store import Store
from outlast.runs.remembering.extraction import PageRead, Settled, Stated, findings_in
from outlast.runs.remembering.facts import corrects
from outlast.runs.remembering.long_term_memory import LongTermMemory
from outlast.runs.remembering.passages import passages_of
from outlast.runs.words import terms_of

BATCH: Final = 64
"""How many texts are embedded and put at a time."""

MOST_VERSIONS: Final = 1000
"""How many earlier entries of one page are looked at."""

RIVALS: Final = 20
"""How many earlier entries on a question, or facts that a correction may be about, are looked at."""

CLOCKS_APART: Final = timedelta(minutes=1)
"""How far the clock by which an entry was made may be ahead of the store's."""

SAME_MATTER: Final = 0.3
"""Which part of the words of a fact a correction from another thread must share to be about it."""


@dataclass(frozen=True, slots=True)
class Whose:
    """Where the findings of a run belong."""

    scope: Scope
    thread_id: str
    run_id: str

    def origin(self, position: int) -> Origin:
        """Where an entry made from the event at this position comes from."""
        return Origin(self.thread_id, self.run_id, position)


class Indexer:
    """Remembers what the runs of a store found."""

    def __init__(self, store: Store, kept: LongTermMemory) -> None:
        self._store = store
        self._kept = kept
        self._memory = kept.store

    async def remember(self, run_id: str, after: int = 0) -> int:
        """Remember what a run found after a position of its journal; returns the position it was read up to.

        Raises what the store and memory raise, and Broken for a journal that cannot be read.
        """
        history = await read_history(self._store, run_id)
        whose = self._whose(run_id, history)
        if whose is None:
            return after
        for finding in findings_in(history, after):
            match finding:
                case PageRead():
                    await self._page(whose, finding)
                case Settled():
                    await self._settled(whose, finding)
                case Stated():
                    await self._stated(whose, finding)
        if await self._store.read_run(run_id) is None:
            await self._memory.forget(whose.scope.user_id, MemoryFilter(run_id=run_id))
        return history[-1].position

    def _whose(self, run_id: str, history: Sequence[Recorded]) -> Whose | None:
        """Whose findings these are; None for a run that is gone."""
        if not history or not isinstance(started := history[0].event, RunStarted):
            return None
        forks = [one.event.thread_id for one in history if isinstance(one.event, RunForked)]
        thread_id = forks[-1] if forks else started.thread_id
        return Whose(self._kept.rules.scope_of(started.user_id, thread_id), thread_id, run_id)

    async def _page(self, whose: Whose, read: PageRead) -> None:
        """Remember a page in passages. What another reading of the same address said before is outdated by it."""
        page = read.page
        text = (await self._store.read_payloads([page.text_digest])).get(page.text_digest)
        passages = passages_of(text.decode("utf-8", "replace")) if text is not None else []
        ids = await self._put(
            [
                self._memory_of(
                    whose,
                    MemoryKind.PAGE,
                    passage,
                    read.position,
                    read.at,
                    title=page.title,
                    source=page.url,
                    subtasks=(read.subtask,) if read.subtask else (),
                )
                for passage in passages
            ]
        )
        if ids:
            wanted = MemoryFilter(kinds=frozenset({MemoryKind.PAGE}), source=page.url, archived=False)
            known = await self._memory.list_memories(whose.scope.user_id, wanted, MOST_VERSIONS)
            await self._settle(whose, ids, read.at, known)

    async def _settled(self, whose: Whose, settled: Settled) -> None:
        """Remember the conclusions on a question. Those that an earlier run came to and this one did not are outdated by them."""
        ids = await self._put(
            [
                self._memory_of(
                    whose,
                    MemoryKind.CONCLUSION,
                    _claim_of(conclusion),
                    settled.position,
                    settled.at,
                    title=settled.question,
                    source=source.url if source is not None else "",
                    subtasks=(settled.subtask,),
                )
                for conclusion, source in settled.conclusions
            ]
        )
        if settled.question:
            known = await self._rivals(whose, settled.question, MemoryKind.CONCLUSION)
            same = [
                one for one in known if one.title == settled.question and one.origin.run_id != whose.run_id
            ]
            await self._settle(whose, ids, settled.at, same)

    async def _stated(self, whose: Whose, stated: Stated) -> None:
        """Remember what a person stated. A correction outdates the facts it is about, as far as their words tell."""
        text = stated.text
        fact = self._memory_of(
            whose, MemoryKind.FACT, text, stated.position, stated.at, title=f"said by {stated.by}"
        )
        ids = await self._put([fact])
        known = await self._rivals(whose, text, MemoryKind.FACT, MemoryKind.NOTE)
        await self._settle(whose, ids, stated.at, [one for one in known if is_at_odds(fact, one)])

    async def _rivals(self, whose: Whose, text: str, *kinds: MemoryKind) -> list[Memory]:
        """What holds now on the same matter, be it from later than what is being remembered."""
        asker = Scope(whose.scope.user_id, whose.thread_id, whose.run_id)
        at = await self._store.now() + CLOCKS_APART
        query = MemoryQuery(text=text, asker=asker, at=at, limit=RIVALS, kinds=frozenset(kinds))
        return [hit.memory for hit in await self._memory.search(query)]

    async def _settle(self, whose: Whose, mine: Sequence[str], at: datetime, known: Iterable[Memory]) -> None:
        """Of entries on one matter only the newest hold; runs may be remembered in another order than they happened."""
        others = [
            one
            for one in known
            if one.memory_id not in mine and one.valid_to is None and one.scope == whose.scope
        ]
        user_id = whose.scope.user_id
        older = [one.memory_id for one in others if one.valid_from <= at]
        if older:
            await self._memory.supersede(user_id, older, mine[0], at)
        newer = [one for one in others if one.valid_from > at]
        if newer:
            first = min(newer, key=lambda one: one.valid_from)
            own = await self._memory.get(user_id, mine)
            outdated = [one.memory_id for one in own if one.valid_from <= at]
            await self._memory.supersede(user_id, outdated, first.memory_id, first.valid_from)

    def _memory_of(
        self,
        whose: Whose,
        kind: MemoryKind,
        text: str,
        position: int,
        at: datetime,
        *,
        title: str = "",
        source: str = "",
        subtasks: tuple[str, ...] = (),
    ) -> Memory:
        return Memory(
            kind=kind,
            text=text,
            scope=whose.scope,
            created_at=at,
            valid_from=at,
            title=title,
            source=source,
            subtasks=subtasks,
            origin=whose.origin(position),
            expires_at=self._kept.rules.expiry_of(at),
        )

    async def _put(self, memories: Sequence[Memory]) -> list[str]:
        ids: list[str] = []
        for at in range(0, len(memories), BATCH):
            part = memories[at : at + BATCH]
            vectors = await self._kept.vectors([one.text for one in part])
            entries = [Entry(memory, vector) for memory, vector in zip(part, vectors, strict=True)]
            ids += await self._memory.put(entries)
        return ids


def is_at_odds(one: Memory, other: Memory) -> bool:
    """Does the later of two facts take the earlier one back?

    It has the form of a correction, and shares words with it: in one conversation any, elsewhere a good part of the earlier's.
    """
    earlier, later = sorted((one, other), key=lambda fact: fact.valid_from)
    if not corrects(later.text):
        return False
    words = terms_of(earlier.text)
    shared = words & terms_of(later.text)
    is_near = earlier.origin.thread_id == later.origin.thread_id
    return bool(shared) and (is_near or len(shared) >= SAME_MATTER * len(words))


def _claim_of(conclusion: Conclusion) -> str:
    """A claim with the words it rests on."""
    if not conclusion.quote or conclusion.quote in conclusion.claim:
        return conclusion.claim
    return f"{conclusion.claim}\n\u201c{conclusion.quote}\u201d"
