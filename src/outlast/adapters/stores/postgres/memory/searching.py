"""Entries found by words and by vectors."""

from __future__ import annotations

from collections.abc import Iterable
from functools import cache
from typing import Any, Final

from outlast.adapters.stores.postgres.link import Link
from outlast.adapters.stores.postgres.memory.rows import memory_of, memory_query, visible_to
from outlast.adapters.stores.remembering.joining import POOL, SKETCHED, Candidate, Ranked, joined
from outlast.adapters.stores.remembering.keywords import Holdings, Vocabulary, rarest
from outlast.adapters.stores.remembering.sketches import Shelves, cosines, sketch_of
from outlast.adapters.stores.remembering.terms import of_user, query_terms
from outlast.domain.memory import Vector
from outlast.ports.memory import MemoryHit, MemoryQuery

MAX_WEIGHED: Final = 12
"""So many of the rarest terms decide which entries words propose; each of those is then weighed by all terms."""

MAX_WEIGHED_ENTRIES: Final = 3_000
"""About how many entries the server weighs for one query."""

MOST_COUNTED: Final = 10_000
"""How far the entries that hold a term are counted."""

_USER = memory_query("read_user")
_HOLDING = memory_query("holding_terms")
_BY_WORDS = memory_query("by_words")
_BY_LETTER = memory_query("by_letter")
_VECTORS = memory_query("visible_vectors")
_TERMS = memory_query("count_terms")
_SKETCHES = memory_query("sketches_since")
_READ = memory_query("read_memories")


@cache
def _by_rarity(count: int) -> str:
    """`by_words.sql` for so many terms: each is an argument from $10 on, their weights follow."""
    weighed = (
        f"(memory.words @@ ${place}::text::tsquery)::int * ${place + count}::float8"
        for place in range(10, 10 + count)
    )
    return _BY_WORDS.replace("{rarity}", " + ".join(weighed))


class Finder:
    """Searches on a link. What it remembers between searches only makes them faster: whatever it proposes is looked up."""

    def __init__(self, holdings: Holdings, shelves: Shelves) -> None:
        self._holdings = holdings
        self._shelves = shelves

    async def search(self, link: Link, asked: MemoryQuery) -> list[MemoryHit]:
        """See `MemoryStore.search`."""
        user = await link.row(_USER, asked.asker.user_id)
        return [] if user is None else await _Search(link, asked, user, self._holdings, self._shelves).hits()


class _Search:
    def __init__(
        self, link: Link, asked: MemoryQuery, user: Any, holdings: Holdings, shelves: Shelves
    ) -> None:
        self._link = link
        self._asked = asked
        self._user_no, self._entries, self._terms, self._removals = user
        self._holdings = holdings
        self._shelves = shelves
        self._visible = visible_to(self._user_no, asked)

    async def hits(self) -> list[MemoryHit]:
        vocabulary = Vocabulary(self._entries, self._terms, await self._holding())
        by_words = await self._by_words(vocabulary)
        near = await self._near(self._asked.vector)
        cosine_of = {**await self._cosines(by_words, self._asked.vector), **near}
        counted = await self._link.rows(_TERMS, list({*by_words, *near}), list(vocabulary.holding))
        candidates = [
            Candidate(
                number,
                vocabulary.weight(dict(zip(held, counts, strict=True)), length),
                cosine_of.get(number),
                valid_to is not None and valid_to <= self._asked.at,
            )
            for number, length, valid_to, held, counts in counted
        ]
        return await self._told(joined(candidates)[: self._asked.limit])

    async def _holding(self) -> dict[str, int]:
        """How many entries of the user hold each term of the query."""
        terms = [of_user(self._user_no, term) for term in query_terms(self._asked.text)]
        known = self._holdings.known(self._user_no, terms, self._entries)
        unknown = [term for term in terms if term not in known]
        counted = dict(await self._link.rows(_HOLDING, unknown, MOST_COUNTED)) if unknown else {}
        self._holdings.learn(self._user_no, counted, self._entries)
        return {**dict.fromkeys(terms, 0), **known, **counted}

    async def _by_words(self, vocabulary: Vocabulary) -> list[int]:
        if not vocabulary.holding:
            return await self._by_letter()
        chosen = rarest(vocabulary.holding, MAX_WEIGHED_ENTRIES)[:MAX_WEIGHED]
        if not chosen:
            return []
        quoted = [f"'{term}'" for term in chosen]
        weights = [vocabulary.rarity(term) for term in chosen]
        given = (*self._visible, " | ".join(quoted), POOL, *quoted, *weights)
        found = await self._link.rows(_by_rarity(len(chosen)), *given)
        return [number for (number,) in found]

    async def _by_letter(self) -> list[int]:
        """What a query finds that has no words at all, as `*` or a row of signs."""
        literal = self._asked.text.strip()
        if not literal:
            return []
        found = await self._link.rows(_BY_LETTER, *self._visible, literal, self._asked.limit)
        return [number for (number,) in found]

    async def _near(self, vector: Vector | None) -> dict[int, float]:
        """The visible entries whose vectors are nearest, with their cosines. Where few are visible, more and more are looked at."""
        if vector is None:
            return {}
        shelf = self._shelves.shelf(self._user_no, vector.space, self._removals)
        rows = await self._link.rows(_SKETCHES, self._user_no, vector.space, shelf.last)
        sketch = sketch_of(vector)
        with self._shelves.lock:
            shelf.add(rows, len(sketch))
        size, looked_at = len(shelf), SKETCHED
        while True:
            with self._shelves.lock:
                numbers = shelf.nearest(sketch, looked_at)
            found = await self._cosines(numbers, vector)
            if len(found) >= POOL or looked_at >= size:
                return dict(sorted(found.items(), key=lambda item: -item[1])[:POOL])
            looked_at *= 4

    async def _cosines(self, numbers: Iterable[int], vector: Vector | None) -> dict[int, float]:
        """The cosines of those of the entries that are visible and have a vector."""
        if vector is None:
            return {}
        rows = await self._link.rows(_VECTORS, *self._visible, list(numbers), vector.space)
        return cosines(vector, [(number, content) for number, content in rows])

    async def _told(self, ranked: list[Ranked]) -> list[MemoryHit]:
        found = await self._link.rows(_READ, [each.number for each in ranked])
        rows = {number: row for number, *row in found}
        return [
            MemoryHit(memory_of(rows[each.number]), each.score, each.keyword, each.vector, each.is_outdated)
            for each in ranked
            if each.number in rows
        ]
