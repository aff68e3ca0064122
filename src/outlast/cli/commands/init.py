"""Write a first configuration, task and folder of documents."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

from cyclopts import App, Parameter

from outlast.cli.exits import Exit
from outlast.cli.options import AsJson
from outlast.cli.printing import document, note, out
from outlast.wiring.settings.initialise import initialise
from outlast.wiring.settings.problem import shown_path

app = App(name="init")


@app.default
def init(
    directory: Annotated[str, Parameter(help="Where; left out: here.")] = ".", /, *, json: AsJson = False
) -> int:
    """Write what a directory lacks to run a first task: outlast.yaml, tasks/research.yaml, docs/. Nothing is overwritten."""
    home = Path(directory)
    written = [shown_path(path) for path in initialise(home)]
    if json:
        document({"directory": str(home.resolve()), "written": written})
    elif written:
        out("\n".join(written))
    else:
        note("Everything is there already; nothing was written.")
    enter = "" if home.resolve() == Path.cwd() else f"cd {shown_path(home)} && "
    note(f'Put documents into docs/, then: {enter}outlast run --task research --input "..."')
    return Exit.DONE
