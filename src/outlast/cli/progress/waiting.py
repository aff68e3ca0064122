"""What a run waits for, told with the commands to type."""

from __future__ import annotations

import json
from collections.abc import Iterator

from outlast.cli.phrases import Line
from outlast.cli.printing import one_line
from outlast.cli.progress.board import Board


def waits_for(board: Board) -> Iterator[str]:
    """What the run waits for and the command for each, a line each."""
    for name, line in board.tickets.items():
        yield f"approval {name}: {subject_of(line)}"
        yield from (f"    {shown}" for shown in shown_by(line))
        yield f"  outlast approve {board.run_id} --ticket {name}"
        yield f"  outlast reject {board.run_id} --ticket {name} --comment TEXT"
    for name, line in board.questions.items():
        yield f"answer: {one_line(line['data']['text'])}"
        which = f" --question {name}" if len(board.questions) > 1 else ""
        yield f"  outlast answer {board.run_id} TEXT{which}"


def subject_of(line: Line) -> str:
    """What is to be approved: a tool by its name, a transition or a point as the task calls it."""
    subject: str = line["data"]["subject"]
    return f"call of {line['tool']}" if line["tool"] else subject.partition("@")[0]


def shown_by(line: Line) -> Iterator[str]:
    """What the ticket is bound to, in full."""
    shown = line["data"]["shown"]
    text = json.dumps(shown, ensure_ascii=False, indent=2)
    yield from text.splitlines()
