"""How what words say and what vectors say become one order.

A fixed weight is wrong somewhere: vectors that find what is asked in other words lead astray where names and numbers are asked
for, or in a language the model hardly knows. Whether they have something to say shows in how far the nearest stands out from the
crowd behind it; the weight follows that. Decision 0109 has what was measured.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Final

from outlast.domain.dataclass import dataclass

POOL: Final = 120
"""How many entries each side proposes; all of them are weighed by both."""

SKETCHED: Final = 400
"""How many the sketches propose, of which the nearest of the pool are kept."""

CROWD: Final = 60
"""Behind how many others an entry belongs to the crowd."""

EVEN_GAP: Final = 0.16
STEEPNESS: Final = 20.0
"""How far the best cosine is from the crowd's when words and vectors count the same, and how fast that changes."""

MOST_FOR_VECTORS: Final = 0.98
"""What is left to words decides between entries whose vectors are as good as the same."""


@dataclass(frozen=True, slots=True)
class Candidate:
    """An entry that one side proposed: its BM25, its cosine (None: nothing to compare), and whether it still holds."""

    number: int
    keyword: float
    vector: float | None
    is_outdated: bool = False


@dataclass(frozen=True, slots=True)
class Ranked:
    """A candidate with its place: `keyword` in parts of the best of the pool, and both joined as `score`, from 0 to 1."""

    number: int
    score: float
    keyword: float
    vector: float | None
    is_outdated: bool


def joined(candidates: Sequence[Candidate]) -> list[Ranked]:
    """All candidates, those that hold before those that do not, each group best first."""
    cosines = sorted((each.vector for each in candidates if each.vector is not None), reverse=True)
    weight = vector_weight(cosines)
    nearest, farthest = (cosines[0], cosines[-1]) if cosines else (0.0, 0.0)
    keywords = sorted(each.keyword for each in candidates)
    ranked = [
        _ranked(
            each,
            _within(each.keyword, keywords[0], keywords[-1]),
            _within(farthest if each.vector is None else each.vector, farthest, nearest),
            weight,
        )
        for each in candidates
    ]
    return sorted(ranked, key=lambda each: (each.is_outdated, -each.score, -each.number))


def vector_weight(cosines: Sequence[float]) -> float:
    """The part of the score that is the vectors', from 0 to 1; `cosines` are those of the pool, the nearest first."""
    if not cosines:
        return 0.0
    gap = cosines[0] - cosines[min(CROWD, len(cosines)) - 1]
    return MOST_FOR_VECTORS / (1 + math.exp(-STEEPNESS * (gap - EVEN_GAP)))


def _ranked(candidate: Candidate, keyword: float, near: float, weight: float) -> Ranked:
    score = weight * near + (1 - weight) * keyword
    return Ranked(candidate.number, score, keyword, candidate.vector, candidate.is_outdated)


def _within(value: float, lowest: float, highest: float) -> float:
    """Where a value lies between two others, from 0 to 1; at 1 where they are one and positive."""
    if highest > lowest:
        return (value - lowest) / (highest - lowest)
    return 1.0 if value > 0.0 else 0.0
