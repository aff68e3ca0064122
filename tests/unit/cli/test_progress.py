"""The board of a run, drawn for narrow and wide terminals, and the lines of a log."""

import io

import pytest
from rich.console import Console

from outlast.cli.progress.board import Board
from outlast.cli.progress.lines import Lines
from outlast.cli.progress.terminal import Terminal
from tests.unit.cli.test_phrases import line

SUBTASKS = [
    {"id": "s1", "question": "What do tidal lagoons cost and how sure is that?"},
    {"id": "s2", "question": "可靠性如何？"},
]


def told() -> list[dict[str, object]]:
    asked = {"tool": "web_search", "arguments": {"query": "cost of lagoons"}, "subtask": "s1", "step": 2}
    lines = [
        line("RunStarted", definition={"name": "brief"}, input="?"),
        line("PlanMade", revision=1, subtasks=SUBTASKS),
        line("SubtaskStarted", subtask="s1"),
        line("ModelAnswered", call="m1", text="") | {"tokens": 1200},
        line("ToolRequested", call="c1") | asked,
        line("SubtaskConcluded", subtask="s2", conclusions=[{}, {}]),
        line("SubtaskReviewed", subtask="s2", verdict="accept"),
    ]
    return [one | {"seq": at} for at, one in enumerate(lines, start=1)]


@pytest.mark.parametrize("columns", [40, 80, 160])
def test_the_board_fits_the_terminal_and_shows_what_is_being_done(columns: int) -> None:
    console = Console(file=io.StringIO(), width=columns, force_terminal=True, color_system=None)
    terminal = Terminal(Board("r-1"), console)
    for one in told():
        terminal.take(one)
    with console.capture() as captured:
        terminal.say("beside")
        console.print(terminal._drawn())
    drawn = captured.get()
    assert all(console.measure(text).maximum <= columns for text in drawn.splitlines())
    assert "s1 What do" in drawn
    assert "✓ s2" in drawn
    assert "web_sea" in drawn
    assert "2 steps of 30" in drawn
    if columns >= 80:
        assert "1,200 tokens" in drawn
        assert "2 findings" in drawn


def test_a_log_has_plain_lines_of_what_is_new(capsys: pytest.CaptureFixture[str]) -> None:
    lines = Lines(Board("r-1"))
    lines.begin(2)
    for one in told():
        lines.take(one)
    lines.end()
    logged = capsys.readouterr().err.splitlines()
    assert [text[10:] for text in logged[:-1]] == [
        's1  web_search "cost of lagoons"',
        "s2 concluded: 2 findings",
        "s2 accepted",
    ]
    assert logged[-1] == "INIT: 2 steps of 30 · 1,200 tokens"
