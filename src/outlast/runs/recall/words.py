"""Words to compare texts by: of any script, without the words that stand everywhere."""

from __future__ import annotations

import re
from typing import Final

_WORD: Final = re.compile(r"[^\W_]+")
_UNSPACED: Final = re.compile(r"[\u3040-\u30ff\u3400-\u9fff\uf900-\ufaff\uac00-\ud7af]+")
_EVERYWHERE_TEXT: Final = """
    a about all also am an and any are as at be been but by can could did do does done for from had has have he
    her here him his how i if in into is it its just let like me more most my no not of on one only or our out
    over please she should so some than that the their them then there they this to too under up us use very was
    we were what when where which who why will with would you your
"""
_EVERYWHERE: Final = frozenset(_EVERYWHERE_TEXT.split())


def terms_of(text: str) -> frozenset[str]:
    """The words of a text that tell it from others, lower-cased; scripts without spaces give pairs of characters."""
    terms: set[str] = set()
    for word in _WORD.findall(text.lower()):
        rest = _UNSPACED.sub(" ", word).split()
        terms.update(part for part in rest if part not in _EVERYWHERE and (len(part) > 1 or part.isdigit()))
        for run in _UNSPACED.findall(word):
            terms.update(run[at : at + 2] for at in range(max(1, len(run) - 1)))
    return frozenset(_stem(term) for term in terms)


def overlap(wanted: frozenset[str], text: str) -> float:
    """Which part of the wanted words stands in a text, from 0 to 1."""
    return len(wanted & terms_of(text)) / len(wanted) if wanted else 0.0


def squeezed(text: str) -> str:
    """A text on one line with single spaces, to find it in another."""
    return " ".join(text.split())


def _stem(term: str) -> str:
    """A plain plural counts as its singular."""
    return term[:-1] if len(term) > 3 and term.endswith("s") and not term.endswith("ss") else term
