"""Completion in the shell, in the shell."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path

import pytest

from outlast.cli.listing import command_names
from tests.e2e.command_line import Home
from tests.law import law
from tests.patience import PATIENCE_SECONDS

BASH = shutil.which("bash")


@pytest.fixture
def script(home: Home) -> Path:
    printed = home.here("completion", "bash")
    assert printed.code == 0
    return home.write("outlast.bash", printed.out)


def completed(script: Path, *words: str) -> list[str]:
    """What bash offers for the last of these words."""
    typed = " ".join(f"'{word}'" for word in ("outlast", *words))
    lines = (
        f"source '{script}'",
        f"COMP_WORDS=({typed})",
        f"COMP_CWORD={len(words)}",
        '"$(complete -p outlast | sed "s/.*-F \\([^ ]*\\).*/\\1/")"',
        'printf "%s\\n" "${COMPREPLY[@]}"',
    )
    done = subprocess.run(
        [str(BASH), "--norc", "-c", "\n".join(lines)],
        capture_output=True,
        text=True,
        timeout=PATIENCE_SECONDS,
        check=True,
    )
    return sorted(line.strip() for line in done.stdout.splitlines() if line.strip())


@law("DOOR-3.e")
@pytest.mark.skipif(BASH is None, reason="there is no bash here")
def test_bash_completes_commands_options_and_what_an_option_takes(script: Path) -> None:
    assert completed(script, "") == command_names()
    assert completed(script, "sta") == ["stats"]
    assert completed(script, "tasks", "re") == ["redrive"]
    assert completed(script, "stats", "--to") == ["--tool"]
    assert "json" in completed(script, "report", "r-1", "--format", "")


@pytest.mark.parametrize("shell", ["zsh", "fish"])
def test_other_shells_are_told_of_every_command(home: Home, shell: str) -> None:
    printed = home.here("completion", shell)
    assert printed.code == 0
    assert all(name in printed.out for name in command_names())


def test_a_shell_that_is_not_known_is_refused_with_those_that_are(home: Home) -> None:
    refused = home.here("completion", "tcsh")
    assert refused.code == 2
    assert "bash" in refused.err
