"""Lines: the parts a context is made of, each with its kind, which says why it is there and whether it may ever leave."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from enum import StrEnum
from itertools import groupby
from typing import Final, Protocol

from outlast.domain.message import Message
from outlast.ports.provider import ToolSchema

SHORT_CHARACTERS: Final = 240
"""How much of an observation is left where it is shown in short."""


class TokenCount(Protocol):
    """Estimates, offline, what messages and tools take; a provider's `count_tokens` is one."""

    def __call__(self, messages: Sequence[Message], tools: tuple[ToolSchema, ...], /) -> int:
        """About how many tokens they take; the same for the same."""
        ...


class Kind(StrEnum):
    """Why a line is in a context."""

    SYSTEM = "system"
    REQUEST = "request"
    SAID = "said"
    PINNED = "pinned"
    TASK = "task"
    DELIVERED = "delivered"
    TOLD = "told"
    RECALLED = "recalled"
    EARLIER = "earlier"
    SPOKEN = "spoken"
    OBSERVED = "observed"


STAYS: Final = frozenset({Kind.SYSTEM, Kind.REQUEST, Kind.SAID, Kind.PINNED, Kind.TASK, Kind.DELIVERED})
"""What no compression takes away: the prompt, the request, people's words, pins, open background tasks and their results."""


@dataclass(frozen=True, slots=True)
class Line:
    """One part of a context: the position of the event behind it, its kind, what it says, and the tokens it is estimated at.

    Of lines with the same `key` that stay, only the newest is left by a compression: a later word on a background task takes
    the place of the earlier one.
    """

    position: int
    kind: Kind
    message: Message
    tokens: int
    key: str = ""


def joined(lines: Sequence[Line]) -> list[tuple[int, Message]]:
    """The messages of lines, each with the position of its newest line; user messages that follow each other are one."""
    messages: list[tuple[int, Message]] = []
    for speaker, together in groupby(lines, key=lambda line: line.message.speaker):
        block = list(together)
        if speaker == "user":
            text = "\n\n".join(line.message.text for line in block)
            messages.append((block[-1].position, replace(block[0].message, text=text)))
        else:
            messages += [(line.position, line.message) for line in block]
    return messages


def is_long(message: Message) -> bool:
    """Is an observation so long that showing it in short saves something?"""
    return len(message.text) > 2 * SHORT_CHARACTERS and _FENCED.match(message.text) is not None


def in_short(message: Message) -> Message:
    """An observation cut to its beginning, the fence closed, with a word on how to read the rest again."""

    def cut(found: re.Match[str]) -> str:
        body = found[3]
        more = len(body) - SHORT_CHARACTERS
        left_out = (
            f"{more} more characters of this result are left out here; call the tool again to read them"
        )
        return f"{found[1]}{body[:SHORT_CHARACTERS]}{found[4]}\n[{left_out}]"

    return replace(message, text=_FENCED.sub(cut, message.text, count=1))


_FENCED: Final = re.compile(r"(<<untrusted (\w+) from [^\n]*>>\n)(.*)(\n<<end \2>>)", re.DOTALL)
