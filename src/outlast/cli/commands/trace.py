"""Show every event of a run, also as it goes on, or of all runs of a task."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable
from datetime import datetime
from typing import Annotated, Any, Final

from cyclopts import App, Parameter

from outlast.cli.contexts import context_lines
from outlast.cli.exits import Exit
from outlast.cli.opening import with_store
from outlast.cli.options import AsJson, Config
from outlast.cli.phrases import Line, dollars, phrase
from outlast.cli.printing import json_line, note, out
from outlast.cli.tables import columns_here, cut, padded
from outlast.domain.ages import age_in
from outlast.domain.errors import CallerMistake
from outlast.domain.ids import LOCAL_USER
from outlast.ports.run_rows import RunFilter
from outlast.ports.store import Store
from outlast.service.contexts import context_at
from outlast.service.show import owned_row
from outlast.service.trace import follow_run, trace_run, trace_task
from outlast.wiring.counting import count_tokens

app = App(name="trace")

WIDE_COLUMNS: Final = 120
"""From this width on, the kind of each event and what it took have columns of their own."""


@app.default
def trace(
    run: Annotated[str | None, Parameter(help="Id of a run; left out with --task.")] = None,
    /,
    *,
    task: Annotated[str | None, Parameter(help="Show the runs of this task, one after the other.")] = None,
    since: Annotated[str, Parameter(help="With --task: how far back runs began: 7d, 12h, 30d.")] = "7d",
    limit: Annotated[int, Parameter(help="With --task: how many runs, the newest.")] = 20,
    follow: Annotated[bool, Parameter(help="Go on showing events until the run has ended.")] = False,
    context: Annotated[
        int | None,
        Parameter(
            help="Show what the model saw for the call at this event (-1: the newest), and why each part is in."
        ),
    ] = None,
    config: Config = None,
    json: AsJson = False,
) -> int:
    """Show every event of a run: one line each, cut to the width of the terminal; with --json, one JSON document a line.

    With --task the events of all its runs; each JSON document then names its `run_id`.
    """
    if task is not None:
        if run is not None or follow or context is not None:
            detail = "--task shows what all runs of a task did; it goes with no run, --follow or --context."
            raise CallerMistake("usage", detail, "Name a run, or a task.")
        return _show_task(config, task, since, limit, as_json=json)
    if run is None:
        step = "Name one: `outlast runs` lists them; or a task with --task."
        raise CallerMistake("usage", "No run was named.", step)
    if context is not None:
        return _show_context(config, run, context, as_json=json)
    show = json_line if json else _printer(columns_here())

    async def act(store: Store) -> None:
        await owned_row(store, run, LOCAL_USER)
        async for line in _lines(store, run, follow):
            show(line)

    with_store(config, act)
    return Exit.DONE


def _show_task(config: str | None, task: str, since: str, limit: int, *, as_json: bool) -> int:
    age, columns = age_in(since), columns_here()

    async def act(store: Store) -> bool:
        wanted = RunFilter(user_id=LOCAL_USER, task=task, limit=limit)
        is_found = False
        async for row, lines in trace_task(store, wanted, await store.now() - age):
            is_found = True
            if as_json:
                for line in lines:
                    json_line({"run_id": row.run_id, **line})
                continue
            out(cut(f"{row.run_id} {row.state}: {lines[0]['data'].get('input', '')}", columns))
            for line in lines:
                out(formatted(line, columns))
        return is_found

    if not with_store(config, act):
        note(f"No run of the task {task} began in this time.")
    return Exit.DONE


def _show_context(config: str | None, run: str, position: int, *, as_json: bool) -> int:
    async def act(store: Store) -> dict[str, Any]:
        await owned_row(store, run, LOCAL_USER)
        return await context_at(store, run, position, count_tokens)

    found = with_store(config, act)
    if as_json:
        json_line(found)
    else:
        for line in context_lines(found):
            out(line)
    return Exit.DONE


async def _lines(store: Store, run: str, follow: bool) -> AsyncIterator[Line]:
    if follow:
        async for line in follow_run(store, run):
            yield line
    else:
        for line in await trace_run(store, run):
            yield line


def _printer(columns: int) -> Callable[[Line], None]:
    def show(line: Line) -> None:
        out(formatted(line, columns))

    return show


def formatted(line: Line, columns: int) -> str:
    """The trace line in aligned columns."""
    at = datetime.fromisoformat(line["at"]).astimezone()
    who = "/".join(part for part in (line["subtask"], line["role"]) if part)
    step = str(line["step"] or "")
    if columns < WIDE_COLUMNS:
        head = f"{line['seq']:>4} {at:%H:%M:%S} {line['state']:<9} {step:>3} {padded(who, 12)} "
        return cut(head + phrase(line), columns)
    head = f"{line['seq']:>5}  {at:%H:%M:%S}.{at.microsecond // 1000:03}  {line['state']:<9}  {step:>4}  {padded(who, 14)}  "
    took = f"{_spent(line):>22}"
    room = columns - len(head) - 18 - len(took) - 2
    return f"{head}{padded(line['kind'], 16)}  {padded(phrase(line), room)}{took}".rstrip()


def _spent(line: Line) -> str:
    parts = []
    if line["tokens"]:
        parts.append(f"{line['tokens']:,} tok")
    if line["cost_usd"]:
        parts.append(dollars(line["cost_usd"]))
    if line["duration_ms"] is not None:
        parts.append(f"{line['duration_ms']:,} ms")
    return "  ".join(parts)
