"""What a question is about: its topic, the aspects it names, the sides it compares."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Final

from outlast.adapters.providers.offline.language import language_of
from outlast.adapters.providers.offline.phrases import ENGLISH, Phrases, joined
from outlast.adapters.providers.offline.words import UNSPACED

MAX_PARTS: Final = 7
_MAX_PART: Final = 60
_MAX_QUESTION: Final = 400
_MAX_NAME: Final = 140

_LEAD = re.compile(
    r"^(?:please|can you|could you|would you|i want to know|i would like to know|help me(?: to)?|kindly|now)[\s,]+"
    r"|^(?:write|prepare|make|give|produce|create|draft)\s+(?:me\s+|us\s+)?(?:an?\s+|the\s+)?(?:[\w-]+\s+){0,2}?"
    r"(?:report|overview|summary|study|analysis|survey|review|comparison)\s+(?:on|of|about|for|into)\s+"
    r"|^(?:study|research|investigate|analy[sz]e|examine|explore|describe|explain|summari[sz]e|review|assess|evaluate|discuss|"
    r"find out(?: about)?|look into|tell me(?: about)?|report on|outline)\s+"
    r"|^(?:请问|请你|请|麻烦|帮我|帮忙|我想知道|我想了解|你能|能否|可以)+[，,\s]*"
    r"|^(?:写|撰写|准备|做|给出)?一?[份篇个]?(?:关于)(?=.)"
    r"|^(?:研究|调查|调研|分析|介绍|说明|解释|总结|概述|评估|讨论|探讨|了解|描述)(?:一下|下)?(?!表明|显示|发现)[，,：:\s]*",
    re.IGNORECASE,
)
_ASKING = re.compile(
    r"^(?:how|what|why|when|where|which|who|whom|whose|is|are|was|were|does|do|did|can|could|should|would|will|has|have)\b"
    r"|什么|哪|如何|怎么|怎样|为什么|为何|是否|多少|吗[？?]?$|呢[？?]?$",
    re.IGNORECASE,
)
_WHAT_IS = re.compile(
    r"^(?:what|which|who)(?:\s+(?:is|are|was|were)|'s)\s+|^how (?:do|does|did)\s+(?=.*\bcompare\W*$)|^how\s+(?:is|are)\s+",
    re.IGNORECASE,
)
_COMPARE = re.compile(
    r"^(?:compare|comparison of|comparing|contrast|(?:the )?differences? between)\s+(?P<sides>.+)$"
    r"|^(?:比较|对比)(?:一下)?(?P<zh>.+)$"
    r"|^(?P<zh_tail>.+?)(?:之间)?(?:的|有什么|有哪些|有何)(?:区别|差异|不同|差别|优劣)(?:是什么|在哪里|有哪些)?$",
    re.IGNORECASE,
)
_VERSUS = re.compile(r"\s+(?:vs\.?|versus|compared (?:to|with))\s+", re.IGNORECASE)
_CHOICE = re.compile(
    r"^(?P<rest>.*?)[,:，：]?\s*(?P<sides>[^,:，：]+?(?:\s+or\s+|还是)[^,:，：]+)$", re.IGNORECASE
)
_CRITERIA = re.compile(
    r"\s*,?\s*\b(?:in terms of|with regards? to|with respect to|regarding|as to|when it comes to|considering)\s+(?P<criteria>.+)$"
    r"|\s+(?:on|for|by|in|as)\s+(?P<short>.+)$"
    r"|(?:的|在)(?P<zh>[^的在]+?)(?:方面|上)?(?:的?(?:区别|差异|不同|表现|优劣))?$",
    re.IGNORECASE,
)
_OF = re.compile(
    r"^(?:the\s+)?(?P<list>.+?)\s+(?:of|for|behind|about|in|between)\s+(?P<topic>.+)$", re.IGNORECASE
)
_SHARED = re.compile(
    r"^(?:the\s+)?(?P<list>(?:(?!\s(?:vs\.?|versus)\s).)+?)\s+(?:of|between)\s+(?P<topic>(?:(?!\sof\s).)+)$",
    re.IGNORECASE,
)
_COLON = re.compile(r"^(?P<topic>[^:：]{2,80})[:：]\s*(?P<list>.+)$")
_ZH_OF = re.compile(r"^(?P<topic>.+)的(?P<list>[^的]+)$")
_ITEM = re.compile(
    r"\s*,\s*(?:and|or|&)\s+|\s*(?:,\s+|、|，)|\s+(?:and|&|or|as well as|plus)\s+"
    rf"|(?<=[{UNSPACED}\w])\s*(?:以及|及其|还是|跟|(?<![总共饱缓温调])和(?![平谐解睦])|(?<![参给赋])与|(?<![以涉普])及(?![时格])|或(?!许))\s*"
    rf"(?=[{UNSPACED}\w])",
    re.IGNORECASE,
)
_NEXT_QUESTION = re.compile(
    r"[?？;；]+\s*|\s*,?\s+and\s+(?=(?:how|what|why|when|where|which|who|whether)\b)|[，,]\s*(?:以及|并且|而|并)?(?=[^，,]{0,12}(?:如何|怎么|为什么|哪|是否|什么))",
    re.IGNORECASE,
)
_ZH_ENDING = re.compile(r"(?:分别)?(?:是什么|有哪些|怎么样|怎样|如何|是怎样的|是多少|有多少)$")


@dataclass(frozen=True, slots=True)
class Topic:
    """`name` can stand in a sentence; `aspects`, `sides` (with `criteria`) and `parts` are empty where the question names none."""

    name: str
    aspects: tuple[str, ...] = ()
    sides: tuple[str, ...] = ()
    criteria: str = ""
    parts: tuple[str, ...] = ()


def topic_of(question: str, phrases: Phrases = ENGLISH) -> Topic:
    """What `question` is about. Any text is a valid question."""
    bare = _without_lead(question[:_MAX_QUESTION])
    name = _name(bare, phrases)
    compared = _comparison(bare)
    if compared is not None:
        sides, criteria = compared
        return Topic(joined(phrases, list(sides)), sides=sides, criteria=criteria)
    parts = tuple(part.strip() for part in _NEXT_QUESTION.split(bare) if len(part.strip()) > 3)
    if len(parts) > 1:
        return Topic(name, parts=parts[:MAX_PARTS])
    return _with_aspects(name, bare)


def _without_lead(question: str) -> str:
    bare = question.strip().rstrip("?？.。!！ ")
    for _ in range(4):
        shorter = _LEAD.sub("", bare, count=1).strip()
        if not shorter or shorter == bare:
            break
        bare = shorter
    return bare


def _name(bare: str, phrases: Phrases) -> str:
    """A noun phrase as it is, a question in quotation marks, so that it can stand in another question."""
    short = bare if len(bare) <= _MAX_NAME else bare[:_MAX_NAME].rsplit(" ", 1)[0] + " …"
    if not short:
        return "…"
    return (
        phrases.quoted.format(short)
        if _ASKING.search(bare) or language_of(bare) not in ("en", "zh")
        else short
    )


def _comparison(bare: str) -> tuple[tuple[str, ...], str] | None:
    text = _WHAT_IS.sub("", bare)
    match = _COMPARE.match(text) or _COMPARE.match(bare)
    if match is not None:
        named = match.group("sides") or match.group("zh") or match.group("zh_tail")
        return _sides(re.sub(r"\s+compare$", "", named))
    if _VERSUS.search(text):
        return _sides(text)
    choice = _CHOICE.match(bare)
    if choice is not None and _ASKING.search(bare):
        return _sides(choice.group("sides"))
    return None


def _sides(text: str) -> tuple[tuple[str, ...], str] | None:
    """The things compared and what they are compared by, which stands before them or after them."""
    of = _SHARED.match(text)
    if (
        of is not None
        and len(sides := _items(of.group("topic"))) >= 2
        and (listed := _items(of.group("list")))
    ):
        return sides[: MAX_PARTS - 1], joined(ENGLISH, list(listed))
    criteria = _CRITERIA.search(text)
    found = next((group for group in criteria.groups() if group), "") if criteria is not None else ""
    sides = _items(text[: criteria.start()] if criteria is not None else text)
    if len(sides) < 2:
        sides, found = _items(text), ""
    return (sides[: MAX_PARTS - 1], found.strip()) if len(sides) >= 2 else None


def _items(text: str) -> tuple[str, ...]:
    pieces = [item for piece in _VERSUS.split(text) for item in _ITEM.split(piece)]
    items = [
        re.sub(r"^(?:the|both|either|an?)\s+", "", piece.strip(" ,.、，"), flags=re.IGNORECASE)
        for piece in pieces
    ]
    kept = tuple(dict.fromkeys(item for item in items if item))
    return kept if all(len(item) <= _MAX_PART for item in kept) else ()


def _with_aspects(name: str, bare: str) -> Topic:
    text = re.sub(r"\s+compare$", "", _ZH_ENDING.sub("", _WHAT_IS.sub("", bare)), flags=re.IGNORECASE)
    for pattern in (_COLON, _OF, _ZH_OF):
        match = pattern.match(text)
        aspects = _items(match.group("list")) if match is not None else ()
        if match is not None and len(aspects) >= 2 and all(_is_short(aspect) for aspect in aspects):
            return Topic(match.group("topic").strip(), aspects=aspects[:MAX_PARTS])
    criteria = _CRITERIA.search(text)
    if criteria is not None and criteria.group("criteria"):
        aspects = _items(criteria.group("criteria"))
        if len(aspects) >= 2 and not _ASKING.search(text):
            return Topic(text[: criteria.start()].strip(), aspects=aspects[:MAX_PARTS])
    return Topic(name)


def _is_short(aspect: str) -> bool:
    """A part of a list has few words and asks nothing by itself."""
    return len(aspect.split()) <= 4 and len(aspect) <= 40 and _ASKING.search(aspect) is None
