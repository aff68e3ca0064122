"""Write a run as lines of JSON that any store can take up."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Annotated

from cyclopts import App, Parameter

from outlast.cli.exits import Exit
from outlast.cli.opening import with_store
from outlast.cli.options import AsJson, Config, RunId
from outlast.cli.printing import document, note
from outlast.cli.whole_files import WholeFile
from outlast.domain.errors import CallerMistake
from outlast.domain.ids import LOCAL_USER
from outlast.ports.store import Store
from outlast.service.exporting import export_run

app = App(name="export")


@app.default
def export(
    run: RunId,
    /,
    *,
    format: Annotated[str, Parameter(help="jsonl: everything, for `outlast import`.")] = "jsonl",  # noqa: A002 - the pinned name
    output: Annotated[
        str | None, Parameter(name=("--output", "-o"), help="The file; .gz compresses. Left out: stdout.")
    ] = None,
    move: Annotated[
        bool,
        Parameter(
            help="Take its background tasks along that go on: nobody here follows them any more. Needs --output."
        ),
    ] = False,
    config: Config = None,
    json: AsJson = False,
) -> int:
    """Write a run as lines of JSON: its events, its thread and all they refer to. The store is left as it is, but with --move."""
    if format != "jsonl":
        detail = f"{format!r} is not a format that a run can be written in yet."
        raise CallerMistake("unknown_format", detail, "Use --format jsonl.")
    if move and output is None:
        detail = "What is moved away must not be lost on its way."
        raise CallerMistake("usage", detail, "Name a file with --output.")
    if output is None:
        with_store(config, lambda store: _to_stdout(store, run))
        return Exit.DONE
    path = Path(output)
    lines = with_store(config, lambda store: _to_file(store, run, path, moves=move))
    if json:
        document({"run_id": run, "file": str(path), "lines": lines, "size_bytes": path.stat().st_size})
    else:
        note(f"{run}: {lines:,} lines in {path}. `outlast import {path}` takes it up elsewhere.")
    return Exit.DONE


async def _to_stdout(store: Store, run: str) -> None:
    raw = getattr(sys.stdout, "buffer", None)
    async for line in export_run(store, run, LOCAL_USER):
        if raw is not None:
            raw.write(line)
        else:
            sys.stdout.write(line.decode("utf-8"))
    sys.stdout.flush()


async def _to_file(store: Store, run: str, path: Path, *, moves: bool) -> int:
    lines = 0
    with WholeFile(path) as file:
        async for line in export_run(store, run, LOCAL_USER, moves=moves):
            file.write(line)
            lines += 1
        file.finish()
        file.keep()
    return lines
