"""Which language a text is in, by its script and its most common words."""

from __future__ import annotations

import re
from typing import Final

_HAN = re.compile("[\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff]")
_KANA = re.compile("[\u3040-\u30ff]")
_HANGUL = re.compile("[\uac00-\ud7af]")
_CYRILLIC = re.compile("[\u0400-\u04ff]+")
_ARABIC = re.compile("[\u0600-\u06ff]+")
_LATIN = re.compile("[A-Za-z\u00c0-\u024f]+")

_COMMON_WORDS: Final = {
    "en": "the of and is are what how why does do in to for which when with between a an it that or on",
    "de": "in der die das und ist sind wie was warum für mit von im eine ein nicht zu welche den auf",
    "fr": "le les des est sont et quel quelle comment pourquoi pour avec une du dans que la un au",
    "es": "el los las es son y qué cómo cuál por para con una del en que la un entre",
}
_MARKERS: Final = {code: frozenset(words.split()) for code, words in _COMMON_WORDS.items()}


def language_of(text: str) -> str:
    """The ISO 639-1 code of the language of `text`: en, de, fr, es, zh, ja, ko, ru or ar; `en` where nothing tells."""
    words = [word.casefold() for word in _LATIN.findall(text)]
    hits = {code: sum(word in markers for word in words) for code, markers in _MARKERS.items()}
    unspaced = _unspaced_language(text, len(words), hits["en"])
    if unspaced is not None:
        return unspaced
    for code, script in (("ru", _CYRILLIC), ("ar", _ARABIC)):
        if len(script.findall(text)) > len(words):
            return code
    return max(hits, key=lambda code: (hits[code], code == "en"))


def _unspaced_language(text: str, latin_words: int, english_markers: int) -> str | None:
    """A few characters decide among names in Latin letters; against an English sentence they must be the greater part."""
    han, kana, hangul = (len(script.findall(text)) for script in (_HAN, _KANA, _HANGUL))
    total = han + kana + hangul
    if total == 0 or (english_markers > 0 and total <= latin_words):
        return None
    if kana * 10 >= total:
        return "ja"
    return "ko" if hangul > han else "zh"
