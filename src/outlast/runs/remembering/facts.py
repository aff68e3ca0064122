"""What people state: sentences in which somebody says how things are, told from questions and requests by their form.

No model reads them, so that nothing in them can be obeyed, and the same words always give the same facts.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final

MOST_CHARACTERS: Final = 8000
"""How much of one message is read: who pastes a document states nothing with it."""

MOST_FACTS: Final = 10
"""How many facts one message gives."""

LONGEST_FACT: Final = 400


_NOT_WORDS: Final = re.compile(
    r"<<untrusted (\w+) from [^\n]*>>.*?(?:<<end \1>>|\Z)|```.*?(?:```|\Z)|^[ \t]*>[^\n]*$",
    re.DOTALL | re.MULTILINE,
)
"""What a message may hold that is not its writer's own: fenced material, code, quoted lines."""

_SENTENCE: Final = re.compile(r"[^.!?。！？\n]+(?:[.!?](?!\s|$)[^.!?。！？\n]*)*[.!?。！？]*")
_ASKED_TO_KEEP: Final = re.compile(
    r"(?:please\s+)?(?:remember|note|keep in mind|don'?t forget|for the record|fyi)\b(?:\s+that\b)?[,:]?\s+"
    r"|(?:请)?(?:记住|注意|别忘了)[,，:：]?",
    re.IGNORECASE,
)
_OWN: Final = re.compile(
    r"\b(?:i|i'm|i've|i'd|my|mine|we|we're|we've|our|ours)\b|我|咱|私は|저는|우리", re.IGNORECASE
)
_REQUEST: Final = re.compile(
    r"(?:please|can|could|would|will|tell|find|search|look|give|show|write|help|let'?s|explain|summari[sz]e|compare|list"
    r"|make|do|what|who|when|where|why|which|how|is|are|was|were|does|did|should|shall|may|if"
    r"|i(?:'d| would)? (?:want|need|like) (?:you|to know)|i wonder|i ask|we need you)\b"
    r"|请|帮|给我|告诉|能不能|可不可以|我想(?:知道|问)|为什么|什么|怎么|谁|哪",
    re.IGNORECASE,
)
_CORRECTS: Final = re.compile(
    r"^(?:no|nope|actually|correction|wrong)\b|^(?:不对|不是|错了|更正|其实)"
    r"|\b(?:no longer|not any ?more|any ?more|instead of|stopped|quit|gave up|used to|from now on|has changed|was wrong"
    r"|(?:changed|moved|switched|renamed) (?:to|from))\b"
    r"|改到|改成|改为|不再|换成|以后",
    re.IGNORECASE,
)
_ASKS: Final = re.compile(r"[?？]\s*$|[吗呢]\s*[。.!！]?\s*$")
_WORDS: Final = re.compile(r"[\w'’]+")


_CREDENTIAL: Final = re.compile(
    r"\b(?:passwords?|passphrase|passcode|api[ _-]?keys?|secrets?|tokens?|credentials?|private key|pin)\b\s*(?:is|are|=|:)"
    r"|密码|口令|密钥",
    re.IGNORECASE,
)
"""What is not kept though somebody states it."""


def statements_in(words: str) -> list[str]:
    """What the writer of `words` states about himself and his world, word for word; at most MOST_FACTS."""
    own = _NOT_WORDS.sub("\n", words[:MOST_CHARACTERS])
    found = [statement for sentence in _sentences(own) if (statement := _statement(sentence)) is not None]
    return list(dict.fromkeys(found))[:MOST_FACTS]


def corrects(text: str) -> bool:
    """Has a sentence the form of one that takes something back?"""
    return _CORRECTS.search(text) is not None


def _sentences(text: str) -> Iterator[str]:
    for found in _SENTENCE.finditer(text):
        sentence = " ".join(found.group().split()).lstrip("-*•·# ")
        if sentence:
            yield sentence


def _statement(sentence: str) -> str | None:
    kept = _ASKED_TO_KEEP.match(sentence)
    text = sentence[kept.end() :].strip() if kept else sentence
    if not _has_substance(text) or _ASKS.search(sentence) or _CREDENTIAL.search(sentence):
        return None
    if kept is None and (_REQUEST.match(text) or not (corrects(text) or _OWN.search(text))):
        return None
    return text


def _has_substance(text: str) -> bool:
    """Is it long enough to say something, and short enough to be said?"""
    has_enough = len(_WORDS.findall(text)) >= 3 or sum(ord(letter) > 0x2E80 for letter in text) >= 4
    return has_enough and len(text) <= LONGEST_FACT
