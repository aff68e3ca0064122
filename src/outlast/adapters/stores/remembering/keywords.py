"""How well entries fit the terms of a query: BM25, counted within one user's entries."""

from __future__ import annotations

import math
import threading
from collections import OrderedDict
from collections.abc import Iterable, Mapping
from functools import cached_property
from typing import Final

from outlast.domain.dataclass import dataclass

SATURATION: Final = 1.2
LENGTH_SHARE: Final = 0.75
"""The two constants of BM25, as they are usually chosen."""

MAX_POSTINGS: Final = 8_000
"""About how many entries are looked at for one query; what holds only terms that are more common than that is not found by words."""


@dataclass(frozen=True)
class Vocabulary:
    """What is known of the words of a user: how many entries and terms there are, and how many entries hold each term of a query."""

    entries: int
    terms: int
    holding: Mapping[str, int]

    def rarity(self, term: str) -> float:
        """The weight of a term that some entry holds."""
        return self._rarities[term]

    @cached_property
    def _rarities(self) -> dict[str, float]:
        """The weights of the terms; none vanishes, for in memory about one subject the subject's name stands everywhere."""
        return {
            term: math.log1p((max(self.entries, holding) - holding + 0.5) / (holding + 0.5))
            for term, holding in self.holding.items()
            if holding
        }

    def weight(self, counts: Mapping[str, int], length: int) -> float:
        """The BM25 of an entry of `length` terms that holds those of the query as often as `counts` says."""
        usual = self.terms / self.entries if self.entries else 1.0
        damped = SATURATION * (1 - LENGTH_SHARE + LENGTH_SHARE * length / usual)
        return sum(
            rarity * count * (SATURATION + 1) / (count + damped)
            for term, rarity in self._rarities.items()
            if (count := counts.get(term, 0))
        )


def rarest(holding: Mapping[str, int], budget: int = MAX_POSTINGS) -> list[str]:
    """The terms to look for: the rarest, together held by about `budget` entries, but at least the one that is held by fewest."""
    found: list[str] = []
    for term, count in sorted(holding.items(), key=lambda item: item[1]):
        if count and found and budget < count:
            break
        if count:
            found.append(term)
            budget -= count
    return found


class Holdings:
    """Remembers how many entries of a user hold a term, for as long as the number of his entries has hardly changed."""

    _MOST: Final = 50_000

    def __init__(self) -> None:
        self._known: OrderedDict[tuple[int, str], tuple[int, int]] = OrderedDict()
        self._lock = threading.Lock()

    def known(self, user_no: int, terms: Iterable[str], entries: int) -> dict[str, int]:
        """What is remembered of these terms and still true, give or take two in a hundred."""
        with self._lock:
            found = {term: self._known.get((user_no, term), (0, -1)) for term in terms}
        return {
            term: count
            for term, (count, then) in found.items()
            if then >= 0 and abs(entries - then) * 50 <= then
        }

    def learn(self, user_no: int, counts: Mapping[str, int], entries: int) -> None:
        """Remember counts; the oldest are dropped when there are too many."""
        with self._lock:
            for term, count in counts.items():
                self._known[user_no, term] = (count, entries)
                self._known.move_to_end((user_no, term))
            while len(self._known) > self._MOST:
                self._known.popitem(last=False)
