"""The terms an entry of memory is found by, the same in every store: stems, the whole of compound names, pairs of characters."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final

from outlast.domain.memory import Memory
from outlast.domain.words import (
    MAX_TERMS,
    SPACED_WORD,
    STOP_WORDS,
    UNSPACED_RUN,
    normalised,
    run_characters,
    run_pairs,
    stem,
)

MAX_TERM_CHARS: Final = 60
"""Of a longer word only the beginning counts; servers bound the length of a term."""

_COMPOUND: Final = re.compile(r"[^\W_]+(?:[-_./:\\@'’]+[^\W_]+)+|[^\W_]+[+#]+(?!\w)")
_HUMP: Final = re.compile(r"(?<=[a-z0-9])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])")
_JOINT: Final = "q0q"
_SIGNS: Final = {"+": "plus", "#": "sharp"}


def index_terms(text: str) -> list[str]:
    """The terms of a text that is kept, in order, repeated as they are."""
    plain = normalised(text)
    spaced = UNSPACED_RUN.sub(" ", plain)
    found = [stem(word) for word in SPACED_WORD.findall(spaced)]
    found += _compounds(spaced)
    found += _humps(text)
    for run in UNSPACED_RUN.findall(plain):
        found += run_characters(run)
        found += run_pairs(run)
    return [term[:MAX_TERM_CHARS] for term in found]


def query_terms(text: str) -> list[str]:
    """The terms of a query, each once, at most MAX_TERMS. Words that say nothing are left out unless there are no others."""
    plain = normalised(text)
    spaced = UNSPACED_RUN.sub(" ", plain)
    words = SPACED_WORD.findall(spaced)
    pairs = [term for run in UNSPACED_RUN.findall(plain) for term in (run_pairs(run) or run_characters(run))]
    compounds = list(_compounds(spaced))
    telling = [word for word in words if word not in STOP_WORDS] or ([] if pairs or compounds else words)
    found = [*compounds, *(stem(word) for word in telling), *_humps(text), *pairs]
    return list(dict.fromkeys(term[:MAX_TERM_CHARS] for term in found))[:MAX_TERMS]


def terms_of_user(user_no: int, memory: Memory) -> list[str]:
    """The terms of an entry, title included, as they are kept: each behind the number of its user."""
    return [of_user(user_no, term) for term in index_terms(f"{memory.title}\n{memory.text}")]


def of_user(user_no: int, term: str) -> str:
    """A term as one user's entries hold it; no text of anybody else holds the same."""
    return f"{user_no}x{term}"


def _compounds(plain: str) -> Iterator[str]:
    """Names that are written with signs, each as one term: `a_b`, `pre-edit`, `10.0.3`, `c++`."""
    for name in _COMPOUND.findall(plain):
        signs = "".join(_SIGNS[sign] for sign in name if sign in _SIGNS)
        yield _JOINT.join(SPACED_WORD.findall(name)) + (f"{_JOINT}{signs}" if signs else "")


def _humps(text: str) -> Iterator[str]:
    """The parts of names in camel case."""
    for word in SPACED_WORD.findall(text):
        parts = _HUMP.split(word)
        if len(parts) > 1:
            yield from (stem(normalised(part)) for part in parts)
