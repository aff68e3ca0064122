"""What a model sees: the conversation of each branch, read from the journal.

A reading is built one event at a time and never looks at anything but events, so that building it anew from the first
event gives the same messages. Between two foldings it only grows, which keeps a provider's prefix cache warm.
"""

from __future__ import annotations

import json
from dataclasses import asdict

from outlast.domain.apply_signals import hears_people
from outlast.domain.events import (
    AnyEvent,
    BranchOpened,
    ContextFolded,
    MemoryRecalled,
    MessageReceived,
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
from outlast.domain.message import Message
from outlast.domain.report import Report
from outlast.domain.run import MAIN_BRANCH
from outlast.runs.conversation import Conversation
from outlast.runs.fences import RULE, fence
from outlast.runs.lines import Kind, TokenCount
from outlast.runs.recall.showing import recalled_text


class Conversations:
    """The conversations of a run, folded from its journal. The main one goes on from what was said in the thread before."""

    def __init__(self, count: TokenCount, thread: tuple[Message, ...] = ()) -> None:
        self._count = count
        self._thread = thread
        self._secret = ""
        self._by_branch: dict[str, Conversation] = {}
        self._branch_of: dict[str, str] = {}
        self._tool_of: dict[str, str] = {}
        self._unheard: list[tuple[int, str, Kind]] = []
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
        conversation.add(position, Kind.SYSTEM, Message("system", f"{event.system}\n\n{RULE}"))
        for said in self._thread if event.branch == MAIN_BRANCH else ():
            conversation.add(position, Kind.SAID if said.speaker == "user" else Kind.EARLIER, said)
        opening = event.opening
        shown = self.report if event.shows_report else None
        material = event.material if shown is None else report_as_text(shown)
        if material:
            opening += "\n\n" + fence(self._secret, position, event.material_from or "another role", material)
        conversation.add(position, Kind.REQUEST, Message("user", opening))
        self._by_branch[event.branch] = conversation
        if hears_people(event.branch, event.purpose):
            for unheard in self._unheard:
                conversation.hear(*unheard)
            self._unheard.clear()

    def _heard(self, position: int, event: AnyEvent) -> None:
        match event:
            case Told(branch=branch, body=body, material=material, sender=sender):
                fenced = "\n" + fence(self._secret, position, sender, material) if material else ""
                if branch in self._by_branch:
                    self._by_branch[branch].hear(position, body + fenced)
            case Said(text=text):
                self._hear(position, text, Kind.SAID)
            case MemoryRecalled(branch=branch, entries=entries) if entries and branch in self._by_branch:
                recalled = fence(self._secret, position, "memory", recalled_text(entries))
                self._by_branch[branch].hear(position, recalled, Kind.RECALLED)
            case MessageReceived(sender=sender, text=text):
                words = "A run of this conversation says:\n" + fence(self._secret, position, sender, text)
                self._hear(position, words, Kind.TOLD)
            case ReportWritten(report=report):
                self.report = report
            case RunStarted(secret=secret) | RunForked(secret=secret):
                self._secret = secret
            case _:
                pass

    def _hear(self, position: int, words: str, kind: Kind) -> None:
        """Let the conversations hear what is said to the run; what is said before there is one is heard by the first."""
        hearing = [
            conversation
            for branch, conversation in self._by_branch.items()
            if hears_people(branch, conversation.purpose)
        ]
        for conversation in hearing:
            conversation.hear(position, words, kind)
        if not hearing:
            self._unheard.append((position, words, kind))


def report_as_text(report: Report) -> str:
    """A report as the model that reviews it sees it: one JSON object."""
    return json.dumps(asdict(report), ensure_ascii=False, separators=(",", ":"))
