"""What a board of a run shows, folded from its trace lines."""

from __future__ import annotations

from dataclasses import field
from typing import Any

from outlast.cli.phrases import Line, call_of, counted, dollars
from outlast.domain.dataclass import dataclass
from outlast.domain.task import Limits


@dataclass(slots=True)
class Piece:
    """A subtask of the plan: how far it is, and the last thing said of it."""

    question: str
    progress: str = "open"
    note: str = ""


@dataclass(slots=True)
class Board:
    """Where a run stands.

    `calls` are the calls in flight by their ids: whose they are, and what is done. `tickets` and `questions` are the open ones,
    by their ids, each as the line that asked. `trouble` is what a model's endpoint said when it last failed, until one answers.
    """

    run_id: str
    task: str = ""
    state: str = "INIT"
    outcome: str | None = None
    steps: int = 0
    max_steps: int | None = None
    tokens: int = 0
    cost_usd: float = 0.0
    plan: dict[str, Piece] = field(default_factory=dict)
    calls: dict[str, tuple[str | None, str]] = field(default_factory=dict)
    tickets: dict[str, Line] = field(default_factory=dict)
    questions: dict[str, Line] = field(default_factory=dict)
    trouble: str = ""
    position: int = 0

    def take(self, line: Line) -> None:
        """Read one more line."""
        self.position, self.state = line["seq"], line["state"]
        self.steps = max(self.steps, line["step"] or 0)
        self.tokens += line["tokens"] or 0
        self.cost_usd += line["cost_usd"] or 0.0
        read = _READERS.get(line["kind"])
        if read is not None:
            read(self, line, line["data"])

    def totals(self) -> str:
        """What the run has used up, in words."""
        bound = f" of {self.max_steps}" if self.max_steps is not None else ""
        money = f" · {dollars(self.cost_usd)}" if self.cost_usd else ""
        return f"{counted(self.steps, 'step')}{bound} · {counted(self.tokens, 'token')}{money}"

    def doing(self, subtask: str | None) -> str:
        """What is being done for a subtask (None: for the run as a whole), in words."""
        return ", ".join(dict.fromkeys(what for whose, what in self.calls.values() if whose == subtask))


def _started(board: Board, line: Line, data: dict[str, Any]) -> None:
    definition = data["definition"]
    limits = definition.get("limits", {})
    board.task, board.max_steps = definition["name"], limits.get("max_steps", Limits().max_steps)


def _no_calls(board: Board, line: Line, data: dict[str, Any]) -> None:
    board.calls.clear()


def _entered(board: Board, line: Line, data: dict[str, Any]) -> None:
    board.outcome = data.get("outcome")


def _limits(board: Board, line: Line, data: dict[str, Any]) -> None:
    board.max_steps = data["changes"].get("max_steps", board.max_steps)


def _planned(board: Board, line: Line, data: dict[str, Any]) -> None:
    board.plan = {one["id"]: Piece(one["question"]) for one in data["subtasks"]}


def _asked_model(board: Board, line: Line, data: dict[str, Any]) -> None:
    board.calls[data["call"]] = (line["subtask"], f"{line['role'] or 'model'} thinks")


def _asked_tool(board: Board, line: Line, data: dict[str, Any]) -> None:
    board.calls[data["call"]] = (line["subtask"], call_of(line["tool"] or "", line["arguments"]))


def _came_back(board: Board, line: Line, data: dict[str, Any]) -> None:
    board.calls.pop(data["call"], None)


def _model_answered(board: Board, line: Line, data: dict[str, Any]) -> None:
    board.trouble = ""
    _came_back(board, line, data)


def _model_failed(board: Board, line: Line, data: dict[str, Any]) -> None:
    board.trouble = data["detail"]
    _came_back(board, line, data)


def _began(board: Board, line: Line, data: dict[str, Any]) -> None:
    _mark(board, data, "working", "")


def _concluded(board: Board, line: Line, data: dict[str, Any]) -> None:
    _mark(board, data, "concluded", counted(len(data["conclusions"]), "finding"))


def _reviewed(board: Board, line: Line, data: dict[str, Any]) -> None:
    accepted = data["verdict"] != "revise"
    piece = board.plan.get(data["subtask"])
    note = piece.note if piece is not None and accepted else "sent back by the reviewer"
    _mark(board, data, "accepted" if accepted else "working", note)


def _dropped(board: Board, line: Line, data: dict[str, Any]) -> None:
    _mark(board, data, "dropped", f"given up: {data['reason']}")


def _mark(board: Board, data: dict[str, Any], progress: str, note: str) -> None:
    piece = board.plan.get(data["subtask"])
    if piece is not None:
        piece.progress, piece.note = progress, note


def _ticket(board: Board, line: Line, data: dict[str, Any]) -> None:
    board.tickets[data["ticket"]] = line


def _decided(board: Board, line: Line, data: dict[str, Any]) -> None:
    board.tickets.pop(data["ticket"], None)


def _question(board: Board, line: Line, data: dict[str, Any]) -> None:
    board.questions[data["question"]] = line


def _answered(board: Board, line: Line, data: dict[str, Any]) -> None:
    board.questions.pop(data["question"], None)


_READERS = {
    "RunStarted": _started,
    "RunClaimed": _no_calls,
    "RunReleased": _no_calls,
    "StateEntered": _entered,
    "LimitsChanged": _limits,
    "PlanMade": _planned,
    "ModelRequested": _asked_model,
    "ModelAnswered": _model_answered,
    "ModelFailed": _model_failed,
    "ToolRequested": _asked_tool,
    "ToolAnswered": _came_back,
    "ToolUnsettled": _came_back,
    "SubtaskStarted": _began,
    "SubtaskConcluded": _concluded,
    "SubtaskReviewed": _reviewed,
    "SubtaskDropped": _dropped,
    "ApprovalAsked": _ticket,
    "Approved": _decided,
    "Rejected": _decided,
    "TicketExpired": _decided,
    "TicketVoided": _decided,
    "QuestionAsked": _question,
    "Answered": _answered,
}
