"""What a model sees: the conversation of each branch, read from the journal.

A reading is built one event at a time and never looks at anything but events, so that building it anew from the first
event gives the same messages. Between two compressions it only grows, which keeps a provider's prefix cache warm.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import asdict
from typing import ClassVar, Final

from outlast.domain.apply_signals import hears_people
from outlast.domain.context_summary import ContextSummary
from outlast.domain.events import (
    BranchOpened,
    ContextCrowded,
    ContextFolded,
    ContextSummarised,
    MemoryRecalled,
    MessageReceived,
    ModelAnswered,
    ModelFailed,
    ModelRequested,
    PinnedTool,
    Recorded,
    ReportWritten,
    RunForked,
    RunStarted,
    Said,
    TaskReported,
    TasksShown,
    Told,
    ToolAnswered,
    ToolsChanged,
)
from outlast.domain.message import Message
from outlast.domain.report import Report
from outlast.domain.run import MAIN_BRANCH
from outlast.domain.thread import ThreadSaid
from outlast.runs.asked_models import AskedModels
from outlast.runs.conversation import Conversation
from outlast.runs.fences import RULE, fence
from outlast.runs.hearing import Hears, hear
from outlast.runs.lines import Kind, TokenCount
from outlast.runs.masks import Mask
from outlast.runs.offered import schema_of
from outlast.runs.recall.showing import recalled_text
from outlast.runs.summaries import items_in, summary_as_text
from outlast.runs.thread_lines import TASKS_KEY, TASKS_SHOWN, line_of

_MACHINES: Final = frozenset({None, "engine", "policy", "limit", "cancel"})
"""Who answers in a tool's place without being a person."""


class Conversations:
    """The conversations of a run, folded from its journal. The main one goes on from what was said in the thread before."""

    def __init__(self, count: TokenCount, thread: tuple[ThreadSaid, ...] = ()) -> None:
        self.count = count
        self.thread = thread
        self.secret = ""
        self.report: Report | None = None
        self._tools: dict[str, int] = {}
        self._pins: list[tuple[int, str]] = []
        self._by_branch: dict[str, Conversation] = {}
        self._models = AskedModels()
        self._branch_of: dict[str, str] = {}
        self._tool_of: dict[str, str] = {}
        self._unheard: list[tuple[int, str, Kind, str]] = []
        self._summaries: dict[str, ContextSummary] = {}
        self._notes_of_model: dict[str, int] = {}
        self._begun_in: dict[str, str] = {}
        self._material = ""

    def __getitem__(self, branch: str) -> Conversation:
        return self._by_branch[branch]

    def get(self, branch: str) -> Conversation | None:
        """The conversation of a branch, if it was opened."""
        return self._by_branch.get(branch)

    def summary_of(self, branch: str) -> ContextSummary | None:
        """The summary that a branch is shown at present."""
        return self._summaries.get(branch)

    def notes_of_model(self, branch: str) -> int:
        """How many notes that summary holds if a model made it; 0 where the engine drew it line by line, to be condensed."""
        return self._notes_of_model.get(branch, 0)

    def fold(self, recorded: Recorded) -> None:
        """Read one more event."""
        hear(self, recorded)

    def _requested(self, _recorded: Recorded, event: ModelRequested) -> None:
        conversation = self._by_branch[event.branch]
        conversation.settle()
        self._models.requested(conversation, event)

    def _failed(self, _recorded: Recorded, event: ModelFailed) -> None:
        self._models.failed(event)

    def _answered(self, recorded: Recorded, event: ModelAnswered) -> None:
        branch = self._models.answered(event)
        if branch is None:
            return
        self._by_branch[branch].speak(recorded.position, event)
        for call in event.tool_calls:
            self._branch_of[call.id] = branch
            self._tool_of[call.id] = call.name

    def _observed(self, recorded: Recorded, event: ToolAnswered) -> None:
        """What came back is fenced, unless a person or a rule of the run said it in the tool's place."""
        branch, name = self._branch_of.pop(event.call, ""), self._tool_of.pop(event.call, "")
        if not branch:
            return
        position, outcome, is_from_person = recorded.position, event.outcome, event.by not in _MACHINES
        shown = outcome.shown
        if event.by in (None, "engine"):
            shown = fence(self.secret, position, f"tool {name}", outcome.shown)
            shown = f"{shown}\n{outcome.note}" if outcome.note else shown
        self._by_branch[branch].observe(position, event.call, name, shown, is_from_person=is_from_person)
        self._note_begun(position, branch, event)

    def _folded(self, _recorded: Recorded, event: ContextFolded) -> None:
        conversation = self._by_branch[event.branch]
        conversation.settle()
        conversation.mask(Mask(event.position, event.characters, event.of_material))

    def _crowded(self, _recorded: Recorded, event: ContextCrowded) -> None:
        self._by_branch[event.branch].is_crowded = True

    def _summarised(self, recorded: Recorded, event: ContextSummarised) -> None:
        conversation, position = self._by_branch[event.branch], recorded.position
        conversation.settle()
        text = fence(self.secret, position, "the summary of earlier steps", summary_as_text(event.summary))
        conversation.fold(position, event.before, text)
        self._summaries[event.branch] = event.summary
        self._notes_of_model[event.branch] = items_in(event.summary) if event.by == "model" else 0

    def _opened(self, recorded: Recorded, event: BranchOpened) -> None:
        position = recorded.position
        conversation = Conversation(event.purpose, self.count, event.schema)
        conversation.role, conversation.tools = event.role, event.tools
        conversation.tools_estimate = self._tokens_of(event.tools)
        conversation.ratio = self._models.ratio_of(event.role)
        conversation.add(position, Kind.SYSTEM, Message("system", f"{event.system}\n\n{RULE}"))
        thread = self.thread if event.branch == MAIN_BRANCH else ()
        for at, said in enumerate(thread, start=1 - len(thread)):
            kind, message, key = line_of(said, self.secret, position)
            conversation.add(position, kind, message, key, order=at)
        opening = event.opening
        shown = self.report if event.shows_report else None
        material = event.material if shown is None else report_as_text(shown)
        if self._material and event.branch == MAIN_BRANCH:
            opening += "\n\n" + fence(self.secret, position, "background tasks", self._material)
        conversation.add(position, Kind.REQUEST, Message("user", opening))
        if material:
            fenced = fence(self.secret, position, event.material_from or "another role", material)
            conversation.add(position, Kind.MATERIAL, Message("user", fenced))
        for pinned_at, text in self._pins:
            conversation.add(pinned_at, Kind.PINNED, Message("user", text))
        self._by_branch[event.branch] = conversation
        self._summaries.pop(event.branch, None)
        self._notes_of_model.pop(event.branch, None)
        if hears_people(event.branch, event.purpose):
            for unheard in self._unheard:
                conversation.hear(*unheard)
            self._unheard.clear()

    def _told(self, recorded: Recorded, event: Told) -> None:
        position, material = recorded.position, event.material
        fenced = "\n" + fence(self.secret, position, event.sender, material) if material else ""
        if event.branch in self._by_branch:
            self._by_branch[event.branch].hear(position, event.body + fenced)

    def _said(self, recorded: Recorded, event: Said) -> None:
        self._hear(recorded.position, event.text, Kind.PINNED if event.pinned else Kind.SAID)

    def _recalled(self, recorded: Recorded, event: MemoryRecalled) -> None:
        if event.entries and event.branch in self._by_branch:
            shown = fence(self.secret, recorded.position, "memory", recalled_text(event.entries))
            self._by_branch[event.branch].hear(recorded.position, shown, Kind.RECALLED)

    def _written(self, _recorded: Recorded, event: ReportWritten) -> None:
        self.report = event.report

    def _started(self, _recorded: Recorded, event: RunStarted) -> None:
        self.secret, self._material = event.secret, event.material
        self._offer(event.tools)

    def _forked(self, _recorded: Recorded, event: RunForked) -> None:
        self.secret = event.secret

    def _tools_changed(self, _recorded: Recorded, event: ToolsChanged) -> None:
        self._offer(event.tools)

    def _tasks_shown(self, recorded: Recorded, event: TasksShown) -> None:
        shown = fence(self.secret, recorded.position, "background tasks", event.text)
        self._hear(recorded.position, f"{TASKS_SHOWN}\n{shown}", Kind.TASK, TASKS_KEY)

    def _message_received(self, recorded: Recorded, event: MessageReceived) -> None:
        said = fence(self.secret, recorded.position, event.sender, event.text)
        self._hear(recorded.position, f"A run of this conversation says:\n{said}", Kind.TOLD)

    def _note_begun(self, position: int, branch: str, event: ToolAnswered) -> None:
        """What outlives every compression: that a call began a background task, until it is told what became of it."""
        begun = event.outcome.task
        if begun is not None:
            self._begun_in[begun.id] = branch
            words = f"[The background task {begun.name!r} ({begun.id}) goes on; you will be told what becomes of it.]"
            self._by_branch[branch].hear(position, words, Kind.TASK, begun.id)

    def _reported(self, recorded: Recorded, event: TaskReported) -> None:
        """What became of a task is heard where it was begun, else by whoever hears people."""
        position = recorded.position
        shown = fence(self.secret, position, f"background task {event.name}", event.material)
        words = f"[The background task {event.name!r} ({event.task}) is {event.status}.]\n{shown}"
        branch = self._by_branch.get(self._begun_in.get(event.task, ""))
        if branch is not None:
            branch.hear(position, words, Kind.DELIVERED, event.task)
        else:
            self._hear(position, words, Kind.DELIVERED, event.task)

    def _hear(self, position: int, words: str, kind: Kind, key: str = "") -> None:
        """Let the conversations hear what is said to the run; what is said before there is one is heard by the first."""
        hearing = [
            conversation
            for branch, conversation in self._by_branch.items()
            if hears_people(branch, conversation.purpose)
        ]
        for conversation in hearing:
            conversation.hear(position, words, kind, key)
        if kind is Kind.PINNED:
            self._pins.append((position, words))
        elif not hearing:
            self._unheard.append((position, words, kind, key))

    def _offer(self, tools: Sequence[PinnedTool]) -> None:
        for tool in tools:
            self._tools[tool.name] = self.count((), (schema_of(tool),))
        for conversation in self._by_branch.values():
            conversation.tools_estimate = self._tokens_of(conversation.tools)

    def _tokens_of(self, tools: Sequence[str]) -> int:
        return sum(self._tools.get(name, 0) for name in tools)

    HEARS: ClassVar[Hears] = {
        ModelRequested: _requested,
        ModelAnswered: _answered,
        ModelFailed: _failed,
        ToolAnswered: _observed,
        BranchOpened: _opened,
        ContextFolded: _folded,
        ContextSummarised: _summarised,
        ContextCrowded: _crowded,
        Told: _told,
        Said: _said,
        MemoryRecalled: _recalled,
        ReportWritten: _written,
        RunStarted: _started,
        RunForked: _forked,
        ToolsChanged: _tools_changed,
        TasksShown: _tasks_shown,
        TaskReported: _reported,
        MessageReceived: _message_received,
    }


def report_as_text(report: Report) -> str:
    """A report as the model that reviews it sees it: one JSON object."""
    return json.dumps(asdict(report), ensure_ascii=False, separators=(",", ":"))
