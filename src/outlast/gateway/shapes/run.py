"""A run, as `outlast show --json` prints it."""

from __future__ import annotations

from typing import Literal

from outlast.domain.states import State
from outlast.gateway.shapes.report import ReportDocument
from outlast.gateway.shapes.shape import Shape


class PlannedSubtask(Shape):
    """A subtask as it was planned."""

    id: str
    question: str
    done_when: str
    depends_on: list[str]


class RunConclusion(Shape):
    """What a subtask found, with the keys of the sources it rests on; confidence from 0 to 1."""

    id: str
    claim: str
    sources: list[str]
    quote: str
    confidence: float


class WorkedSubtask(Shape):
    """How far a subtask is."""

    id: str
    state: str
    rounds: int
    remarks: list[str]
    conclusions: list[RunConclusion]
    open_questions: list[str]


class RunError(Shape):
    """Why a run failed, and what to do."""

    code: str
    detail: str
    next: str


class ListedRun(Shape):
    """A run without its plan and report."""

    run_id: str
    thread_id: str
    task: str
    state: State
    outcome: Literal["full", "partial"] | None
    input: str
    subtasks: list[WorkedSubtask]
    steps: int
    tokens: int
    cost_usd: float
    started_at: str
    ended_at: str | None
    waiting_for: list[str]
    error: RunError | None


class RunLimits(Shape):
    """The limits of a run as they stand; null where there is none."""

    max_steps: int
    max_wall_seconds: float
    max_tokens_total: int | None
    max_cost_usd: float | None
    max_replans: int


class Spending(Shape):
    """What was used: model calls, tokens and money, and the time that models and tools took."""

    steps: int
    tokens: int
    cost_usd: float
    duration_ms: int


class RoleSpending(Spending):
    """What one role used."""

    role: str


class SubtaskSpending(Spending):
    """What was used for one subtask; null stands for what belongs to none, like planning and the report."""

    subtask: str | None


class RunSpending(Shape):
    """What a run used, each time the same sums in other parts. A fork counts from where it was forked."""

    by_role: list[RoleSpending]
    by_subtask: list[SubtaskSpending]


class RunDocument(ListedRun):
    """A run. A research run ends with a `report`, a chat with an `answer`."""

    spent: RunSpending
    limits: RunLimits
    plan: list[PlannedSubtask]
    answer: str | None
    report: ReportDocument | None


class RunList(Shape):
    """Runs, newest first."""

    runs: list[ListedRun]
