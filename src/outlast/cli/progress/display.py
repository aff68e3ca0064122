"""How progress is shown: in place on a terminal, in lines elsewhere."""

from __future__ import annotations

import sys
from typing import Protocol

from outlast.cli.phrases import Line
from outlast.cli.progress.board import Board
from outlast.cli.progress.lines import Lines
from outlast.cli.progress.terminal import Terminal


class Display(Protocol):
    """Shows how a run goes on. Lines up to the position given to `begin` are known already and only counted."""

    board: Board

    def begin(self, position: int) -> None:
        """Show progress from now on."""
        ...

    def take(self, line: Line) -> None:
        """Something happened."""
        ...

    def tick(self) -> None:
        """Time has passed."""
        ...

    def say(self, text: str) -> None:
        """Tell the person something beside the progress."""
        ...

    def end(self) -> None:
        """Leave the last state on the screen. Safe to call twice; `begin` may follow."""
        ...


def display_for(run_id: str) -> Display:
    """The display that fits stderr."""
    return Terminal(Board(run_id)) if sys.stderr.isatty() else Lines(Board(run_id))
