"""Progress on a terminal: a board that changes in place and stays on the screen in the end."""

from __future__ import annotations

import time
from typing import Final

from rich.cells import cell_len
from rich.console import Console, Group, RenderableType
from rich.live import Live
from rich.table import Table
from rich.text import Text

from outlast.cli.phrases import Line
from outlast.cli.printing import one_line, visible
from outlast.cli.progress.board import Board, Piece

FRAME_SECONDS: Final = 0.1

_SPINNER: Final = "⠋⠙⠹⠸⠼⠴⠦⠧⠇⠏"
_MARKS: Final = {
    "open": ("·", "dim"),
    "concluded": ("?", "cyan"),
    "accepted": ("✓", "green"),
    "dropped": ("✗", "red"),
}
_STATES: Final = {
    "COMPLETED": "bold green",
    "FAILED": "bold red",
    "CANCELLED": "bold red",
    "WAITING": "bold yellow",
}


class Terminal:
    """The board of a run, drawn in place on stderr."""

    def __init__(self, board: Board, console: Console | None = None) -> None:
        self.board = board
        self._console = console or Console(stderr=True, highlight=False)
        self._live: Live | None = None
        self._began_at = time.monotonic()
        self._drawn_at = 0.0

    def begin(self, position: int) -> None:
        """Draw the board and keep it up to date."""
        if self._live is None:
            self._live = Live(self._drawn(), console=self._console, auto_refresh=False)
            self._live.start()

    def take(self, line: Line) -> None:
        """Fold the line; draw it when the last frame is old enough."""
        self.board.take(line)
        if time.monotonic() - self._drawn_at > FRAME_SECONDS:
            self.tick()

    def tick(self) -> None:
        """Draw a frame."""
        if self._live is not None:
            self._drawn_at = time.monotonic()
            self._live.update(self._drawn(), refresh=True)

    def say(self, text: str) -> None:
        """Print above the board."""
        self._console.print(Text(visible(text)), soft_wrap=True)

    def end(self) -> None:
        """Leave the last frame."""
        if self._live is not None:
            self.tick()
            self._live.stop()
            self._live = None

    def _drawn(self) -> RenderableType:
        board = self.board
        parts: list[RenderableType] = [self._heading()]
        if board.plan:
            parts.append(self._plan())
        general = board.doing(None)
        if general:
            parts.append(
                Text(
                    f"  {self._spinner()} {one_line(general)}",
                    style="cyan",
                    no_wrap=True,
                    overflow="ellipsis",
                )
            )
        elapsed = round(time.monotonic() - self._began_at)
        totals = f"  {board.totals()} · {elapsed // 60}:{elapsed % 60:02}"
        return Group(*parts, Text(totals, style="dim", no_wrap=True, overflow="ellipsis"))

    def _heading(self) -> Text:
        board = self.board
        heading = Text(no_wrap=True, overflow="ellipsis")
        heading.append(board.state, style=_STATES.get(board.state, "bold cyan"))
        if board.outcome:
            heading.append(f" {board.outcome}")
        heading.append(f"  {one_line(board.task)}  {board.run_id}")
        return heading

    def _plan(self) -> Table:
        names = max(cell_len(name) for name in self.board.plan)
        table = Table.grid(padding=(0, 1), expand=True)
        table.add_column(width=3, no_wrap=True)
        table.add_column(width=min(names, 12), no_wrap=True, overflow="ellipsis", style="dim")
        table.add_column(ratio=3, no_wrap=True, overflow="ellipsis")
        table.add_column(ratio=2, no_wrap=True, overflow="ellipsis")
        for name, piece in self.board.plan.items():
            doing = self.board.doing(name)
            mark, style = self._mark(piece)
            said = Text(one_line(doing or piece.note), style="cyan" if doing else "dim")
            table.add_row(Text(f"  {mark}", style=style), name, Text(one_line(piece.question)), said)
        return table

    def _mark(self, piece: Piece) -> tuple[str, str]:
        return _MARKS.get(piece.progress) or (self._spinner(), "cyan")

    def _spinner(self) -> str:
        return _SPINNER[int(time.monotonic() / FRAME_SECONDS) % len(_SPINNER)]
