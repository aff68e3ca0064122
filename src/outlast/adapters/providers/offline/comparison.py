"""Comparisons in a question: the sides compared and the criteria they are compared by."""

from __future__ import annotations

import re
from typing import Final

from outlast.adapters.providers.offline.words import UNSPACED
from outlast.domain.dataclass import dataclass

MAX_PARTS: Final = 7
_MAX_PART: Final = 60

_COMPARE = re.compile(
    r"^(?:compare|comparison of|comparing|contrast|(?:the )?differences? between)\s+(?P<sides>.+?)(?:\s+compare)?$"
    r"|^(?:比较|对比)(?:一下)?(?P<zh>.+)$"
    r"|^(?P<zh_tail>.+?)(?:之间)?(?:的|有什么|有哪些|有何)(?:区别|差异|不同|差别|优劣)(?:是什么|在哪里|有哪些)?$"
    r"|^(?P<zh_how>.+?)(?:相比|(?:应该)?(?:如何|怎么|怎样)(?:进行)?(?:比较|对比)|哪一?个(?:更|比较|最).*)[^，,]{0,8}$",
    re.IGNORECASE,
)
_HOW_COMPARE = re.compile(
    r"^how (?:do|does|did|can|should)\s+(?P<one>.+?)\s+compare\s+(?:with|to|against|and)\s+(?P<other>.+)$",
    re.IGNORECASE,
)
_ASKED_WITH = re.compile(
    r"^(?:what|which|who)(?:\s+(?:is|are|was|were)|'s)\s+|^how (?:do|does|did|is|are)\s+", re.IGNORECASE
)
_VERSUS = re.compile(r"\s+(?:vs\.?|versus|compared (?:to|with))\s+", re.IGNORECASE)
_CHOICE = re.compile(r"^.*?[,:，：]?\s*(?P<sides>[^,:，：]+?(?:\s+or\s+|还是)[^,:，：]+)$", re.IGNORECASE)
_CHOOSING = re.compile(r"\b(?:which|better|should|or)\b|还是|哪", re.IGNORECASE)
_SHARED = re.compile(
    r"^(?:the\s+)?(?P<list>(?:(?!\s(?:vs\.?|versus)\s).)+?)\s+(?:of|between)\s+(?P<topic>(?:(?!\sof\s).)+)$",
    re.IGNORECASE,
)
_CRITERIA = re.compile(
    r"\s*,?\s*\b(?:in terms of|with regards? to|with respect to|regarding|as to|when it comes to|considering)\s+(?P<long>.+)$"
    r"|\s+(?:on|for|by|in|as)\s+(?P<short>.+)$"
    r"|(?:的|(?<![存现内潜正实所])在(?![线于职意]))(?P<zh>[^的在]+?)(?:等?方面|上|中)?(?:的?(?:区别|差异|不同|表现|优劣))?$",
    re.IGNORECASE,
)
_ITEM = re.compile(
    r"\s*,\s*(?:and|or|&)\s+|\s*(?:,\s+|、|，)|\s+(?:and|&|or|as well as|plus)\s+"
    rf"|(?<=[{UNSPACED}\w])\s*(?:以及|及其|还是|跟|(?<![总共饱缓温调])和(?![平谐解睦])|(?<![参给赋])与|(?<![以涉普])及(?![时格])|或(?!许))\s*"
    rf"(?=[{UNSPACED}\w])",
    re.IGNORECASE,
)
_ARTICLE = re.compile(r"^(?:the|both|either)\s+", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class Comparison:
    """Two or more `sides`, and the `criteria` they are compared by, if any are named."""

    sides: tuple[str, ...]
    criteria: tuple[str, ...] = ()


def comparison_in(question: str) -> Comparison | None:
    """The comparison `question` asks for, or None where it asks for none."""
    text = _ASKED_WITH.sub("", question)
    both = _HOW_COMPARE.match(question)
    if both is not None:
        return _compared(f"{both.group('one')} versus {both.group('other')}")
    match = _COMPARE.match(text) or _COMPARE.match(question)
    if match is not None:
        return _compared(next(group for group in match.groups() if group))
    if _VERSUS.search(text):
        return _compared(text)
    choice = _CHOICE.match(question) if _CHOOSING.search(question) else None
    return _compared(choice.group("sides")) if choice is not None else None


def items_of(text: str) -> tuple[str, ...]:
    """The parts of a list in a sentence, without articles; empty where a part is too long to be one."""
    pieces = [item for piece in _VERSUS.split(text) for item in _ITEM.split(piece)]
    items = [_ARTICLE.sub("", piece.strip(" ,.、，")) for piece in pieces]
    kept = tuple(dict.fromkeys(item for item in items if item))
    return kept[:MAX_PARTS] if all(len(item) <= _MAX_PART for item in kept) else ()


def _compared(text: str) -> Comparison | None:
    """Criteria stand before the sides (`the cost of A and B`) or after them (`A and B on cost`)."""
    shared = _SHARED.match(text)
    if shared is not None:
        sides, criteria = items_of(shared.group("topic")), items_of(shared.group("list"))
        if len(sides) >= 2 and criteria:
            return Comparison(sides, criteria)
    after = _CRITERIA.search(text)
    if after is not None:
        sides = items_of(text[: after.start()])
        if len(sides) >= 2:
            return Comparison(sides, items_of(next(group for group in after.groups() if group)))
    sides = items_of(text)
    return Comparison(sides) if len(sides) >= 2 else None
