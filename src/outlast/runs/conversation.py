"""The context of one branch: its lines, the messages they make, and what they take."""

from __future__ import annotations

import math
from dataclasses import replace
from typing import Final

from outlast.domain.dataclass import dataclass
from outlast.domain.door import Json, digest_of
from outlast.domain.events import ModelAnswered
from outlast.domain.message import Message, Messages
from outlast.runs.lines import STAYS, TURNS, Kind, Line, TokenCount, joined, kept_of
from outlast.runs.masks import Mask, in_short, is_long

KEPT_TURNS: Final = 2
"""The newest turns of a conversation that old age alone does not shorten."""

_LEAST_RATIO, _MOST_RATIO = 0.4, 4.0
"""A server whose usage is further than this from the estimate counts something else, such as what its cache did not hold."""


@dataclass(frozen=True, slots=True)
class SummaryAsked:
    """A summary that was asked of the model: of what came before the turn at `before`, for the `tries`-th time in a row.

    Once there is an answer, `value` is what was read from it, or `problem` says why it is no use; `is_final` when asking
    again would not help.
    """

    call: str
    before: int
    tries: int = 1
    value: Json = None
    problem: str | None = None
    is_final: bool = False

    @property
    def is_answered(self) -> bool:
        """Has anything come of it?"""
        return self.value is not None or self.problem is not None


class Conversation:
    """What the model of one branch is shown. Between compressions it only grows.

    `steps` are those since the last summary, `folded_turns` the turns that are shown no more, `ceiling` the most tokens it
    may have where the server refused more, `ratio` how many tokens the server counted for one that was estimated.
    """

    def __init__(self, purpose: str, count: TokenCount, schema: dict[str, Json] | None = None) -> None:
        self.purpose = purpose
        self.schema = schema
        self.role = ""
        self.tools: tuple[str, ...] = ()
        self.tools_estimate = 0
        self.estimate = 0
        self.ratio = 1.0
        self.steps = 0
        self.folded_turns = 0
        self.ceiling: int | None = None
        self.is_crowded = False
        self.summary: SummaryAsked | None = None
        self._count = count
        self._lines: list[Line] = []
        self._messages: list[Message] = []
        self._digest = ""
        self._digest_before = ""
        self._order: tuple[str, ...] = ()
        self._results: dict[str, tuple[int, Kind, Message]] = {}
        self._notes: list[tuple[int, str, Kind, str]] = []

    @property
    def tokens(self) -> int:
        """What the context takes, its tools included: estimated, corrected by what the server last counted."""
        return math.ceil((self.estimate + self.tools_estimate) * self.ratio)

    @property
    def fixed_tokens(self) -> int:
        """What of it no compression takes away."""
        fixed = sum(line.tokens for line in self._lines if line.kind in STAYS)
        return math.ceil((fixed + self.tools_estimate) * self.ratio)

    @property
    def digest(self) -> str:
        """The digest of all messages, in order.

        Position and text tell two messages apart: calls and reasoning are those of the event at the position.
        """
        return self._digest

    @property
    def lines(self) -> tuple[Line, ...]:
        """All lines, in order."""
        return tuple(self._lines)

    @property
    def messages(self) -> Messages:
        """All messages, in order; user messages that follow each other are one."""
        return Messages(self._messages)

    @property
    def last_words(self) -> str:
        """The text of the newest assistant message that has any."""
        spoken = (line.message.text for line in reversed(self._lines) if line.message.speaker == "assistant")
        return next((text for text in spoken if text.strip()), "")

    def add(
        self, position: int, kind: Kind, message: Message, key: str = "", order: int | None = None
    ) -> None:
        """Append a line; a user message after a user message is joined to it."""
        place = position if order is None else order
        line = Line(position, kind, message, self._count((message,), ()), key, place)
        self.estimate += line.tokens
        self._lines.append(line)
        if self._messages and message.speaker == self._messages[-1].speaker == "user":
            before = self._messages[-1]
            self._messages = self._messages[:-1]
            message = replace(before, text=f"{before.text}\n\n{message.text}")
        else:
            self._digest_before = self._digest
        self._show(position, message)

    def hear(self, position: int, text: str, kind: Kind = Kind.TOLD, key: str = "") -> None:
        """Take a note that is shown before the model speaks next."""
        self._notes.append((position, text, kind, key))

    def speak(self, position: int, answered: ModelAnswered) -> None:
        """Append what the model said."""
        self._order = tuple([call.id for call in answered.tool_calls])
        said = Message("assistant", answered.text, answered.tool_calls, reasoning=answered.reasoning)
        self.add(position, Kind.SPOKEN, said)

    def observe(
        self, position: int, call: str, name: str, text: str, *, is_from_person: bool = False
    ) -> None:
        """Keep the result of a call until the model speaks next; results are shown in the order of the calls."""
        kind = Kind.ANSWERED if is_from_person else Kind.OBSERVED
        self._results[call] = (position, kind, Message("tool", text, tool_call_id=call, tool_name=name))

    def settle(self) -> None:
        """Append the results and notes that came in since the model last spoke."""
        for call in self._order:
            if call in self._results:
                self.add(*self._results.pop(call))
        self._order = ()
        for position, text, kind, key in self._notes:
            self.add(position, kind, Message("user", text), key)
        self._notes.clear()

    def correct(self, estimate: int, counted: int) -> None:
        """Learn how far the estimate of a request was from what the server counted."""
        if estimate and _LEAST_RATIO <= counted / estimate <= _MOST_RATIO:
            self.ratio = counted / estimate

    def turns(self) -> list[int]:
        """The indexes of the lines that begin a turn."""
        return [at for at, line in enumerate(self._lines) if line.kind in TURNS]

    def masking_saves(self, mask: Mask) -> int:
        """How many tokens, as estimated, a mask saves."""
        masked = [line for line in self._lines if _is_maskable(line, mask)]
        return sum(line.tokens - self._masked(line, mask.characters).tokens for line in masked)

    def mask(self, mask: Mask) -> None:
        """Show in short what a mask is about."""
        self._rebuild(
            [
                self._masked(line, mask.characters) if _is_maskable(line, mask) else line
                for line in self._lines
            ]
        )

    def cut_at(self, before: int) -> int:
        """How many lines come before the turn at `before`; none when there is no such turn."""
        return next((at for at in self.turns() if self._lines[at].order >= before), 0)

    def fold(self, position: int, before: int, text: str) -> None:
        """Show the summary `text`, made at `position`, in the place of what came before the turn at `before`."""
        cut = self.cut_at(before)
        self.folded_turns += sum(line.kind in TURNS for line in self._lines[:cut])
        message = Message("user", text)
        summary = Line(position, Kind.SUMMARY, message, self._count((message,), ()), order=position)
        self._rebuild([*kept_of(self._lines, cut), summary, *self._lines[cut:]])
        self.steps, self.summary = 0, None

    def _masked(self, line: Line, characters: int) -> Line:
        whole = line.whole or line.message
        message = in_short(whole, characters)
        return replace(line, message=message, whole=whole, tokens=self._count((message,), ()))

    def _rebuild(self, lines: list[Line]) -> None:
        self._lines, self._messages, self._digest = lines, [], ""
        self.estimate = sum(line.tokens for line in lines)
        for position, message in joined(lines):
            self._digest_before = self._digest
            self._show(position, message)

    def _show(self, position: int, message: Message) -> None:
        self._messages.append(message)
        self._digest = digest_of(f"{self._digest_before} {position} {message.speaker} {message.text}")


def _is_maskable(line: Line, mask: Mask) -> bool:
    if line.order > mask.position:
        return False
    kinds = (Kind.SAID, Kind.EARLIER) if mask.position <= 0 else (Kind.OBSERVED,)
    return line.kind in ((Kind.MATERIAL,) if mask.of_material else kinds) and is_long(
        line.message, mask.characters
    )
