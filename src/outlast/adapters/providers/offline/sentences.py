"""Sentences that can be quoted: exact spans of a text, each with a clean form to be read."""

from __future__ import annotations

import html
import re
from collections.abc import Iterator
from typing import Final

from outlast.adapters.providers.offline.blocks import Block, blocks_of, cells_of
from outlast.adapters.providers.offline.words import UNSPACED
from outlast.domain.dataclass import dataclass

MAX_QUOTE_CHARACTERS: Final = 300
MAX_SENTENCES: Final = 4_000
"""How many sentences of one text are weighed."""

_LEAST_WEIGHT: Final = 4
"""How many words a sentence has, at least; a character of a script without spaces counts as a part of a word."""

_CHARACTER_WEIGHT: Final = 0.8

CUT: Final = "[… left out …]"
"""Stands where a tool result was cut."""

_CUT_NOTE = re.compile(
    r"\[[^\[\]\n]{0,200}(?:left out|omitted|truncated|not shown|\bcut\b|characters|bytes|tokens)[^\[\]\n]{0,200}\]"
    r"|<[^<>\n]{0,100}(?:left out|omitted|truncated|not shown)[^<>\n]{0,100}>"
    r"|(?:\.\.\.|…)[^\n.…]{0,120}(?:left out|omitted|truncated|not shown)[^\n.…]{0,120}(?:\.\.\.|…)",
    re.IGNORECASE,
)
_STOP = re.compile(r"(?<![.!?…])[.!?…]+[\"'”’)\]»*_`]*(?=\s|$)|(?<![。！？])[。！？]+[”’」』）)\]\"']*|；")
_ABBREVIATION = re.compile(
    r"(?:^|[\s(\[])(?:e\.g|i\.e|vs|cf|dr|mr|mrs|ms|prof|fig|figs|vol|al|inc|ltd|st|approx|dept|est|pp|ca|resp|jr|sr|"
    r"eq|sec|ch|z\.b|bzw|d\.h|u\.a|evtl|ggf|p\.ex|sra|[A-Z]|(?:[a-z]\.)+[a-z])\.$",
    re.IGNORECASE,
)
_CLAUSE = re.compile(r"[;；:：]\s*|[,，、]\s*|\s+")
_LINK = re.compile(r"!?\[([^\[\]]*)\]\([^()\s]*(?:\([^()]*\)[^()\s]*)?(?:\s+\"[^\"]*\")?\)")
_NOTE_MARK = re.compile(r"\[\^?\d{1,3}\]|\[\^[^\]\s]{1,20}\]")
_EMPHASIS = re.compile(r"(?<![\w*])(\*{1,3}|_{1,3}|`+|~~)(?=\S)(.+?)(?<=\S)\1(?![\w*])")
_TAG = re.compile(r"</?[A-Za-z][^<>]*>|<!--.*?-->", re.DOTALL)
_QUOTE_BREAK = re.compile(r"\n[ \t]*>[ \t]?")
_ADDRESS = re.compile(r"\b(?:https?|corpus|file|mailto):\S+")
_WORD = re.compile(rf"[^\W\d_{UNSPACED}]+")
_CHARACTER = re.compile(rf"[{UNSPACED}]")
_ORDER = re.compile(
    r"\b(?:ignore|disregard|forget|override)\b.{0,40}\b(?:instructions?|prompts?|rules|above|previous|prior)\b|\bsystem prompt\b"
    r"|\byou are (?:now|an? (?:ai|assistant|language model))\b|\b(?:assistant|ai|model)s?\b.{0,20}\b(?:must|should) (?:now )?"
    r"(?:reply|answer|call|say|output|approve|respond)\b|<<(?:untrusted|end)\b|忽略.{0,12}(?:指令|提示|说明|规则|要求)|系统提示词|你现在是",
    re.IGNORECASE,
)


@dataclass(frozen=True, slots=True)
class Sentence:
    """`quote` is word for word in the text; `claim` says it cleanly; `place` is where it stands, from 0 to 1."""

    quote: str
    claim: str
    heading: str
    place: float
    is_row: bool = False


def sentences_of(text: str) -> list[Sentence]:
    """The sentences of `text` that state something, in order. Quotes have at most MAX_QUOTE_CHARACTERS characters.

    Questions, lead-ins, code, fragments next to a cut and sentences that give orders to a model are passed over.
    """
    notes = [match.span() for match in _CUT_NOTE.finditer(text)]
    found: list[Sentence] = []
    for block in blocks_of(text):
        for start, end in _spans(text, block):
            if any(_touches(text, start, end, note) for note in notes):
                continue
            sentence = _sentence(text, start, end, block)
            if sentence is not None:
                found.append(sentence)
        if len(found) >= MAX_SENTENCES:
            break
    return found


def clean(text: str) -> str:
    """`text` without markup, on one line."""
    text = _QUOTE_BREAK.sub(" ", text)
    text = _LINK.sub(r"\1", text)
    text = _TAG.sub(" ", text)
    text = _NOTE_MARK.sub("", text)
    for _ in range(2):
        text = _EMPHASIS.sub(r"\2", text)
    return " ".join(html.unescape(text).split())


def _spans(text: str, block: Block) -> Iterator[tuple[int, int]]:
    if block.is_row:
        yield block.start, block.end
        return
    start = block.start
    for stop in _STOP.finditer(text, block.start, block.end):
        if _ends_sentence(text, start, stop, block.end):
            yield from _trimmed(text, start, stop.end())
            start = stop.end()
    yield from _trimmed(text, start, block.end)


def _ends_sentence(text: str, start: int, stop: re.Match[str], end: int) -> bool:
    mark = stop.group()
    if mark == "；":
        return stop.end() - start > MAX_QUOTE_CHARACTERS // 3
    if mark[0] != ".":
        return True
    following = text[stop.end() : end].lstrip()[:1]
    if following.islower():
        return False
    return len(mark) > 1 or _ABBREVIATION.search(text, max(start, stop.end() - 12), stop.end()) is None


def _trimmed(text: str, start: int, end: int) -> Iterator[tuple[int, int]]:
    piece = text[start:end]
    if piece.strip():
        yield start + len(piece) - len(piece.lstrip()), end - len(piece) + len(piece.rstrip())


def _touches(text: str, start: int, end: int, note: tuple[int, int]) -> bool:
    opening, closing = note
    if start < closing and opening < end:
        return True
    between = text[end:opening] if end <= opening else text[closing:start]
    return len(between) < 40 and not between.strip()


def _sentence(text: str, start: int, end: int, block: Block) -> Sentence | None:
    quote = text[start:end]
    if len(quote) > MAX_QUOTE_CHARACTERS:
        quote = _first_clauses(quote)
    claim = _row_claim(quote, block.header) if block.is_row else clean(quote)
    if not claim or not (_states_row(quote) if block.is_row else _states(claim)):
        return None
    if len(quote) < end - start:
        claim = claim.rstrip(" ,，;；:：、") + " …"
    return Sentence(
        quote, claim, clean(block.heading[:MAX_QUOTE_CHARACTERS]), start / max(1, len(text)), block.is_row
    )


def _first_clauses(quote: str) -> str:
    """The longest beginning that fits and ends between clauses, else between words, else anywhere."""
    ends = [match.start() for match in _CLAUSE.finditer(quote, 0, MAX_QUOTE_CHARACTERS)]
    strong = [end for end in ends if quote[end] in ";；:：,，" and end > MAX_QUOTE_CHARACTERS // 3]
    end = (strong or ends or [MAX_QUOTE_CHARACTERS])[-1]
    return quote[:end].rstrip() or quote[:MAX_QUOTE_CHARACTERS].rstrip()


def _row_claim(row: str, header: tuple[str, ...]) -> str:
    names = [clean(name) for name in header]
    cells = [clean(cell) for cell in cells_of(row)]
    named = [
        f"{names[at]}: {cell}" if at < len(names) and names[at] and names[at] != cell else cell
        for at, cell in enumerate(cells)
        if cell
    ]
    return "; ".join(named)


def _states_row(row: str) -> bool:
    filled = [cell for cell in cells_of(row) if cell]
    return len(filled) >= 2 and _ORDER.search(row) is None and any(map(_has_letters, filled))


def _has_letters(text: str) -> bool:
    return any(map(str.isalpha, text))


def _states(claim: str) -> bool:
    bare = _ADDRESS.sub("", claim).rstrip()
    if (
        not bare
        or bare[-1] in ":："
        or bare.rstrip("\"'”’」』）)")[-1:] in ("?", "？")
        or _ORDER.search(claim)
    ):
        return False
    solid = [character for character in bare if not character.isspace()]
    weight = len(_WORD.findall(bare)) + _CHARACTER_WEIGHT * len(_CHARACTER.findall(bare))
    letters = sum(map(str.isalnum, solid))
    return weight >= _LEAST_WEIGHT and letters * 10 >= len(solid) * 6
