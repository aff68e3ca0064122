"""Facets: what a sub-question is after beside its subject, told by the words it uses."""

from __future__ import annotations

import re
from typing import Final

from outlast.domain.dataclass import dataclass


@dataclass(frozen=True, slots=True)
class Facet:
    """A kind of statement: `asked` finds it in a question, `answered` in a sentence, which then weighs `weight` times as much."""

    name: str
    asked: re.Pattern[str]
    answered: re.Pattern[str]
    weight: float = 1.25


GAPS: Final = Facet(
    "gaps",
    re.compile(
        r"contradict|disagree|uncertain|unanswered|\bgaps?\b|\bopen (?:points|questions)|矛盾|分歧|不确定|尚未|缺口|争议",
        re.IGNORECASE,
    ),
    re.compile(
        r"\b(?:however|unclear|unknown|uncertain|disput\w+|contradict\w*|disagree\w*|inconsistent|not yet|"
        r"remains?|open question|depends|varies|estimate[sd]?|no (?:data|evidence|consensus))\b"
        r"|但是|然而|不过|尚不|尚未|未知|不确定|不一致|矛盾|争议|分歧|取决于|有待|估计|并非",
        re.IGNORECASE,
    ),
)
LIMITS: Final = Facet(
    "limits",
    re.compile(
        r"\b(?:risks?|limits?|limitations?|drawbacks?|downsides?|problems?|conditions)\b|风险|限制|局限|缺点|条件|问题有",
        re.IGNORECASE,
    ),
    re.compile(
        r"\b(?:only|must|cannot|can't|never|limit\w*|risk\w*|fail\w*|requires?|except|unless|drawback\w*|danger\w*|warn\w*|"
        r"not (?:supported|allowed|possible|suitable))\b|仅|只能|必须|不能|不得|无法|限制|风险|失败|局限|缺点|除非|需要注意|不支持",
        re.IGNORECASE,
    ),
)
FIGURES: Final = Facet(
    "figures",
    re.compile(
        r"\b(?:figures|numbers|how (?:much|many|long|often|large|big|fast)|costs?|prices?|size|rate|percent\w*|when)\b"
        r"|数字|数据|多少|多久|多大|多快|成本|价格|费用|规模|比例|何时",
        re.IGNORECASE,
    ),
    re.compile(r"(?<![\w.-])[$€£¥]?\d|[零一二三四五六七八九十百千万亿两]{2,}"),
)
REASONS: Final = Facet(
    "reasons",
    re.compile(r"\b(?:why|reasons?|causes?|how)\b|为什么|原因|为何|如何|怎么|怎样", re.IGNORECASE),
    re.compile(
        r"\b(?:because|so that|therefore|due to|since|thus|leads? to|in order to|caused?|by \w+ing)\b"
        r"|因为|因此|所以|由于|从而|为了|导致|通过",
        re.IGNORECASE,
    ),
)

DEFINITION: Final = Facet(
    "definition",
    re.compile(r"\bwhat (?:is|are)\b|\bmeaning of\b|\bdefin|什么是|是什么|定义|含义", re.IGNORECASE),
    re.compile(
        r"^(?:an?|the|any)?\s?(?:[\w-]+\s){1,5}?(?:is|are|means|refers to)\s(?:an?|the|any|one|where|when|what|how)\b"
        r"|是一种|是一个|是指|指的是|称为",
        re.IGNORECASE,
    ),
    weight=2.0,
)

_ALL: Final = (GAPS, LIMITS, FIGURES, REASONS, DEFINITION)


def facets_of(question: str) -> tuple[Facet, ...]:
    """The facets a question asks for, most telling first."""
    return tuple(facet for facet in _ALL if facet.asked.search(question))


def without_words_of(facets: tuple[Facet, ...], question: str) -> str:
    """`question` without the words that only ask for limits or gaps, which no answer needs to repeat."""
    for facet in facets:
        if facet in (GAPS, LIMITS):
            question = facet.asked.sub(" ", question)
    return question
