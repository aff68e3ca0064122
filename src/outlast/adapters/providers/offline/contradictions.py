"""Contradictions: statements about the same thing, from different sources, with numbers that disagree."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import Final

from outlast.adapters.providers.offline.words import STOP_WORDS, similarity, terms_of

SAME_THING: Final = 0.5
"""How alike two statements must be, numbers aside, to be about the same thing (Jaccard)."""

_QUANTITY = re.compile(
    r"(?P<before>[$€£¥])?\s?(?P<number>(?<![\w.,])\d{1,3}(?:,\d{3})+(?:\.\d+)?|(?<![\w.])\d+(?:\.\d+)?)"
    r"\s?(?P<after>%|‰|[万亿千百]?[\u4e00-\u9fff]|[^\W\d_\u4e00-\u9fff]+)?"
)
_YEAR = re.compile(r"(?:19|20)\d\d")
_ONCE_ONLY = re.compile(
    r"\b(?:founded|established|released|introduced|published|launched|born|created)\b|成立|发布|创立|推出|出版|诞生",
    re.IGNORECASE,
)
"""What happens once: two years for it cannot both be right."""

_NUMERIC_TERM = re.compile(r"\d")
_YEARS: Final = "(year)"


@dataclass(frozen=True, slots=True)
class Statement:
    """What a source says, and the words it says it in."""

    text: str
    source: str
    quote: str = ""


@dataclass(frozen=True, slots=True)
class _Profile:
    """A statement's terms without its numbers, and its numbers by their unit."""

    statement: Statement
    terms: frozenset[str]
    quantities: dict[str, set[float]]


def contradictions_in(statements: Sequence[Statement], limit: int) -> list[tuple[Statement, Statement]]:
    """At most `limit` pairs that disagree, in the order of `statements`; each statement stands in one pair at most."""
    profiles = [_profile(statement) for statement in statements]
    found: list[tuple[Statement, Statement]] = []
    used: set[int] = set()
    for (at, one), (other_at, other) in combinations(enumerate(profiles), 2):
        if len(found) >= limit:
            break
        if at in used or other_at in used or one.statement.source == other.statement.source:
            continue
        if _disagree(one, other):
            found.append((one.statement, other.statement))
            used |= {at, other_at}
    return found


def _profile(statement: Statement) -> _Profile:
    quantities: dict[str, set[float]] = {}
    for match in _QUANTITY.finditer(statement.text):
        number = match.group("number")
        quantities.setdefault(_unit(match), set()).add(float(number.replace(",", "")))
    terms = frozenset(term for term in terms_of(statement.text) if not _NUMERIC_TERM.search(term))
    return _Profile(statement, terms, quantities)


def _unit(match: re.Match[str]) -> str:
    if _YEAR.fullmatch(match.group("number")):
        return _YEARS
    unit = (match.group("before") or match.group("after") or "").casefold().rstrip("s")
    return "" if unit in STOP_WORDS else unit


def _disagree(one: _Profile, other: _Profile) -> bool:
    """Numbers of another year are no contradiction: both may be right."""
    if min(len(one.terms), len(other.terms)) < 2 or similarity(one.terms, other.terms) < SAME_THING:
        return False
    years, other_years = (profile.quantities.get(_YEARS, set()) for profile in (one, other))
    if years and other_years and not years & other_years:
        return all(_ONCE_ONLY.search(profile.statement.text) for profile in (one, other))
    shared = (one.quantities.keys() & other.quantities.keys()) - {_YEARS}
    return any(not one.quantities[unit] & other.quantities[unit] for unit in shared)
