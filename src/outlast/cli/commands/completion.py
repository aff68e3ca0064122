"""Print what makes a shell complete commands and options."""

from __future__ import annotations

from typing import Literal

from cyclopts import App

from outlast.cli.apps import app_of
from outlast.cli.exits import Exit
from outlast.cli.listing import command_names
from outlast.cli.printing import out

app = App(name="completion")


@app.default
def completion(shell: Literal["bash", "zsh", "fish"], /) -> int:
    """Print the completion of a shell: bash, zsh or fish.

    bash: `outlast completion bash > ~/.local/share/bash-completion/completions/outlast`; zsh: into a file `_outlast` in a folder of
    $fpath; fish: into `~/.config/fish/completions/outlast.fish`.
    """
    out(app_of(command_names()).generate_completion(shell=shell))
    return Exit.DONE
