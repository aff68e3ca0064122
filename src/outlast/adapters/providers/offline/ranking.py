"""Which sentences answer a question: overlap of terms, weighted by how rare they are, and the facets the question asks for."""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import field
from typing import Final

from outlast.adapters.providers.offline.facets import (
    DEFINITION,
    FIGURES,
    GAPS,
    Facet,
    facets_of,
    without_words_of,
)
from outlast.adapters.providers.offline.pages import Page
from outlast.adapters.providers.offline.sentences import Sentence, sentences_of
from outlast.adapters.providers.offline.topic import topic_of
from outlast.adapters.providers.offline.words import similarity, terms_of
from outlast.domain.dataclass import dataclass

LEAST_COVERAGE: Final = 0.18
"""The share of a question's weight that a sentence must hold, at least, to count as an answer."""

NEAR_DUPLICATE: Final = 0.6
_MOST_WEIGHED: Final = 200
_ABOUT_ITSELF = re.compile(
    r"\b(?:this|the (?:following|next|present))\s+(?:\w+\s+){0,2}?(?:page|document|chapter|section|article|report|paper|guide|"
    r"note|leaflet|handbook|table|list)\b|\bsee (?:also|the|below|above)\b"
    r"|\b(?:figures?|tables?|sections?|lists?|text|records?)\s+(?:below|above)\b"
    r"|^(?:本|这篇|这份|该)(?:文|章|节|页|手册|报告|表|资料)|参见|详见",
    re.IGNORECASE,
)
"""A sentence that tells what its text does, not what is so."""
_CONTEXT_WEIGHT: Final = 0.5
_ENOUGH_TERMS: Final = 2
_SHORT_SHARE: Final = 0.5
_LONG_SHARE: Final = 0.15
_FOCUS_WEIGHT: Final = 1.5
_LEAST_RARITY: Final = 0.15


@dataclass(frozen=True, slots=True)
class Question:
    """What is asked: weighted terms and facets.

    Words of the sub-question count fully; those of the whole question help where it is short, and hardly count where it can
    stand alone, so that siblings get other answers.

    `own_facets` are those only the sub-question asks for, `focus` the terms of its aspect: they set it apart from its siblings.
    """

    weights: dict[str, float]
    facets: tuple[Facet, ...] = ()
    own_facets: tuple[Facet, ...] = ()
    focus: frozenset[str] = frozenset()

    @property
    def plain(self) -> Question:
        """The same question, whatever kind of statement answers it."""
        return Question(self.weights, focus=self.focus)

    @classmethod
    def of(cls, question: str, overall: str = "") -> Question:
        """The question made of a sub-question and the question it serves."""
        facets, common = facets_of(question), facets_of(overall)
        own = tuple(facet for facet in facets if facet not in common)
        terms = terms_of(without_words_of(own, question)) or terms_of(question)
        share = _SHORT_SHARE if len(set(terms)) < _ENOUGH_TERMS else _LONG_SHARE
        weights = dict.fromkeys(terms_of(overall), share) | dict.fromkeys(terms, 1.0)
        focus, aside = _focus(frozenset(terms), overall)
        weights = {term: _weight(term, weight, focus, aside) for term, weight in weights.items()}
        return cls(weights, tuple(facet for facet in facets if facet in common), own, focus)


def _focus(terms: frozenset[str], overall: str) -> tuple[frozenset[str], frozenset[str]]:
    """The terms of the aspects of the whole question that this part is about, and those of its siblings' aspects."""
    aspects = [frozenset(terms_of(aspect)) for aspect in topic_of(overall).aspects]
    mine = frozenset[str]().union(*(aspect for aspect in aspects if aspect and aspect <= terms))
    others = frozenset[str]().union(*(aspect for aspect in aspects if not aspect <= terms))
    return (mine, others - terms) if mine and others else (frozenset(), frozenset())


def _weight(term: str, weight: float, focus: frozenset[str], aside: frozenset[str]) -> float:
    if term in aside:
        return 0.0
    return weight * _FOCUS_WEIGHT if term in focus else weight


@dataclass(frozen=True, slots=True)
class Candidate:
    """A sentence of a page, with its terms and those of its surroundings (heading and title)."""

    page: Page
    sentence: Sentence
    terms: frozenset[str]
    context: frozenset[str] = field(default_factory=frozenset)


@dataclass(frozen=True, slots=True)
class Scored:
    """A candidate, how well it answers (higher is better), and how much of the question it covers, from 0 to 1."""

    candidate: Candidate
    score: float
    coverage: float


def candidates_of(pages: Iterable[Page]) -> list[Candidate]:
    """Every sentence of `pages` that can be quoted; each wording once."""
    seen: set[str] = set()
    found: list[Candidate] = []
    for page in pages:
        title = frozenset(terms_of(page.title[:300]))
        for sentence in sentences_of(page.text):
            key = sentence.claim.casefold()
            terms = frozenset(terms_of(sentence.claim))
            if terms and key not in seen:
                seen.add(key)
                found.append(Candidate(page, sentence, terms, title | frozenset(terms_of(sentence.heading))))
    return found


def ranked(question: Question, candidates: Sequence[Candidate]) -> list[Scored]:
    """The candidates that answer `question`, best first. Empty where nothing does."""
    rarity = _rarity(question.weights, candidates)
    total = sum(rarity.values())
    if not total:
        return []
    scored = [_scored(question, rarity, total, candidate) for candidate in candidates]
    relevant = [one for one in scored if one is not None]
    return sorted(relevant, key=lambda one: -one.score)


def spread(scored: Sequence[Scored], limit: int) -> list[Scored]:
    """At most `limit` of `scored`, best first: no two alike, and a source that was taken counts less the next time."""
    chosen: list[Scored] = []
    taken: Counter[str] = Counter()
    rest = list(scored[:_MOST_WEIGHED])
    while rest and len(chosen) < limit:
        best = max(rest, key=lambda one: one.score * 0.75 ** taken[one.candidate.page.source])
        rest.remove(best)
        if any(is_alike(best.candidate.terms, other.candidate.terms) for other in chosen):
            continue
        if chosen and best.score < 0.35 * chosen[0].score:
            continue
        chosen.append(best)
        taken[best.candidate.page.source] += 1
    return chosen


def is_alike(one: frozenset[str], other: frozenset[str]) -> bool:
    """Do two sets of terms say nearly the same? With other numbers they never do."""
    if _numbers(one) != _numbers(other):
        return False
    is_part = min(len(one), len(other)) >= 4 and (one <= other or other <= one)
    return is_part or similarity(one, other) >= NEAR_DUPLICATE


def _numbers(terms: frozenset[str]) -> set[str]:
    return {term for term in terms if any(map(str.isdigit, term))}


def _rarity(weights: dict[str, float], candidates: Sequence[Candidate]) -> dict[str, float]:
    """The weight of each term of the question: the rarer, the more; a term that no sentence holds is missed like the others."""
    held = Counter(
        term for candidate in candidates for term in (candidate.terms | candidate.context) & weights.keys()
    )
    count = len(candidates) + 1
    rarity = {term: max(_LEAST_RARITY, math.log(count / (held[term] + 0.5))) for term in weights}
    known = [rarity[term] for term in weights if held[term]]
    usual = sum(known) / len(known) if known else 1.0
    return {term: weight * (rarity[term] if held[term] else usual) for term, weight in weights.items()}


def _scored(
    question: Question, rarity: dict[str, float], total: float, candidate: Candidate
) -> Scored | None:
    direct = candidate.terms & rarity.keys()
    around = (candidate.context - candidate.terms) & rarity.keys()
    weight = sum(rarity[term] for term in direct) + _CONTEXT_WEIGHT * sum(rarity[term] for term in around)
    coverage = min(1.0, weight / total)
    if not direct or coverage < LEAST_COVERAGE or (len(rarity) >= 3 and len(direct | around) < 2):
        return None
    claim = candidate.sentence.claim
    if _ABOUT_ITSELF.search(claim) or (GAPS in question.own_facets and GAPS.answered.search(claim) is None):
        return None
    score = coverage * math.prod(
        facet.weight for facet in question.facets if _is_answered(facet, claim, question)
    )
    for facet in question.own_facets:
        score *= max(1.6, facet.weight) if _is_answered(facet, claim, question) else 0.4
    if question.focus and not question.focus & (candidate.terms | candidate.context):
        score *= 0.25
    score *= 1.12 if FIGURES.answered.search(claim) is not None else 1.0
    score *= 1.1 - 0.2 * candidate.sentence.place
    score *= min(1.0, 0.55 + len(candidate.terms) / 14) * (0.85 if candidate.sentence.is_row else 1.0)
    return Scored(candidate, score, coverage)


def _is_answered(facet: Facet, claim: str, question: Question) -> bool:
    """A definition must define what is asked about: it begins with it."""
    match = facet.answered.search(claim)
    if match is None or facet is not DEFINITION:
        return match is not None
    subject = terms_of(claim[: match.end()])
    return bool(subject) and question.weights.keys() >= set(subject)
