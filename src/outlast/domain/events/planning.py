"""Events of planning and of results."""

from __future__ import annotations

from outlast.domain.dataclass import dataclass
from outlast.domain.door import Json
from outlast.domain.events.event import Event
from outlast.domain.plan import Conclusion, Subtask, Verdict
from outlast.domain.report import Report


@dataclass(frozen=True, slots=True)
class PlanMade(Event):
    """A plan was adopted. Revision 1 is the first."""

    revision: int
    subtasks: tuple[Subtask, ...]


@dataclass(frozen=True, slots=True)
class PlanRefused(Event):
    """A plan will not do: `by` whom and why. `is_repeat` marks one equal to a plan refused before."""

    by: str
    reasons: tuple[str, ...]
    digest: str
    is_repeat: bool = False


@dataclass(frozen=True, slots=True)
class SubtaskStarted(Event):
    """Work on a subtask began."""

    subtask: str


@dataclass(frozen=True, slots=True)
class SubtaskConcluded(Event):
    """A subtask has conclusions and questions it leaves open."""

    subtask: str
    conclusions: tuple[Conclusion, ...]
    open_questions: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class SubtaskReviewed(Event):
    """A reviewer (or the lack of one) judged a subtask."""

    subtask: str
    verdict: Verdict
    reasons: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class SubtaskDropped(Event):
    """A subtask is given up; what it concluded so far is kept."""

    subtask: str
    reason: str


@dataclass(frozen=True, slots=True)
class ReportWritten(Event):
    """The run's report, checked against its ledger. `dropped` names claims that had no support."""

    report: Report
    by: str
    digest: str
    dropped: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class ValueSet(Event):
    """A workflow set a value of its own."""

    name: str
    value: Json
