"""What the guides show works as it is written, offline."""

import re
import shutil
from pathlib import Path

import pytest

from tests.e2e.guides import ROOT, blocks_in, carry_out, run_line, verbs_in

PAGES = sorted(
    path.relative_to(ROOT).as_posix()
    for part in ("start", "guides")
    for path in (ROOT / "docs" / part).glob("*.md")
)
VERBS = {path.stem for path in (ROOT / "src/outlast/cli/commands").glob("[a-z]*.py")}


@pytest.mark.parametrize("page", PAGES)
def test_guide_works_as_it_is_written(page: str, tmp_path: Path) -> None:
    assert carry_out((ROOT / page).read_text("utf-8"), tmp_path)


@pytest.mark.parametrize("page", [*PAGES, "README.md", "AGENTS.md"])
def test_commands_that_are_shown_exist(page: str) -> None:
    assert set(verbs_in((ROOT / page).read_text("utf-8"))) <= VERBS


def test_readme_shows_what_its_first_command_prints(tmp_path: Path) -> None:
    page = (ROOT / "README.md").read_text("utf-8")
    shutil.copytree(ROOT / "examples", tmp_path / "examples", ignore=shutil.ignore_patterns(".outlast"))
    command = page.partition("```sh\n")[2].partition("\n```")[0].rpartition("/bin/")[2]
    printed = masked(run_line(command, tmp_path))
    shown = [
        line for block in blocks_in(page) if block.language == "text" for line in block.text.splitlines()
    ]
    assert [line for line in shown if masked(line).strip() not in printed] == []


def masked(text: str) -> str:
    """The text without step numbers, which depend on who of two subtasks is faster."""
    return re.sub(r"step \d+", "step N", text)


def test_block_says_its_file_and_exit_code() -> None:
    first, second = blocks_in("```yaml title=a/b.yaml\nx: 1\n```\n\n```sh exit=3\noutlast run\n```\n")
    assert (first.file, first.text) == ("a/b.yaml", "x: 1\n")
    assert (second.file, second.exit_code) == (None, 3)


def test_wrong_exit_code_and_missing_output_are_refused(tmp_path: Path) -> None:
    with pytest.raises(AssertionError, match=re.escape("ended with 3")):
        carry_out("```python\nraise SystemExit(3)\n```\n", tmp_path)
    with pytest.raises(AssertionError, match="not shown"):
        carry_out("```python\nprint('a')\n```\n\n```text\nb\n```\n", tmp_path)
