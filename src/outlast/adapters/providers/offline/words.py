"""Words that matter: the terms two texts are compared by, and the keywords a search is made of.

Scripts written with spaces give stemmed words, others give pairs of characters. Nothing here depends on a dictionary.
"""

from __future__ import annotations

import re
import unicodedata
from typing import Final

from outlast.domain.words import stem

UNSPACED: Final = "\u3005\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff\uac00-\ud7af\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff"
"""Scripts without spaces between words (and Korean, whose endings stick to its words), for use in a character class."""

_UNIT = re.compile(rf"[{UNSPACED}]+|[^\W_{UNSPACED}]+(?:[.'’][^\W_{UNSPACED}]+)*")
_UNSPACED_RUN = re.compile(rf"[{UNSPACED}]+")
_KANA_ONLY = re.compile("[\u3040-\u309f]+")

_ENGLISH = """
    a about above after again all also am an and any are as at be because been before being below between both but by can
    could did do does doing done down during each either else etc even ever every few for from further get give given gives
    go had has have having he her here hers him his how however i if in into is it its itself just know known let like look
    made make makes many may me might more most much must my need neither no nor not now of off on once one only or other
    our out over own per please rather regard regarding report same say says see shall she should since so some still such
    tell than that the their them then there these they this those through thus to too under until up upon us use used
    using very via was way we were what when where whether which while who whom whose why will with within without would
    write yes yet you your
"""
_SCAFFOLDING = """
    source sources evidence described describe statement statements fact facts figure figures bear name named find found
    question questions answer answers contradict contradictory another stays uncertain two three compare compared
    comparison difference differences versus vs
"""
_GERMAN = """
    der die das den dem des ein eine einen einem einer eines und oder aber ist sind war waren wird werden wie was wer wo
    warum wann welche welcher welches mit von vom zum zur für auf aus bei nach über unter nicht auch als im es er sie
"""
_FRENCH = """
    le la les un une des du et ou mais est sont était quel quelle quels quelles que qui quoi dont où pourquoi comment avec
    pour par sur dans sous ce cette ces il elle ils elles ne pas plus au aux
"""
_SPANISH = """
    el los las unos unas y o pero es son era cuál cuáles qué quién dónde cómo por qué con para sobre en entre su sus se del
    al lo más
"""
_CHINESE = """
    为什么 是什么 什么样 有哪些 有没有 是不是 能不能 什么 哪些 哪个 哪种 哪里 上如何 如何 怎么样 怎么 怎样 多少 是否 能否 可否 以及
    并且 而且 或者 还是 还有 请问 请 关于 对于 根据 按照 通过 进行 方面 分别 之间 其中 这个 那个 这些 那些 一个 一种 一些 我们 你们
    他们 它们 可以 需要 资料 来源 说明了 说明 比较 对比 区别 差异 指出 给出 提到 事实 哪 的 了 吗 呢 吧 啊 和 与 或 及 而 着 地 得 之
    把 被 就 都 也 很 这 那 它 他 她 我 你 您 们
"""

STOP_WORDS: Final = frozenset(f"{_ENGLISH}{_SCAFFOLDING}{_GERMAN}{_FRENCH}{_SPANISH}".split())
"""Words that tell nothing about the subject, the scaffolding of questions about sources among them."""

_UNSPACED_STOP = re.compile(
    "|".join([*sorted(_CHINESE.split(), key=len, reverse=True), "(?<![存现内潜正实所])在(?![线于职意])"])
)


def terms_of(text: str) -> list[str]:
    """The terms of `text` in order, repeated as they are: what two texts are compared by."""
    found: list[str] = []
    for unit in _UNIT.findall(unicodedata.normalize("NFKC", text).casefold()):
        if _UNSPACED_RUN.match(unit):
            for chunk in _chunks(unit):
                found.extend(_pairs(chunk))
        elif unit not in STOP_WORDS and (len(unit) > 1 or unit.isdigit()):
            found.append(stem(unit))
    return found


def keywords_of(text: str, limit: int) -> list[str]:
    """At most `limit` words of `text` worth searching for, as they are written, in order, without repeats."""
    kept: dict[str, str] = {}
    for unit in _UNIT.findall(unicodedata.normalize("NFKC", text)):
        if _UNSPACED_RUN.match(unit):
            for chunk in _chunks(unit):
                if len(chunk) > 1:
                    kept.setdefault(chunk, chunk)
        elif unit.casefold() not in STOP_WORDS and len(unit) > 1:
            kept.setdefault(stem(unit.casefold()), unit)
    return list(kept.values())[:limit]


def similarity(one: frozenset[str], other: frozenset[str]) -> float:
    """How much two sets of terms share, from 0 to 1 (Jaccard)."""
    union = len(one | other)
    return len(one & other) / union if union else 0.0


def _chunks(run: str) -> list[str]:
    return [chunk for chunk in _UNSPACED_STOP.split(run) if chunk]


def _pairs(chunk: str) -> list[str]:
    if len(chunk) == 1:
        return [chunk]
    pairs = (chunk[at : at + 2] for at in range(len(chunk) - 1))
    return [pair for pair in pairs if not _KANA_ONLY.fullmatch(pair)]
