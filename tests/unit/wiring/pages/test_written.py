"""The pages that are made from the code say what the code says now."""

from dataclasses import fields
from pathlib import Path

import pytest

from outlast.domain.events import KINDS
from outlast.domain.states import TRANSITIONS, State
from outlast.wiring.pages import events, states, tools
from outlast.wiring.pages.__main__ import write_pages
from outlast.wiring.pages.written import PAGES
from tests.law import law

REFERENCE = Path(__file__).parents[4] / "docs" / "reference"


@pytest.mark.parametrize("name", PAGES)
def test_page_is_current(name: str) -> None:
    assert (REFERENCE / name).read_text("utf-8") == PAGES[name](), "run `just docs`"


def test_every_page_is_written(tmp_path: Path) -> None:
    write_pages(tmp_path / "reference")
    assert {path.name for path in (tmp_path / "reference").iterdir()} == set(PAGES)


@law("RUN-1.g")
def test_every_state_is_told_with_when_it_is_entered_what_is_done_and_when_it_is_left() -> None:
    meanings = [
        line for line in states.page().splitlines() if line.startswith("| `") and line.count("|") == 5
    ]
    assert [line.split("`")[1] for line in meanings] == [state.value for state in State]


@law("RUN-1.b", "RUN-1.c")
def test_every_transition_stands_in_the_table() -> None:
    table = states.page().partition("## Transitions")[2]
    for source, targets in TRANSITIONS.items():
        row = next(line for line in table.splitlines() if line.startswith(f"| `{source}` |"))
        assert set(row.split("`")[3::2]) == {target.value for target in targets}


def test_every_kind_of_event_is_told_with_every_field_once() -> None:
    page = events.page()
    for name, kind in KINDS.items():
        section = page.split(f"\n### {name}\n")
        assert len(section) == 2
        told = section[1].partition("\n### ")[0].partition("\n## ")[0]
        assert all(f"| `{made.name}` |" in told for made in fields(kind))


def test_every_built_in_tool_is_told_with_its_schema() -> None:
    page = tools.page()
    assert all(f"\n## {name}\n" in page for name in ("web_search", "write_report", "ask_human"))
    assert page.count("```json") >= page.count("\n## ")
