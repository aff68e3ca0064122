"""Entries found by words and by vectors, in the thread that reads for memory."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Iterable, Iterator

from outlast.adapters.stores.remembering.joining import POOL, SKETCHED, Candidate, Ranked, joined
from outlast.adapters.stores.remembering.keywords import Holdings, Vocabulary, rarest
from outlast.adapters.stores.remembering.sketches import Shelves, cosines, sketch_of
from outlast.adapters.stores.remembering.terms import of_user, query_terms
from outlast.adapters.stores.sqlite.memory.rows import is_outdated, memory_of, memory_query, visible_to
from outlast.domain.memory import Vector
from outlast.ports.memory import MemoryHit, MemoryQuery

_USER = memory_query("memory_user")
_HOLDING = memory_query("memory_holding_term")
_BY_WORDS = memory_query("memory_by_words")
_BY_LETTER = memory_query("memory_by_letter")
_VECTORS = memory_query("visible_vectors")
_TERMS = memory_query("memory_terms")
_SKETCHES = memory_query("sketches_since")
_READ = memory_query("read_memory")


class Finder:
    """Searches on one connection. What it remembers between searches only makes them faster: whatever it proposes is looked up."""

    def __init__(self, holdings: Holdings, shelves: Shelves) -> None:
        self._holdings = holdings
        self._shelves = shelves

    def search(self, connection: sqlite3.Connection, asked: MemoryQuery) -> list[MemoryHit]:
        """See `MemoryStore.search`."""
        user = connection.execute(_USER, {"user_id": asked.asker.user_id}).fetchone()
        if user is None:
            return []
        return _Search(connection, asked, user, self._holdings, self._shelves).hits()


class _Search:
    def __init__(
        self,
        connection: sqlite3.Connection,
        asked: MemoryQuery,
        user: tuple[int, int, int, int],
        holdings: Holdings,
        shelves: Shelves,
    ) -> None:
        self._connection = connection
        self._asked = asked
        self._user_no, self._entries, self._terms, self._removals = user
        self._holdings = holdings
        self._shelves = shelves
        self._visible = visible_to(self._user_no, asked)

    def hits(self) -> list[MemoryHit]:
        vocabulary = Vocabulary(self._entries, self._terms, self._holding())
        by_words = self._by_words(vocabulary)
        near = self._near(self._asked.vector)
        cosine_of = {**self._cosines(by_words, self._asked.vector), **near}
        candidates = [
            Candidate(number, vocabulary.weight(counts, length), cosine_of.get(number), outdated)
            for number, counts, length, outdated in self._counts({*by_words, *near}, vocabulary.holding)
        ]
        return self._told(joined(candidates)[: self._asked.limit])

    def _holding(self) -> dict[str, int]:
        """How many entries of the user hold each term of the query."""
        terms = [of_user(self._user_no, term) for term in query_terms(self._asked.text)]
        known = self._holdings.known(self._user_no, terms, self._entries)
        counted = {
            term: self._connection.execute(_HOLDING, {"term": f'"{term}"'}).fetchone()[0]
            for term in terms
            if term not in known
        }
        self._holdings.learn(self._user_no, counted, self._entries)
        return {**known, **counted}

    def _by_words(self, vocabulary: Vocabulary) -> list[int]:
        if not vocabulary.holding:
            return self._by_letter()
        match = " OR ".join(f'"{term}"' for term in rarest(vocabulary.holding))
        if not match:
            return []
        found = self._connection.execute(_BY_WORDS, {**self._visible, "match": match, "limit": POOL})
        return [number for (number,) in found]

    def _by_letter(self) -> list[int]:
        """What a query finds that has no words at all, as `*` or `C` in a row of signs."""
        literal = self._asked.text.strip()
        if not literal:
            return []
        found = self._connection.execute(
            _BY_LETTER, {**self._visible, "literal": literal, "limit": self._asked.limit}
        )
        return [number for (number,) in found]

    def _near(self, vector: Vector | None) -> dict[int, float]:
        """The visible entries whose vectors are nearest, with their cosines. Where few are visible, more and more are looked at."""
        if vector is None:
            return {}
        with self._shelves.lock:
            shelf = self._shelves.shelf(self._user_no, vector.space, self._removals)
            wanted = {"user_no": self._user_no, "space": vector.space, "since": shelf.last}
            sketch = sketch_of(vector)
            shelf.add(self._connection.execute(_SKETCHES, wanted).fetchall(), len(sketch))
            size, looked_at = len(shelf), SKETCHED
            while True:
                found = self._cosines(shelf.nearest(sketch, looked_at), vector)
                if len(found) >= POOL or looked_at >= size:
                    return dict(sorted(found.items(), key=lambda item: -item[1])[:POOL])
                looked_at *= 4

    def _cosines(self, numbers: Iterable[int], vector: Vector | None) -> dict[int, float]:
        """The cosines of those of the entries that are visible and have a vector."""
        if vector is None:
            return {}
        wanted = {**self._visible, "space": vector.space, "numbers": json.dumps(list(numbers))}
        return cosines(vector, self._connection.execute(_VECTORS, wanted).fetchall())

    def _counts(
        self, numbers: Iterable[int], terms: Iterable[str]
    ) -> Iterator[tuple[int, dict[str, int], int, bool]]:
        """Of entries: the number, how often they hold each term, how many terms they have, and whether they are outdated."""
        rows = self._connection.execute(_TERMS, {"numbers": json.dumps(list(numbers))})
        for number, joint, valid_to in rows:
            held = joint.split(" ")
            yield (
                number,
                {term: held.count(term) for term in terms},
                len(held),
                is_outdated(valid_to, self._asked.at),
            )

    def _told(self, ranked: list[Ranked]) -> list[MemoryHit]:
        numbers = json.dumps([each.number for each in ranked])
        rows = {number: row for number, *row in self._connection.execute(_READ, {"numbers": numbers})}
        return [
            MemoryHit(
                memory_of(tuple(rows[each.number])), each.score, each.keyword, each.vector, each.is_outdated
            )
            for each in ranked
            if each.number in rows
        ]
