"""The context of one branch: its lines, and the messages they make."""

from __future__ import annotations

from dataclasses import replace
from typing import Final

from outlast.domain.door import Json, digest_of
from outlast.domain.events import ModelAnswered
from outlast.domain.message import Message, Messages
from outlast.runs.lines import Kind, Line, TokenCount, in_short, is_long, joined

KEPT_TURNS: Final = 2
"""The newest turns of a conversation whose observations are never folded."""


class Conversation:
    """What the model of one branch is shown. Between compressions it only grows."""

    def __init__(self, purpose: str, count: TokenCount, schema: dict[str, Json] | None = None) -> None:
        self.purpose = purpose
        self.schema = schema
        self.tokens = 0
        self._count = count
        self._lines: list[Line] = []
        self._messages: list[Message] = []
        self._digest = ""
        self._digest_before = ""
        self._order: tuple[str, ...] = ()
        self._results: dict[str, tuple[int, Message]] = {}
        self._notes: list[tuple[int, str, Kind, str]] = []

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

    def add(self, position: int, kind: Kind, message: Message, key: str = "") -> None:
        """Append a line; a user message after a user message is joined to it."""
        line = Line(position, kind, message, self._count((message,), ()), key)
        self.tokens += line.tokens
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
        self._order = tuple(call.id for call in answered.tool_calls)
        said = Message("assistant", answered.text, answered.tool_calls, reasoning=answered.reasoning)
        self.add(position, Kind.SPOKEN, said)

    def observe(self, position: int, call: str, name: str, text: str) -> None:
        """Keep the result of a call until the model speaks next; results are shown in the order of the calls."""
        self._results[call] = (position, Message("tool", text, tool_call_id=call, tool_name=name))

    def settle(self) -> None:
        """Append the results and notes that came in since the model last spoke."""
        for call in self._order:
            if call in self._results:
                position, message = self._results.pop(call)
                self.add(position, Kind.OBSERVED, message)
        self._order = ()
        for position, text, kind, key in self._notes:
            self.add(position, kind, Message("user", text), key)
        self._notes.clear()

    def foldable_position(self) -> int:
        """The newest position up to which observations may be folded; 0 when there are none."""
        turns = [line.position for line in self._lines if line.message.speaker == "assistant"]
        if len(turns) <= KEPT_TURNS:
            return 0
        limit = turns[-KEPT_TURNS]
        whole = [
            line.position for line in self._lines if line.kind is Kind.OBSERVED and is_long(line.message)
        ]
        return max((position for position in whole if position < limit), default=0)

    def tokens_if_folded(self, position: int) -> int:
        """The tokens of the conversation once observations up to a position are shown in short."""
        return sum(
            self._count((in_short(line.message),), ()) if _is_foldable(line, position) else line.tokens
            for line in self._lines
        )

    def fold(self, position: int) -> None:
        """Show observations up to a position in short."""
        self._rebuild(
            [self._shortened(line) if _is_foldable(line, position) else line for line in self._lines]
        )

    def _shortened(self, line: Line) -> Line:
        message = in_short(line.message)
        return replace(line, message=message, tokens=self._count((message,), ()))

    def _rebuild(self, lines: list[Line]) -> None:
        self._lines, self._messages, self._digest = lines, [], ""
        self.tokens = sum(line.tokens for line in lines)
        for position, message in joined(lines):
            self._digest_before = self._digest
            self._show(position, message)

    def _show(self, position: int, message: Message) -> None:
        self._messages.append(message)
        self._digest = digest_of(f"{self._digest_before} {position} {message.speaker} {message.text}")


def _is_foldable(line: Line, position: int) -> bool:
    return line.kind is Kind.OBSERVED and line.position <= position and is_long(line.message)
