"""What a run waits for, asked of the person at the terminal."""

from __future__ import annotations

import sys
from collections.abc import Awaitable, Callable
from typing import Any, Final

from outlast.cli.edits import edit_in
from outlast.cli.phrases import Line
from outlast.cli.printing import note
from outlast.cli.progress.board import Board
from outlast.cli.progress.waiting import shown_by, subject_of
from outlast.domain.errors import CallerMistake
from outlast.domain.ids import LOCAL_USER
from outlast.service import signals
from outlast.wiring.engine import Engine

Decision = Callable[[Engine, str], Awaitable[object]]
"""What to do about one ticket or question, once the person has spoken."""

_HELP: Final = "y approves, n rejects, e changes the arguments, c rejects with a comment, q leaves it open."


def can_ask() -> bool:
    """Is a person there to ask: a terminal to read from and one to write to?"""
    return sys.stdin.isatty() and sys.stderr.isatty()


def ask_person(board: Board) -> Decision | None:
    """Ask about the oldest thing the run waits for; None when it is left open. Raises KeyboardInterrupt."""
    try:
        for name, line in board.tickets.items():
            return _asked_for_approval(name, line)
        for name, line in board.questions.items():
            return _asked_for_answer(name, line)
    except EOFError:
        note("")
    return None


def _asked_for_approval(name: str, line: Line) -> Decision | None:
    note(f"\nApproval {name}: {subject_of(line)}")
    for shown in shown_by(line):
        note(f"  {shown}")
    while True:
        said = _read("Approve? [y/n/e/c/q/?] ").strip().lower()
        if said in ("y", "yes"):
            return _approval(name, None)
        if said in ("n", "no"):
            return _rejection(name, "")
        if said == "c":
            return _rejection(name, _read("Comment: "))
        if said == "q":
            return None
        edit = _edited() if said == "e" else None
        if edit is not None:
            return _approval(name, edit)
        note(_HELP)


def _asked_for_answer(name: str, line: Line) -> Decision | None:
    data = line["data"]
    note(f"\nQuestion: {data['text']}")
    choices = data.get("choices") or ()
    for choice in choices:
        note(f"  - {choice}")
    text = _read("Answer: ")

    async def act(engine: Engine, run_id: str) -> object:
        return await signals.answer(engine.store, run_id, LOCAL_USER, text, name)

    return act if text.strip() else None


def _edited() -> dict[str, Any] | None:
    text = _read("Arguments as JSON: ")
    try:
        return edit_in(text)
    except CallerMistake as mistake:
        note(f"{mistake}")
        return None


def _approval(name: str, edit: dict[str, Any] | None) -> Decision:
    async def act(engine: Engine, run_id: str) -> object:
        check = engine.builder.problems_with_call
        return await signals.approve(engine.store, run_id, LOCAL_USER, name, edit, check)

    return act


def _rejection(name: str, comment: str) -> Decision:
    async def act(engine: Engine, run_id: str) -> object:
        return await signals.reject(engine.store, run_id, LOCAL_USER, name, comment)

    return act


def confirmed(question: str) -> bool:
    """Does the person at the terminal say yes?"""
    return _read(question).strip().lower() in ("y", "yes")


def _read(prompt: str) -> str:
    """A line the person types. The prompt goes to stderr: stdout is for data."""
    sys.stderr.write(prompt)
    sys.stderr.flush()
    line = sys.stdin.readline()
    if not line:
        raise EOFError
    return line.rstrip("\n")
