"""What a question is about: its topic, the aspects it names, the sides it compares, the questions it joins."""

from __future__ import annotations

import re
from typing import Final

from outlast.adapters.providers.offline.comparison import MAX_PARTS, comparison_in, items_of
from outlast.adapters.providers.offline.language import language_of
from outlast.adapters.providers.offline.phrases import ENGLISH, Phrases, joined
from outlast.domain.dataclass import dataclass

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
_AROUND_LIST = re.compile(
    r"^(?:what|which)(?:\s+(?:is|are|was|were)|'s)\s+|^how (?:do|does|did)\s+(?=.*\bcompare$)|\s+compare$"
    r"|(?:分别)?(?:是什么|有哪些|怎么样|怎样|如何|是怎样的|是多少|有多少)$",
    re.IGNORECASE,
)
_LISTS: Final = (
    re.compile(r"^(?P<topic>[^:：]{2,80})[:：]\s*(?P<list>.+)$"),
    re.compile(
        r"^(?:the\s+)?(?P<list>.+?)\s+(?:of|for|behind|about|in|between)\s+(?P<topic>.+)$", re.IGNORECASE
    ),
    re.compile(r"^(?P<topic>.+)的(?P<list>[^的]+)$"),
    re.compile(
        r"^(?P<topic>.+?),?\s+(?:in terms of|with regards? to|with respect to|regarding)\s+(?P<list>.+)$",
        re.IGNORECASE,
    ),
)
_NEXT_QUESTION = re.compile(
    r"[?？;；]+\s*|\s*,?\s+and\s+(?=(?:how|what|why|when|where|which|who|whether)\b)"
    r"|[，,]\s*(?:以及|并且|而|并)?(?=[^，,]{0,12}(?:如何|怎么|为什么|哪|是否|什么))",
    re.IGNORECASE,
)


@dataclass(frozen=True, slots=True)
class Topic:
    """`name` can stand in a sentence; `aspects`, `sides` and `parts` are empty where the question names none.

    With sides, the aspects are the criteria they are compared by.
    """

    name: str
    aspects: tuple[str, ...] = ()
    sides: tuple[str, ...] = ()
    parts: tuple[str, ...] = ()


def topic_of(question: str, phrases: Phrases = ENGLISH) -> Topic:
    """What `question` is about. Any text is a valid question."""
    bare = _without_lead(question[:_MAX_QUESTION])
    compared = comparison_in(bare)
    if compared is not None:
        return Topic(joined(phrases, list(compared.sides)), aspects=compared.criteria, sides=compared.sides)
    parts = tuple(part.strip() for part in _NEXT_QUESTION.split(bare) if len(part.strip()) > 3)
    if len(parts) > 1:
        return Topic(_name(bare, phrases), parts=parts[:MAX_PARTS])
    return _listed(bare) or Topic(_name(bare, phrases))


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
    is_phrase = _ASKING.search(bare) is None and language_of(bare) in ("en", "zh")
    return short if is_phrase else phrases.quoted.format(short)


def _listed(bare: str) -> Topic | None:
    """A topic with a list of its aspects, when the question has that form."""
    text = _AROUND_LIST.sub("", _AROUND_LIST.sub("", bare, count=1), count=1)
    for form in _LISTS:
        match = form.match(text)
        aspects = items_of(match.group("list")) if match is not None else ()
        if match is not None and len(aspects) >= 2 and all(map(_is_short, aspects)):
            return Topic(match.group("topic").strip(), aspects=aspects)
    return None


def _is_short(aspect: str) -> bool:
    """A part of a list has few words and asks nothing by itself."""
    return len(aspect.split()) <= 4 and len(aspect) <= 40 and _ASKING.search(aspect) is None
