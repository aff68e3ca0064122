"""The one way text becomes words to search by, for documents and for queries alike.

Scripts that are written without spaces are indexed by single characters and by pairs, so words of two characters are found
wherever they stand. A character or pair is written as its code numbers, which no stemmer and no tokenizer changes.
"""

from __future__ import annotations

import re
import unicodedata
from functools import lru_cache
from typing import Final

MAX_TERMS: Final = 64
"""A query has at most this many different terms; the rest of a longer text adds nothing."""

UNSPACED_RUN: Final = re.compile(
    "["
    "\u0e00-\u0eff"  # Thai, Lao
    "\u0f00-\u0fff"  # Tibetan
    "\u1000-\u109f\u1780-\u17ff"  # Burmese, Khmer
    "\u1100-\u11ff\u3130-\u318f\ua960-\ua97f\uac00-\ud7ff"  # Hangul: particles are glued to words
    "\u2e80-\u2fdf\u3005-\u3007\u3021-\u3029\u3038-\u303b"  # radicals, iteration marks, numerals
    "\u3040-\u30fa\u30fc-\u30ff\u31f0-\u31ff"  # kana
    "\u3100-\u312f\u31a0-\u31bf"  # bopomofo
    "\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff"  # Han
    "\U0001aff0-\U0001b16f\U00020000-\U0003ffff"  # kana supplements, rarer Han
    "]+"
)
"""A run of characters of scripts without spaces between words, and of Korean, whose particles stick to its words."""

SPACED_WORD: Final = re.compile(r"[^\W_]+")
_STOP_TEXT: Final = """
a about an and any are as at be been between but by can compare compared could did do does for from had has have how i if in into
is it its me my of on or our shall should so than that the their them then there these they this those to us versus vs was we were
what when where which who whose why will with would you your
"""
STOP_WORDS: Final = frozenset(_STOP_TEXT.split())
"""English words that tell nothing about the subject of a query."""

_ENDINGS: Final = (
    ("ability", "abl"),
    ("ibility", "ibl"),
    ("ations", ""),
    ("ation", ""),
    ("ments", "ment"),
    ("sses", "ss"),
    ("ches", "ch"),
    ("shes", "sh"),
    ("xes", "x"),
    ("ies", "y"),
    ("ing", ""),
    ("ed", ""),
    ("ss", "ss"),
    ("us", "us"),
    ("is", "is"),
    ("s", ""),
)


def prepared(text: str) -> str:
    """`text` as it is given to the index: its spaced words as they are, then the terms of its unspaced scripts."""
    plain = normalised(text)
    terms = [term for run in UNSPACED_RUN.findall(plain) for term in (*run_characters(run), *run_pairs(run))]
    return f"{UNSPACED_RUN.sub(' ', plain)} {' '.join(terms)}"


def query_terms(query: str) -> list[str]:
    """The terms of a query, each once: words, and pairs (or the single character) of unspaced scripts.

    Nothing in the query is an operator. Words that say nothing are left out unless there are no others.
    """
    plain = normalised(query)
    words = SPACED_WORD.findall(UNSPACED_RUN.sub(" ", plain))
    telling = [word for word in words if word not in STOP_WORDS]
    pairs = [term for run in UNSPACED_RUN.findall(plain) for term in (run_pairs(run) or run_characters(run))]
    return list(dict.fromkeys((telling or ([] if pairs else words)) + pairs))[:MAX_TERMS]


def normalised(text: str) -> str:
    """`text` in one spelling: compatibility forms (full-width letters, ligatures) and case are folded."""
    return unicodedata.normalize("NFKC", text).casefold()


def run_characters(run: str) -> list[str]:
    """The terms of the single characters of a run of an unspaced script."""
    return [_coded(character) for character in run]


def run_pairs(run: str) -> list[str]:
    """The terms of the pairs of neighbours in a run of an unspaced script."""
    return [_coded(run[index : index + 2]) for index in range(len(run) - 1)]


@lru_cache(maxsize=16_384)
def stem(word: str) -> str:
    """The root of an English word, roughly; other words as they are."""
    if not word.isascii() or len(word) < 4 or not word.isalpha():
        return word
    for ending, left in _ENDINGS:
        if word.endswith(ending) and len(word) - len(ending) >= 3:
            word = word.removesuffix(ending) + left
            break
    word = word.removesuffix("e") if len(word) > 4 else word
    is_doubled = len(word) > 3 and word[-1] == word[-2] and word[-1] not in "ls"
    return word[:-1] if is_doubled else word


def _coded(characters: str) -> str:
    return "".join(f"{ord(character):07d}" for character in characters)
