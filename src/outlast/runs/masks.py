"""Masks: a text shown in short, the fence around it whole, with a word on what is missing and how to read it again."""

from __future__ import annotations

import re
from dataclasses import replace
from typing import Final

from outlast.domain.dataclass import dataclass
from outlast.domain.message import Message

MASKED_CHARACTERS: Final = 240
"""How much is left of an old observation."""

_HEAD_SHARE: Final = 0.7
_LEAST_GAIN_CHARACTERS: Final = 240
_FENCED: Final = re.compile(r"(<<untrusted (\w+) from [^\n]*>>\n)(.*)(\n<<end \2>>)", re.DOTALL)
_WHOLE: Final = re.compile(r"()()(.*)()", re.DOTALL)
_ARTIFACT: Final = re.compile(r'read_artifact\(digest="(\w+)"')


@dataclass(frozen=True, slots=True)
class Mask:
    """What is shown in short from here on: observations up to a position, in so many characters each.

    Up to a position in the thread it is words of the thread, and `of_material` what was handed over with the request.
    """

    position: int
    characters: int
    of_material: bool = False


def is_long(message: Message, characters: int = MASKED_CHARACTERS) -> bool:
    """Is a text so long that leaving `characters` of it saves something? Results of tools without a fence are not touched."""
    if len(message.text) <= (characters or MASKED_CHARACTERS) + _LEAST_GAIN_CHARACTERS:
        return False
    return message.speaker != "tool" or _FENCED.match(message.text) is not None


def in_short(message: Message, characters: int) -> Message:
    """A text cut to `characters` of its head and tail; 0 cuts an observation as the first version of the event did."""
    cut = _cut_to_head if characters == 0 else lambda found: _cut(found, characters)
    shape = _FENCED if _FENCED.match(message.text) else _WHOLE
    return replace(message, text=shape.sub(cut, message.text, count=1))


def body_of(text: str) -> str:
    """What stands inside the fence of an observation; all of it where there is none."""
    found = _FENCED.match(text)
    return found[3] if found is not None else text


def artifacts_in(text: str) -> list[str]:
    """The digests of stored results that a text names."""
    return _ARTIFACT.findall(text)


def _cut(found: re.Match[str], characters: int) -> str:
    body = found[3]
    head = int(characters * _HEAD_SHARE)
    tail = characters - head
    named = artifacts_in(body)
    more = f'; read on with read_artifact(digest="{named[0]}", offset=0)' if named else ""
    missing = f"[... {len(body) - characters} of {len(body)} characters are left out here{more} ...]"
    return f"{found[1]}{body[:head]}\n{missing}\n{body[-tail:]}{found[4]}"


def _cut_to_head(found: re.Match[str]) -> str:
    body = found[3]
    more = len(body) - MASKED_CHARACTERS
    left_out = f"{more} more characters of this result are left out here; call the tool again to read them"
    return f"{found[1]}{body[:MASKED_CHARACTERS]}{found[4]}\n[{left_out}]"
