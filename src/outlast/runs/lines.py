"""Lines: the parts a context is made of, each with its kind, which says why it is there and whether it may ever leave."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from enum import StrEnum
from itertools import groupby
from typing import Final, Protocol

from outlast.domain.dataclass import dataclass
from outlast.domain.message import Message
from outlast.domain.quick import quick
from outlast.ports.provider import ToolSchema


class TokenCount(Protocol):
    """Estimates, offline, what messages and tools take; a provider's `count_tokens` is one."""

    def __call__(self, messages: Sequence[Message], tools: tuple[ToolSchema, ...], /) -> int:
        """About how many tokens they take; the same for the same."""
        ...


class Kind(StrEnum):
    """Why a line is in a context."""

    SYSTEM = "system"
    REQUEST = "request"
    MATERIAL = "material"
    SAID = "said"
    PINNED = "pinned"
    TASK = "task"
    DELIVERED = "delivered"
    TOLD = "told"
    RECALLED = "recalled"
    EARLIER = "earlier"
    SUMMARY = "summary"
    SPOKEN = "spoken"
    OBSERVED = "observed"
    ANSWERED = "answered"


STAYS: Final = frozenset(
    {Kind.SYSTEM, Kind.REQUEST, Kind.MATERIAL, Kind.SAID, Kind.PINNED, Kind.TASK, Kind.DELIVERED}
)
"""What no compression takes away: the prompt, the request and its material, people's words, pins, open background tasks and
their results."""

TURNS: Final = frozenset({Kind.SPOKEN, Kind.EARLIER})
"""What begins a turn: something the model said, in this run or before it in the thread."""


@quick
@dataclass(frozen=True, slots=True)
class Line:
    """One part of a context: the position of the event behind it, its kind, what it says, and the tokens it is estimated at.

    `order` is the position, but for words of the thread, which count backwards from 0. Of lines with the same `key` that
    stay, only the newest is left by a compression: a later word on a background task takes the place of the earlier one.
    `whole` is what an observation said before it was shortened.
    """

    position: int
    kind: Kind
    message: Message
    tokens: int
    key: str = ""
    order: int = 0
    whole: Message | None = None


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


def kept_of(lines: Sequence[Line], cut: int) -> list[Line]:
    """What stays of the first `cut` lines once they are folded; what a person answered in a tool's place stays as a word of his."""
    newest = {line.key: at for at, line in enumerate(lines) if line.key}
    return [
        _as_words(line)
        for at, line in enumerate(lines[:cut])
        if line.kind is Kind.ANSWERED or (line.kind in STAYS and newest.get(line.key, at) == at)
    ]


def _as_words(line: Line) -> Line:
    if line.kind is not Kind.ANSWERED:
        return line
    text = f"(in place of {line.message.tool_name}) {line.message.text}"
    return replace(line, kind=Kind.SAID, message=Message("user", text))
