"""Every error code has a heading in the reference, and every heading is of a code there is."""

from tests.architecture.error_codes import (
    MADE_OF_PARTS,
    codes_in,
    headings_in,
    spellings_in,
    without_next_step,
)
from tests.architecture.source import ROOT, Module, modules

PAGE = ROOT / "docs/reference/errors.md"


def test_every_code_has_one_heading_and_every_heading_a_code() -> None:
    headings, codes = headings_in(PAGE.read_text("utf-8")), codes_in(modules("src"))
    assert len(headings) == len(set(headings))
    assert sorted(codes - set(headings)) == [], f"write a heading for these in {PAGE.name}"
    assert sorted(set(headings) - codes) == [], f"take these out of {PAGE.name}: no code raises them"


def test_every_code_says_what_happened_why_and_what_to_do() -> None:
    sections = PAGE.read_text("utf-8").split("\n### ")[1:]
    assert not [
        section.partition("\n")[0]
        for section in sections
        if not all(f"\n- {part}: " in section for part in ("What", "Why", "Do"))
    ]


def test_codes_put_together_are_all_known_and_none_is_left_over() -> None:
    assert spellings_in(modules("src")) == set(MADE_OF_PARTS)


def test_codes_are_found_wherever_they_are_written() -> None:
    text = (
        'class Lost(Broken): ...\nLost("one_a", "d")\nraise errors.Lost("one_b", "d")\n'
        'fail(state, "two", "d", "n")\nStateEntered(a, b, code="three")\nToolError("four" if x else code, "d")\n'
        'self.code = "five"\nRecord("not_a_code")\n'
    )
    tree = "class OutlastError(Exception): ...\nclass Broken(OutlastError): ...\n"
    found = codes_in([Module("src/outlast/x.py", text), Module("src/outlast/domain/errors.py", tree)])
    assert found >= {"one_a", "one_b", "two", "three", "four", "five"}
    assert "not_a_code" not in found


def test_code_put_together_anew_is_reported_by_its_spelling() -> None:
    text = 'class Lost(OutlastError): ...\nLost(f"no_{what}", "d")\n'
    assert "unknown:f'no_{what}'" in codes_in([Module("src/outlast/x.py", text)])


def test_every_error_says_what_to_do_next() -> None:
    assert without_next_step(modules("src")) == []


def test_an_error_without_a_next_step_is_found() -> None:
    tree = Module(
        "src/outlast/domain/errors.py",
        "class OutlastError(Exception): ...\nclass Broken(OutlastError): ...\n",
    )
    text = 'Broken("a", "d")\nBroken("a", "d", "")\nBroken("a", "d", "n")\nBroken("a", "d", next_step="n")\nBroken(*told)\n'
    assert without_next_step([tree, Module("src/outlast/x.py", text)]) == [
        "src/outlast/x.py:1",
        "src/outlast/x.py:2",
    ]
