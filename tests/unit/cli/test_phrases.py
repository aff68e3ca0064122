"""Every event has words of its own, and none of them can command a terminal."""

import pytest

from outlast.cli.phrases import KNOWN_KINDS, call_of, counted, phrase
from outlast.cli.printing import visible
from outlast.cli.tables import aligned, cut, padded
from outlast.domain.events import KINDS


def line(kind: str, **data: object) -> dict[str, object]:
    empty = dict.fromkeys(
        ("subtask", "role", "tool", "arguments", "result", "error", "step", "tokens", "cost_usd")
    )
    return {"seq": 1, "at": "2026-01-01T00:00:00+00:00", "kind": kind, "state": "INIT", **empty, "data": data}


def test_every_kind_of_event_has_words_of_its_own() -> None:
    assert set(KINDS) == KNOWN_KINDS


@pytest.mark.parametrize(
    ("told", "words"),
    [
        (line("StateEntered", source="INIT", target="PLANNING", reason="begin"), "INIT -> PLANNING: begin"),
        (line("StateEntered", source="A", target="FAILED", code="x", detail="y"), "A -> FAILED: x: y"),
        (line("ModelAnswered", text="", tool_calls=[{"name": "f"}, {"name": "f"}]), "wants f x2"),
        (line("SubtaskConcluded", subtask="s1", conclusions=[{}]), "s1 concluded: 1 finding"),
        (line("CancelRequested", by="local"), "local cancels"),
        (line("SomethingLater", a=1), "a=1"),
    ],
)
def test_events_are_told_in_words(told: dict[str, object], words: str) -> None:
    assert phrase(told) == words


def test_a_call_is_told_by_its_first_text() -> None:
    assert call_of("web_search", {"limit": 3, "query": "潮汐"}) == 'web_search "潮汐"'
    assert call_of("read", {"offset": 3}) == "read offset=3"
    assert call_of("now", None) == "now"
    assert (counted(1, "step"), counted(1200, "step")) == ("1 step", "1,200 steps")


def test_nothing_printed_can_command_a_terminal() -> None:
    hostile = "a\x1b[2Jb\x9b0mc\u202ed\x07\r"
    assert visible(hostile) == "a\ufffd[2Jb\ufffd0mc\ufffdd\ufffd\ufffd"
    assert visible("two\r\nlines\tand 你好") == "two\nlines\tand 你好"
    assert "\x1b" not in phrase(line("Said", by="x", text=hostile))


def test_columns_are_aligned_also_with_wide_characters(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", "40")
    assert cut("潮汐潟湖", 5) == "潮汐…"
    assert padded("潮", 4) == "潮  "
    rows = aligned([("潮汐", "x"), ("ab", "y" * 80)], ("ONE", "TWO"))
    assert rows[0] == "ONE   TWO"
    assert rows[1] == "潮汐  x"
    assert rows[2] == "ab    " + "y" * 33 + "…"
