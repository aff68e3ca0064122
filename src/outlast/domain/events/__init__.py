"""Everything that can happen in a run, in past tense.

An event is appended to the run's journal in the same commit as the state it causes. Its kind is the name of its class; once
released, a kind and its fields are readable for ever: change one by raising VERSION and teaching journal/upcast.py.

    machine events    appended by the worker that holds the run's lease
      Lifecycle         RunStarted RunClaimed RunReleased RunForked ToolsChanged StateEntered LimitReached
                        FoldDiverged
      Conversation      BranchOpened Told TasksShown ContextFolded ContextSummarised ContextCrowded
                        ModelRequested ModelAnswered ModelFailed
      Recall            RecallRequested MemoryRecalled RecallFailed
      Tooling           ToolRequested ToolAnswered ToolUnsettled LoopNoticed HookRequested HookRan
      Planning          PlanMade PlanRefused SubtaskStarted SubtaskConcluded SubtaskReviewed SubtaskDropped ReportWritten ValueSet
      Asking            ApprovalAsked TicketExpired TicketVoided QuestionAsked
      Shadowing         ShadowCompared (by the worker that made the comparison, also when it holds the lease no more)
    signals           appended by anyone who may
      Signal            PauseRequested ResumeRequested CancelRequested Said Approved Rejected Answered LimitsChanged
                        EndAwaited MessageSent MessageReceived TaskReported

May import: `domain`.
To add one: a dataclass in the file of its family, its name in the family's union here, one `apply` case.
"""

from __future__ import annotations

from datetime import datetime
from typing import Any, get_args

from outlast.domain.dataclass import dataclass
from outlast.domain.events.asking import ApprovalAsked, QuestionAsked, TicketExpired, TicketVoided
from outlast.domain.events.conversation import (
    BranchOpened,
    ContextCrowded,
    ContextFolded,
    ContextSummarised,
    ModelAnswered,
    ModelFailed,
    ModelRequested,
    TasksShown,
    Told,
)
from outlast.domain.events.event import Event
from outlast.domain.events.lifecycle import (
    FoldDiverged,
    LimitReached,
    Origin,
    PinnedTool,
    RunClaimed,
    RunForked,
    RunReleased,
    RunStarted,
    StateEntered,
    ToolsChanged,
    TurnTaken,
)
from outlast.domain.events.planning import (
    PlanMade,
    PlanRefused,
    ReportWritten,
    SubtaskConcluded,
    SubtaskDropped,
    SubtaskReviewed,
    SubtaskStarted,
    ValueSet,
)
from outlast.domain.events.recall import MemoryRecalled, RecallFailed, RecallRequested
from outlast.domain.events.shadowing import ShadowCompared
from outlast.domain.events.signals import (
    Answered,
    Approved,
    CancelRequested,
    EndAwaited,
    LimitsChanged,
    MessageReceived,
    MessageSent,
    PauseRequested,
    Rejected,
    ResumeRequested,
    Said,
    TaskReported,
)
from outlast.domain.events.tooling import (
    HookRan,
    HookRequested,
    LoopNoticed,
    ToolAnswered,
    ToolRequested,
    ToolUnsettled,
)
from outlast.domain.quick import quick

__all__ = [
    "KINDS",
    "Answered",
    "AnyEvent",
    "ApprovalAsked",
    "Approved",
    "Asking",
    "BranchOpened",
    "CancelRequested",
    "ContextCrowded",
    "ContextFolded",
    "ContextSummarised",
    "Conversation",
    "EndAwaited",
    "Event",
    "FoldDiverged",
    "HookRan",
    "HookRequested",
    "Lifecycle",
    "LimitReached",
    "LimitsChanged",
    "LoopNoticed",
    "MemoryRecalled",
    "MessageReceived",
    "MessageSent",
    "ModelAnswered",
    "ModelFailed",
    "ModelRequested",
    "Origin",
    "PauseRequested",
    "PinnedTool",
    "PlanMade",
    "PlanRefused",
    "Planning",
    "QuestionAsked",
    "Recall",
    "RecallFailed",
    "RecallRequested",
    "Recorded",
    "Rejected",
    "ReportWritten",
    "ResumeRequested",
    "RunClaimed",
    "RunForked",
    "RunReleased",
    "RunStarted",
    "Said",
    "ShadowCompared",
    "Shadowing",
    "Signal",
    "StateEntered",
    "SubtaskConcluded",
    "SubtaskDropped",
    "SubtaskReviewed",
    "SubtaskStarted",
    "TaskReported",
    "TasksShown",
    "TicketExpired",
    "TicketVoided",
    "Told",
    "ToolAnswered",
    "ToolRequested",
    "ToolUnsettled",
    "Tooling",
    "ToolsChanged",
    "TurnTaken",
    "ValueSet",
]

Lifecycle = (
    RunStarted
    | RunClaimed
    | RunReleased
    | RunForked
    | TurnTaken
    | ToolsChanged
    | StateEntered
    | LimitReached
    | FoldDiverged
)
Conversation = (
    BranchOpened
    | Told
    | TasksShown
    | ContextFolded
    | ContextSummarised
    | ContextCrowded
    | ModelRequested
    | ModelAnswered
    | ModelFailed
)
Recall = RecallRequested | MemoryRecalled | RecallFailed
Tooling = ToolRequested | ToolAnswered | ToolUnsettled | LoopNoticed | HookRequested | HookRan
Planning = (
    PlanMade
    | PlanRefused
    | SubtaskStarted
    | SubtaskConcluded
    | SubtaskReviewed
    | SubtaskDropped
    | ReportWritten
    | ValueSet
)
Asking = ApprovalAsked | TicketExpired | TicketVoided | QuestionAsked
Shadowing = ShadowCompared
Signal = (
    PauseRequested
    | ResumeRequested
    | CancelRequested
    | Said
    | Approved
    | Rejected
    | Answered
    | LimitsChanged
    | EndAwaited
    | MessageSent
    | MessageReceived
    | TaskReported
)
AnyEvent = Lifecycle | Conversation | Recall | Tooling | Planning | Asking | Shadowing | Signal

KINDS: dict[str, type[Any]] = {kind.__name__: kind for kind in get_args(AnyEvent)}
"""Every kind of event by name."""


@quick
@dataclass(frozen=True, slots=True)
class Recorded:
    """An event in its place: the position in the run's journal (from 1) and the store's time, aware UTC."""

    position: int
    at: datetime
    event: AnyEvent
