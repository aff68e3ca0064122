"""What in a journal is worth remembering: pages that were read, conclusions that held, what people stated.

Only events that bring something from outside are looked at, never what a model was shown; so nothing that memory brought back is
remembered a second time.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import field
from datetime import datetime
from typing import ClassVar

from outlast.domain.dataclass import dataclass
from outlast.domain.events import (
    Answered,
    BranchOpened,
    ModelAnswered,
    ModelRequested,
    PlanMade,
    Recorded,
    RunForked,
    RunStarted,
    Said,
    StateEntered,
    SubtaskConcluded,
    SubtaskDropped,
    SubtaskReviewed,
    ToolAnswered,
)
from outlast.domain.plan import Conclusion
from outlast.domain.source import Fetched
from outlast.domain.states import State
from outlast.runs.hearing import Hears, hear
from outlast.runs.ledger import Ledger
from outlast.runs.remembering.facts import statements_in


@dataclass(frozen=True, slots=True)
class PageRead:
    """A page was read, perhaps for a subtask."""

    position: int
    at: datetime
    page: Fetched
    subtask: str | None


@dataclass(frozen=True, slots=True)
class Settled:
    """A question has conclusions that hold; each comes with the source it rests on first, if it was read."""

    position: int
    at: datetime
    subtask: str
    question: str
    conclusions: tuple[tuple[Conclusion, Fetched | None], ...]


@dataclass(frozen=True, slots=True)
class Stated:
    """A person stated something."""

    position: int
    at: datetime
    by: str
    text: str


Finding = PageRead | Settled | Stated


def findings_in(history: Sequence[Recorded], after: int = 0) -> list[Finding]:
    """What the events after a position, or after the point where the run was forked, are worth, in their order."""
    reading = _Reading()
    found = [(recorded.position, one) for recorded in history for one in reading.take(recorded)]
    forked = max((one.position for one in history if isinstance(one.event, RunForked)), default=0)
    return [one for position, one in found if position > max(after, forked)]


@dataclass(slots=True)
class Worth:
    """Whether anything in a journal may be worth remembering; it says so wherever `findings_in` finds something.

    It is read beside a run at work, so that those that leave nothing are not read again for it.
    """

    _has_found: bool = False
    _words: list[str] = field(default_factory=list)

    def fold(self, recorded: Recorded) -> None:
        """Read one more event."""
        hear(self, recorded)

    def is_there(self) -> bool:
        """Was anything found so far, or stated by a person?"""
        return self._has_found or any(statements_in(text) for text in self._words)

    def _answered(self, _recorded: Recorded, event: ToolAnswered) -> None:
        if event.outcome.fetched:
            self._has_found = True

    def _concluded(self, _recorded: Recorded, _event: SubtaskConcluded) -> None:
        self._has_found = True

    def _said(self, _recorded: Recorded, event: Said | Answered) -> None:
        self._words.append(event.text)

    def _started(self, _recorded: Recorded, event: RunStarted) -> None:
        if event.origin is None and not event.tells_of:
            self._words.append(event.input)

    HEARS: ClassVar[Hears] = {
        ToolAnswered: _answered,
        SubtaskConcluded: _concluded,
        Said: _said,
        Answered: _said,
        RunStarted: _started,
    }


@dataclass(slots=True)
class _Reading:
    ledger: Ledger = field(default_factory=Ledger)
    subtask_of: dict[str, str | None] = field(default_factory=dict)
    branch_of: dict[str, str] = field(default_factory=dict)
    questions: dict[str, str] = field(default_factory=dict)
    concluded: dict[str, Recorded] = field(default_factory=dict)

    def take(self, recorded: Recorded) -> list[Finding]:
        """Read one more event; returns what is worth remembering once it has happened."""
        self.ledger.fold(recorded)
        event = recorded.event
        match event:
            case BranchOpened(branch=branch, subtask=subtask):
                self.subtask_of[branch] = subtask
            case ModelRequested(call=call, branch=branch):
                self.branch_of[call] = branch
            case ModelAnswered(call=call, tool_calls=calls):
                branch = self.branch_of.pop(call, "")
                self.branch_of.update({asked.id: branch for asked in calls})
            case PlanMade(subtasks=subtasks):
                self.questions = {one.id: one.question for one in subtasks}
                self.concluded.clear()
            case SubtaskConcluded(subtask=subtask):
                self.concluded[subtask] = recorded
            case SubtaskDropped(subtask=subtask):
                self.concluded.pop(subtask, None)
            case _:
                return self._found(recorded)
        return []

    def _found(self, recorded: Recorded) -> list[Finding]:
        match recorded.event:
            case ToolAnswered(call=call, outcome=outcome):
                subtask = self.subtask_of.get(self.branch_of.pop(call, ""))
                return [PageRead(recorded.position, recorded.at, page, subtask) for page in outcome.fetched]
            case SubtaskReviewed(subtask=subtask, verdict="accept"):
                return self._settled(subtask)
            case StateEntered(target=State.COMPLETED):
                return [one for subtask in list(self.concluded) for one in self._settled(subtask)]
            case Said(by=by, text=text) | Answered(by=by, text=text):
                return _stated(recorded, by, text)
            case RunStarted(user_id=user_id, input=words, origin=None, tells_of=()):
                return _stated(recorded, user_id, words)
            case _:
                return []

    def _settled(self, subtask: str) -> list[Finding]:
        recorded = self.concluded.pop(subtask, None)
        if recorded is None or not isinstance(recorded.event, SubtaskConcluded):
            return []
        held = tuple(
            (one, self._source_of(one, subtask)) for one in recorded.event.conclusions if one.is_supported
        )
        question = self.questions.get(subtask, "")
        return [Settled(recorded.position, recorded.at, subtask, question, held)] if held else []

    def _source_of(self, conclusion: Conclusion, subtask: str) -> Fetched | None:
        entries = (self.ledger.entry(key, subtask) for key in conclusion.sources)
        return next((entry.source for entry in entries if entry is not None), None)


def _stated(recorded: Recorded, by: str, text: str) -> list[Finding]:
    return [Stated(recorded.position, recorded.at, by, one) for one in statements_in(text)]
