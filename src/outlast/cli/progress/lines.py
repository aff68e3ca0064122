"""Progress as plain lines, for log files and pipes: what a person would want to know, one line each, no control codes."""

from __future__ import annotations

from datetime import datetime
from typing import Final

from outlast.cli.phrases import Line, phrase
from outlast.cli.printing import note
from outlast.cli.progress.board import Board
from outlast.cli.tables import cut

WORTH_TELLING: Final = frozenset(
    {
        "StateEntered",
        "LimitReached",
        "PlanRefused",
        "SubtaskConcluded",
        "SubtaskReviewed",
        "SubtaskDropped",
        "ReportWritten",
        "ToolRequested",
        "ToolUnsettled",
        "ModelFailed",
        "LoopNoticed",
        "ContextCrowded",
        "ApprovalAsked",
        "QuestionAsked",
        "PauseRequested",
        "CancelRequested",
        "ResumeRequested",
        "Said",
        "Approved",
        "Rejected",
        "Answered",
        "LimitsChanged",
    }
)
_COLUMNS: Final = 140


class Lines:
    """Writes a line for what is worth telling, with the time it happened."""

    def __init__(self, board: Board) -> None:
        self.board = board
        self._known = 0

    def begin(self, position: int) -> None:
        """Say which run this is; lines up to `position` are old."""
        if position <= 1:  # who goes on with an older run knows its name
            note(f"Run {self.board.run_id}")
        self._known = max(self._known, position)

    def take(self, line: Line) -> None:
        """Write the line, if it is new and worth it."""
        self.board.take(line)
        if line["seq"] > self._known:
            for text in _texts(line):
                at = datetime.fromisoformat(line["at"]).astimezone()
                note(f"{at:%H:%M:%S}  {cut(text, _COLUMNS)}")

    def tick(self) -> None:
        """Nothing moves in a log."""

    def say(self, text: str) -> None:
        """Write a line."""
        note(text)

    def end(self) -> None:
        """Write what was used up."""
        self._known = max(self._known, self.board.position)
        note(f"{self.board.state}: {self.board.totals()}")


def _texts(line: Line) -> list[str]:
    if line["kind"] == "PlanMade":
        subtasks = line["data"]["subtasks"]
        return [
            f"plan {line['data']['revision']}:",
            *(f"  {one['id']}  {one['question']}" for one in subtasks),
        ]
    if line["kind"] == "ToolAnswered":
        return [phrase(line)] if line["error"] else []
    if line["kind"] not in WORTH_TELLING:
        return []
    whose = f"{line['subtask']}  " if line["kind"] == "ToolRequested" and line["subtask"] else ""
    return [whose + phrase(line)]
