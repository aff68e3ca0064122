"""The best documents for a query: by words (BM25), and by the query as it stands."""

from __future__ import annotations

import heapq
import json
import math
from collections import defaultdict
from collections.abc import Iterable
from pathlib import Path
from typing import Final

from outlast.adapters.search.corpus.address import address_of
from outlast.adapters.search.corpus.index import CorpusIndex
from outlast.domain.door import clean_text
from outlast.domain.words import normalised, query_terms
from outlast.ports.search import SearchHit

_WITH_TERM: Final = Path(__file__).with_name("passages_with_term.sql").read_text(encoding="utf-8")
_BY_ID: Final = Path(__file__).with_name("passages_by_id.sql").read_text(encoding="utf-8")
_BY_LETTER: Final = Path(__file__).with_name("literal_passage.sql").read_text(encoding="utf-8")
_TITLE_WEIGHT: Final = 3.0
_HEADING_WEIGHT: Final = 2.0
_PASSAGES_PER_DOCUMENT: Final = 8
_MAX_LITERAL_CHARS: Final = 200


def best_documents(index: CorpusIndex, query: str, limit: int) -> list[SearchHit]:
    """At most `limit` documents, best first, each with its best passage. Any text is a valid query.

    A passage that holds the whole query letter by letter (but for case) comes before those that only share words with it. The
    index is asked as it is at one moment, whoever else is indexing.
    """
    with index.held_still():
        return _best(index, query, limit)


def _best(index: CorpusIndex, query: str, limit: int) -> list[SearchHit]:
    query = clean_text(query).replace("\x00", " ").strip()
    terms = query_terms(query)
    hits = _by_words(index, terms, limit * _PASSAGES_PER_DOCUMENT) if terms else []
    if len(query) <= _MAX_LITERAL_CHARS:
        hits = _literal_first(hits, query)
        if query and (not hits or _has_marks(query)):
            bonus = 1.0 + max((hit.score for hit in hits), default=0.0)
            hits += _by_letter(index, query, limit, bonus)
    return _one_a_document(sorted(hits, key=lambda hit: (-hit.score, hit.url)))[:limit]


def _by_words(index: CorpusIndex, terms: list[str], limit: int) -> list[SearchHit]:
    scores = _scores(index, terms)
    # Everything that ties with the last one is kept, so that the order never depends on the order of indexing.
    cutoff = heapq.nlargest(limit, scores.values())[-1:] or [0.0]
    best = [passage for passage, score in scores.items() if score >= cutoff[0]]
    rows = index.select(_BY_ID, {"ids": json.dumps(best)})
    return [
        SearchHit(address_of(path), title, text.strip(), scores[passage])
        for passage, path, title, text in rows
    ]


def _scores(index: CorpusIndex, terms: list[str]) -> dict[int, float]:
    """BM25 of every passage that holds a term, with a rarity that never vanishes.

    SQLite gives a term that stands in half of all passages no weight at all, yet in a corpus about one subject such terms are
    what the question is about. So each term is asked for alone and its rarity is replaced.
    """
    total = index.passages()
    scores: dict[int, float] = defaultdict(float)
    for term in terms:
        parameters = {"term": f'"{term}"', "title_weight": _TITLE_WEIGHT, "heading_weight": _HEADING_WEIGHT}
        rows = index.select(_WITH_TERM, parameters)
        factor = _rarity(total, len(rows)) / _rarity_in_sqlite(total, len(rows))
        for passage, weight in rows:
            scores[passage] += max(weight, 0.0) * factor
    return scores


def _rarity(total: int, holding: int) -> float:
    return math.log1p((total - holding + 0.5) / (holding + 0.5))


def _rarity_in_sqlite(total: int, holding: int) -> float:
    """Source: SQLite, ext/fts5/fts5_aux.c, fts5Bm25GetData."""
    rarity = math.log((total - holding + 0.5) / (holding + 0.5))
    return rarity if rarity > 0.0 else 1e-6


def _by_letter(index: CorpusIndex, literal: str, limit: int, score: float) -> list[SearchHit]:
    rows = index.select(_BY_LETTER, {"literal": literal, "limit": limit})
    return [SearchHit(address_of(path), title, text.strip(), score) for path, title, text in rows]


def _literal_first(hits: list[SearchHit], query: str) -> list[SearchHit]:
    literal = normalised(query)
    bonus = max((hit.score for hit in hits), default=0.0)
    return [
        SearchHit(hit.url, hit.title, hit.snippet, hit.score + bonus)
        if literal in normalised(hit.snippet)
        else hit
        for hit in hits
    ]


def _has_marks(query: str) -> bool:
    """Does the query hold signs that are no words, as in `C++`, `pre-edit` or `100%`?"""
    return any(not (character.isalnum() or character.isspace()) for character in query.rstrip("?!.。？！"))


def _one_a_document(hits: Iterable[SearchHit]) -> list[SearchHit]:
    best: dict[str, SearchHit] = {}
    for hit in hits:
        best.setdefault(hit.url, hit)
    return list(best.values())
