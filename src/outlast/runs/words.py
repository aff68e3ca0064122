"""Words to compare texts by: of any script, without the words that stand everywhere."""

from __future__ import annotations

from typing import Final

from outlast.domain.words import SPACED_WORD, STOP_WORDS, UNSPACED_RUN, normalised, stem

_EVERYWHERE_TEXT: Final = """
actually again all also am don done even ever here him his he her just let like may more most much need never no not now off only
one out over please put quite really she so some still such t than s too under up us use used very want well yes yet
"""
_EVERYWHERE: Final = STOP_WORDS | frozenset(_EVERYWHERE_TEXT.split())


def terms_of(text: str) -> frozenset[str]:
    """The stems of the words that tell a text from others; scripts without spaces give pairs of characters."""
    plain = normalised(text)
    words = SPACED_WORD.findall(UNSPACED_RUN.sub(" ", plain))
    terms = {stem(word) for word in words if word not in _EVERYWHERE}
    for run in UNSPACED_RUN.findall(plain):
        terms.update(run[at : at + 2] for at in range(max(1, len(run) - 1)))
    return frozenset(terms)


def overlap(wanted: frozenset[str], text: str) -> float:
    """Which part of the wanted words stands in a text, from 0 to 1."""
    return len(wanted & terms_of(text)) / len(wanted) if wanted else 0.0


def squeezed(text: str) -> str:
    """A text on one line with single spaces, to find it in another."""
    return " ".join(text.split())
