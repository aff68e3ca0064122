"""Contradictions: statements about the same thing, from different sources, with numbers that disagree."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from itertools import combinations
from typing import Final

from outlast.adapters.providers.offline.words import STOP_WORDS, similarity, terms_of
from outlast.domain.dataclass import dataclass

SAME_THING: Final = 0.6
"""How alike two clauses must be, numbers aside, to be about the same thing (Jaccard)."""

_NUMBER: Final = r"\d{1,3}(?:,\d{3})+(?:\.\d+)?|\d+(?:\.\d+)?"
_UNIT: Final = r"%|‰|[万亿千百]?[\u4e00-\u9fff]|[^\W\d_\u4e00-\u9fff]+"
_QUANTITY = re.compile(
    rf"(?P<each>每[\u4e00-\u9fff]{{1,4}})?(?P<before>[$€£¥])?\s?(?<![A-Za-z0-9_.,])(?P<low>{_NUMBER})"
    rf"(?:[%‰]?\s?(?:to|and|-|–|至|到|~|～)\s?[$€£¥]?(?P<high>{_NUMBER}))?"
    rf"\s?(?P<after>{_UNIT})?(?:\s?(?:per|an?|each|/)\s?(?P<per>\w+))?",
)
_BOUND = re.compile(
    r"(?:more than|less than|fewer than|over|under|above|below|at least|at most|up to|only|"
    r"超过|不到|至少|至多|最多|低于|高于)[^\w]*$",
    re.IGNORECASE,
)
_CLAUSE_END = re.compile(r"(?:[,;:](?=\s)|[，；：。])\s*|\s[-–—]\s")
_YEAR = re.compile(r"(?:19|20)\d\d")
_ONCE_ONLY = re.compile(
    r"\b(?:founded|established|released|introduced|published|launched|born|created)\b|成立|发布|创立|推出|出版|诞生",
    re.IGNORECASE,
)
"""What happens once: two years for it cannot both be right."""

_YEARS: Final = "(year)"
_LEAST_TERMS: Final = 2

Spans = dict[str, list[tuple[float, float]]]


@dataclass(frozen=True, slots=True)
class Statement:
    """What a source says, and the words it says it in."""

    text: str
    source: str
    quote: str = ""


@dataclass(frozen=True, slots=True)
class _Clause:
    """A clause that holds quantities: its terms without numbers, and its numbers by their unit as spans from low to high."""

    terms: frozenset[str]
    spans: Spans
    sides: frozenset[int]
    happens_once: bool


@dataclass(frozen=True, slots=True)
class _Profile:
    statement: Statement
    clauses: tuple[_Clause, ...]
    years: frozenset[float]


def contradictions_in(
    statements: Sequence[Statement], limit: int, sides: Sequence[str] = ()
) -> list[tuple[Statement, Statement]]:
    """At most `limit` pairs that disagree, the most alike first; each statement stands in one pair at most.

    Clauses about different `sides` of a comparison are never about the same thing.
    """
    named = [frozenset(terms_of(side)) for side in sides]
    profiles = [_profile(statement, named) for statement in statements]
    clashes = [
        (-likeness, at, other_at)
        for (at, one), (other_at, other) in combinations(enumerate(profiles), 2)
        if one.statement.source != other.statement.source and (likeness := _clash_of(one, other))
    ]
    found: list[tuple[int, int]] = []
    used: set[int] = set()
    for _, at, other_at in sorted(clashes):
        if len(found) < limit and not used & {at, other_at}:
            found.append((at, other_at))
            used |= {at, other_at}
    return [(statements[at], statements[other_at]) for at, other_at in found]


def _profile(statement: Statement, sides: Sequence[frozenset[str]]) -> _Profile:
    clauses = tuple(_clauses(statement.text, sides))
    years = frozenset(low for clause in clauses for low, _ in clause.spans.get(_YEARS, []))
    return _Profile(statement, clauses, years)


def _clauses(text: str, sides: Sequence[frozenset[str]]) -> Iterator[_Clause]:
    """The clauses that hold quantities, each with the beginning of its sentence, which says what it is about."""
    first, *others = _CLAUSE_END.split(text)
    for clause in (first, *(f"{first} {other}" for other in others)):
        spans = _spans(clause.removeprefix(first) or first)
        if spans:
            terms = frozenset(terms_of(_QUANTITY.sub(_without_number, clause)))
            mentioned = frozenset(at for at, side in enumerate(sides) if side and side <= terms)
            yield _Clause(terms, spans, mentioned, _ONCE_ONLY.search(clause) is not None)


def _without_number(match: re.Match[str]) -> str:
    """What follows a number is its unit, unless it is a common word or Chinese, where words are not set apart."""
    after = match.group("after") or ""
    return f" {after} " if after and "\u4e00" <= after[-1] <= "\u9fff" else " "


def _spans(text: str) -> Spans:
    """The quantities of a text; those that only state a bound are passed over, since two bounds may both hold."""
    spans: Spans = {}
    for match in _QUANTITY.finditer(text):
        if _BOUND.search(text, max(0, match.start() - 16), match.start()):
            continue
        low = float(match.group("low").replace(",", ""))
        high = float((match.group("high") or match.group("low")).replace(",", ""))
        spans.setdefault(_unit(match), []).append((min(low, high), max(low, high)))
    return spans


def _unit(match: re.Match[str]) -> str:
    if _YEAR.fullmatch(match.group("low")) and match.group("before") is None:
        return _YEARS
    unit = (match.group("before") or match.group("after") or "").casefold().rstrip("s")
    each = (match.group("per") or match.group("each") or "").casefold()
    return f"{'' if unit in STOP_WORDS else unit}/{each}"


def _clash_of(one: _Profile, other: _Profile) -> float:
    """How alike the most alike clauses are that disagree; 0 where none do. Numbers of another year may both be right."""
    is_other_year = bool(one.years and other.years and not one.years & other.years)
    return max(
        (
            similarity(clause.terms, against.terms)
            for clause in one.clauses
            for against in other.clauses
            if _clash(clause, against, is_other_year=is_other_year)
        ),
        default=0.0,
    )


def _clash(one: _Clause, other: _Clause, *, is_other_year: bool) -> bool:
    """Same subject, and one unit in which no number of the one meets a number of the other.

    Where several units differ, the clauses speak of different conditions.
    """
    if (
        min(len(one.terms), len(other.terms)) < _LEAST_TERMS
        or similarity(one.terms, other.terms) < SAME_THING
    ):
        return False
    if one.sides and other.sides and not one.sides & other.sides:
        return False
    if is_other_year:
        return one.happens_once and other.happens_once
    apart = [
        unit
        for unit in one.spans.keys() & other.spans.keys()
        if not _meet(one.spans[unit], other.spans[unit])
    ]
    return len(apart) == 1


def _meet(spans: list[tuple[float, float]], others: list[tuple[float, float]]) -> bool:
    return any(
        low <= other_high and other_low <= high for low, high in spans for other_low, other_high in others
    )
