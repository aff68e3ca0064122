"""What a model sees: the conversation of each branch, read from the journal.

A reading is built one event at a time and never looks at anything but events, so that building it anew from the first
event gives the same messages. Between two foldings it only grows, which keeps a provider's prefix cache warm.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from dataclasses import asdict, dataclass, replace
from typing import Final

from outlast.domain.apply_signals import hears_people
from outlast.domain.door import Json, digest_of
from outlast.domain.events import (
    AnyEvent,
    BranchOpened,
    ContextFolded,
    ModelAnswered,
    ModelRequested,
    Recorded,
    ReportWritten,
    RunForked,
    RunStarted,
    Said,
    Told,
    ToolAnswered,
)
from outlast.domain.message import Message, Messages
from outlast.domain.report import Report
from outlast.domain.run import MAIN_BRANCH
from outlast.runs.fences import RULE, fence

KEPT_TURNS: Final = 2
"""The newest turns of a conversation whose observations are never folded."""

_SHORT: Final = 240

TokenCount = Callable[[Message], int]


@dataclass(frozen=True, slots=True)
class Line:
    """A message in its place: the position of the event behind it, its tokens, and the digest of everything up to it.

    Position and text tell two messages apart: calls and reasoning are those of the event at the position.
    """

    position: int
    message: Message
    tokens: int
    digest: str


class Conversation:
    """The messages of one branch."""

    def __init__(self, purpose: str, count: TokenCount, schema: dict[str, Json] | None = None) -> None:
        self.purpose = purpose
        self.schema = schema
        self.tokens = 0
        self._count = count
        self._lines: list[Line] = []
        self._messages: list[Message] = []
        self._order: tuple[str, ...] = ()
        self._results: dict[str, tuple[int, Message]] = {}
        self._notes: list[tuple[int, str]] = []

    @property
    def digest(self) -> str:
        """The digest of all messages, in order."""
        return self._lines[-1].digest if self._lines else ""

    @property
    def messages(self) -> Messages:
        """All messages, in order; user messages that follow each other are one."""
        return Messages(self._messages)

    @property
    def last_words(self) -> str:
        """The text of the newest assistant message that has any."""
        spoken = (line.message.text for line in reversed(self._lines) if line.message.speaker == "assistant")
        return next((text for text in spoken if text.strip()), "")

    def add(self, position: int, message: Message) -> None:
        """Append a message; a user message after a user message is joined to it."""
        last = self._lines[-1] if self._lines else None
        if last is not None and message.speaker == last.message.speaker == "user":
            self._lines.pop()
            self._messages = self._messages[:-1]
            self.tokens -= last.tokens
            message = replace(message, text=f"{last.message.text}\n\n{message.text}")
        tokens = self._count(message)
        self.tokens += tokens
        digest = digest_of(f"{self.digest} {position} {message.speaker} {message.text}")
        self._lines.append(Line(position, message, tokens, digest))
        self._messages.append(message)

    def hear(self, position: int, text: str) -> None:
        """Take a note that is shown before the model speaks next."""
        self._notes.append((position, text))

    def speak(self, position: int, answered: ModelAnswered) -> None:
        """Append what the model said."""
        self._order = tuple(call.id for call in answered.tool_calls)
        self.add(
            position, Message("assistant", answered.text, answered.tool_calls, reasoning=answered.reasoning)
        )

    def observe(self, position: int, call: str, name: str, text: str) -> None:
        """Keep the result of a call until the model speaks next; results are shown in the order of the calls."""
        self._results[call] = (position, Message("tool", text, tool_call_id=call, tool_name=name))

    def settle(self) -> None:
        """Append the results and notes that came in since the model last spoke."""
        for call in self._order:
            if call in self._results:
                self.add(*self._results.pop(call))
        self._order = tuple(call for call in self._order if call in self._results)
        for position, text in self._notes:
            self.add(position, Message("user", text))
        self._notes.clear()

    def foldable_position(self) -> int:
        """The newest position up to which observations may be folded; 0 when there are none."""
        turns = [line.position for line in self._lines if line.message.speaker == "assistant"]
        if len(turns) <= KEPT_TURNS:
            return 0
        limit = turns[-KEPT_TURNS]
        whole = [
            line.position for line in self._lines if line.message.speaker == "tool" and _is_long(line.message)
        ]
        return max((position for position in whole if position < limit), default=0)

    def tokens_if_folded(self, position: int) -> int:
        """The tokens of the conversation once observations up to a position are shown in short."""
        return sum(
            self._count(_in_short(line.message)) if _is_foldable(line, position) else line.tokens
            for line in self._lines
        )

    def fold(self, position: int) -> None:
        """Show observations up to a position in short."""
        lines, self._lines, self._messages, self.tokens = self._lines, [], [], 0
        for line in lines:
            self.add(line.position, _in_short(line.message) if _is_foldable(line, position) else line.message)


class Conversations:
    """The conversations of a run, folded from its journal. The main one goes on from what was said in the thread before."""

    def __init__(self, count: TokenCount, thread: tuple[Message, ...] = ()) -> None:
        self._count = count
        self._thread = thread
        self._secret = ""
        self._by_branch: dict[str, Conversation] = {}
        self._branch_of: dict[str, str] = {}
        self._tool_of: dict[str, str] = {}
        self.report: Report | None = None

    def __getitem__(self, branch: str) -> Conversation:
        return self._by_branch[branch]

    def get(self, branch: str) -> Conversation | None:
        """The conversation of a branch, if it was opened."""
        return self._by_branch.get(branch)

    def fold(self, recorded: Recorded) -> None:
        """Read one more event."""
        position, event = recorded.position, recorded.event
        match event:
            case ModelRequested(call=call, branch=branch):
                self._branch_of[call] = branch
                self._by_branch[branch].settle()
            case ModelAnswered(call=call):
                self._answered(position, self._branch_of.pop(call), event)
            case ToolAnswered(call=call):
                branch, name = self._branch_of.pop(call, ""), self._tool_of.pop(call, "")
                if branch:
                    self._by_branch[branch].observe(position, call, name, self._shown(position, name, event))
            case BranchOpened():
                self._opened(position, event)
            case ContextFolded(branch=branch, position=upto):
                self._by_branch[branch].fold(upto)
            case _:
                self._heard(position, event)

    def _answered(self, position: int, branch: str, event: ModelAnswered) -> None:
        self._by_branch[branch].speak(position, event)
        for call in event.tool_calls:
            self._branch_of[call.id] = branch
            self._tool_of[call.id] = call.name

    def _shown(self, position: int, name: str, event: ToolAnswered) -> str:
        """What came back, fenced unless a person or a rule of the run said it in the tool's place."""
        outcome = event.outcome
        if event.by not in (None, "engine"):
            return outcome.shown
        shown = fence(self._secret, position, f"tool {name}", outcome.shown)
        return f"{shown}\n{outcome.note}" if outcome.note else shown

    def _opened(self, position: int, event: BranchOpened) -> None:
        conversation = Conversation(event.purpose, self._count, event.schema)
        conversation.add(position, Message("system", f"{event.system}\n\n{RULE}"))
        for said in self._thread if event.branch == MAIN_BRANCH else ():
            conversation.add(position, said)
        opening = event.opening
        shown = self.report if event.shows_report else None
        material = event.material if shown is None else report_as_text(shown)
        if material:
            opening += "\n\n" + fence(self._secret, position, event.material_from or "another role", material)
        conversation.add(position, Message("user", opening))
        self._by_branch[event.branch] = conversation

    def _heard(self, position: int, event: AnyEvent) -> None:
        match event:
            case Told(branch=branch, body=body, material=material, sender=sender):
                fenced = "\n" + fence(self._secret, position, sender, material) if material else ""
                if branch in self._by_branch:
                    self._by_branch[branch].hear(position, body + fenced)
            case Said(text=text):
                for branch, conversation in self._by_branch.items():
                    if hears_people(branch, conversation.purpose):
                        conversation.hear(position, text)
            case ReportWritten(report=report):
                self.report = report
            case RunStarted(secret=secret) | RunForked(secret=secret):
                self._secret = secret
            case _:
                pass


def report_as_text(report: Report) -> str:
    """A report as the model that reviews it sees it: one JSON object."""
    return json.dumps(asdict(report), ensure_ascii=False, separators=(",", ":"))


def _is_foldable(line: Line, position: int) -> bool:
    return line.message.speaker == "tool" and line.position <= position and _is_long(line.message)


def _is_long(message: Message) -> bool:
    return len(message.text) > 2 * _SHORT and _FENCED.match(message.text) is not None


def _in_short(message: Message) -> Message:
    """An observation cut to its beginning, the fence closed, with a word on how to read the rest again."""

    def cut(found: re.Match[str]) -> str:
        body = found[3]
        left_out = f"{len(body) - _SHORT} more characters of this result are left out here; call the tool again to read them"
        return f"{found[1]}{body[:_SHORT]}{found[4]}\n[{left_out}]"

    return replace(message, text=_FENCED.sub(cut, message.text, count=1))


_FENCED = re.compile(r"(<<untrusted (\w+) from [^\n]*>>\n)(.*)(\n<<end \2>>)", re.DOTALL)
