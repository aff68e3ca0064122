"""How far a variant agrees with the step beside which it was made. Pure, and said plainly.

Two results agree where they are equal: calls of tools as sets, structured answers and results as JSON, texts but for case, spacing
and the forms of letters. The overlap is what both have of all that either has: of the calls, of the items of lists, else of the
words.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from typing import Final, Literal

from outlast.domain.dataclass import dataclass
from outlast.domain.door import Json, canonical_json, parse_json
from outlast.domain.errors import ModelMistake
from outlast.domain.events import ModelAnswered
from outlast.domain.tool_call import ToolCall, ToolOutcome
from outlast.domain.words import SPACED_WORD, UNSPACED_RUN, normalised

Measure = Literal["calls", "value", "list", "text"]

_NAMES: Final = ("url", "id")
"""What tells an item of a list from others: of search results the address counts, not the snippet."""


@dataclass(frozen=True, slots=True)
class Agreement:
    """Whether two results are equal, and what share of both they have in common, by which measure."""

    is_equal: bool
    overlap: float
    measure: Measure


def of_answers(own: ModelAnswered, other: ModelAnswered) -> Agreement:
    """How far two answers of models agree: in the calls they ask for, else in what was read from them, else in their text."""
    if own.tool_calls or other.tool_calls:
        return _of_counts(map(_call, own.tool_calls), map(_call, other.tool_calls), "calls")
    if own.value is not None or other.value is not None:
        overlap = _shared(_words_in(own.value), _words_in(other.value))
        return Agreement(canonical_json(own.value) == canonical_json(other.value), overlap, "value")
    return of_texts(own.text, other.text)


def of_results(own: ToolOutcome, other: ToolOutcome) -> Agreement:
    """How far two results of a tool agree. Two failures agree where they have the same code."""
    if not (own.ok and other.ok):
        codes = [outcome.error.code if outcome.error is not None else "" for outcome in (own, other)]
        is_equal = own.ok == other.ok and codes[0] == codes[1]
        return Agreement(is_equal, float(is_equal), "value")
    values = _as_json(own.shown), _as_json(other.shown)
    if values[0] is None or values[1] is None:
        return of_texts(own.shown, other.shown)
    is_equal = canonical_json(values[0]) == canonical_json(values[1])
    items = [_items(value) for value in values]
    if items[0] is not None and items[1] is not None:
        return Agreement(is_equal, _shared(items[0], items[1]), "list")
    return Agreement(is_equal, _shared(_words_in(values[0]), _words_in(values[1])), "value")


def of_texts(own: str, other: str) -> Agreement:
    """How far two texts agree; scripts without spaces are compared character by character."""
    is_equal = _spaced(own) == _spaced(other)
    return Agreement(is_equal, 1.0 if is_equal else _shared(_words(own), _words(other)), "text")


def _of_counts(own: Iterable[str], other: Iterable[str], measure: Measure) -> Agreement:
    mine, theirs = list(own), list(other)
    return Agreement(Counter(mine) == Counter(theirs), _shared(mine, theirs), measure)


def _shared(own: Iterable[str], other: Iterable[str]) -> float:
    """What both have of what either has, each thing counted as often as it is there; 1 where neither has anything."""
    mine, theirs = Counter(own), Counter(other)
    either = (mine | theirs).total()
    return (mine & theirs).total() / either if either else 1.0


def _call(call: ToolCall) -> str:
    return canonical_json([call.name, call.arguments])


def _as_json(text: str) -> Json:
    try:
        return parse_json(text)
    except ModelMistake:
        return None


def _items(value: Json) -> list[str] | None:
    """The items of a list, or of the only list in an object."""
    if isinstance(value, dict):
        lists = [item for item in value.values() if isinstance(item, list)]
        value = lists[0] if len(lists) == 1 else None
    return [_item(item) for item in value] if isinstance(value, list) else None


def _item(item: Json) -> str:
    name = next((item[key] for key in _NAMES if item.get(key)), None) if isinstance(item, dict) else None
    return canonical_json(item if name is None else name)


def _words_in(value: Json) -> list[str]:
    """The words of every text in a value, and what else stands in it."""
    if isinstance(value, dict):
        return [word for item in value.values() for word in _words_in(item)]
    if isinstance(value, list):
        return [word for item in value for word in _words_in(item)]
    return _words(value) if isinstance(value, str) else [canonical_json(value)]


def _words(text: str) -> list[str]:
    plain = normalised(text)
    characters = [character for run in UNSPACED_RUN.findall(plain) for character in run]
    return [*SPACED_WORD.findall(UNSPACED_RUN.sub(" ", plain)), *characters]


def _spaced(text: str) -> str:
    return " ".join(normalised(text).split())
