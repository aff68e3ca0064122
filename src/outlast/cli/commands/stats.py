"""Say what runs have used and how they went, or list the calls that failed."""

from __future__ import annotations

from typing import Annotated, Any

from cyclopts import App, Parameter

from outlast.cli.exits import Exit
from outlast.cli.opening import with_store
from outlast.cli.options import AsJson, Config
from outlast.cli.phrases import counted
from outlast.cli.printing import document, json_line, one_line, out
from outlast.cli.tables import aligned
from outlast.domain.ages import age_in
from outlast.domain.door import canonical_json
from outlast.domain.ids import LOCAL_USER
from outlast.ports.store import Store
from outlast.service.stats import Period, Statistics

app = App(name="stats")


@app.default
def stats(
    *,
    task: Annotated[str | None, Parameter(help="Runs of this task only.")] = None,
    since: Annotated[str, Parameter(help="How far back runs began: 7d, 12h, 30d.")] = "7d",
    tool: Annotated[str | None, Parameter(help="With --failed: calls of this tool only.")] = None,
    failed: Annotated[bool, Parameter(help="List the calls that failed, with their arguments.")] = False,
    config: Config = None,
    json: AsJson = False,
) -> int:
    """Say what runs have used and how they went: altogether, by task, by tool, and what they failed of."""
    age = age_in(since)

    async def counted_up(store: Store) -> Any:
        period = Period(LOCAL_USER, await store.now() - age, task)
        counts = Statistics(store)
        return await counts.failed_calls(period, tool) if failed or tool else await counts.of(period)

    found = with_store(config, counted_up)
    if failed or tool:
        _tell_calls(found, as_json=json)
    elif json:
        document(found)
    else:
        out("\n".join(_lines(found)))
    return Exit.DONE


def _tell_calls(calls: list[dict[str, Any]], *, as_json: bool) -> None:
    for call in calls:
        if as_json:
            json_line(call)
        else:
            asked = one_line(canonical_json(call["arguments"]))
            error = call["error"]
            out(
                f"{call['run_id']} {call['seq']} {call['tool']} {asked}\n  {error['code']}: {one_line(error['detail'])}"
            )


def _lines(found: dict[str, Any]) -> list[str]:
    total = found["total"]
    went = f"{total['completed']} completed, {total['failed']} failed"
    used = f"{counted(total['steps'], 'step')}, {counted(total['tokens'], 'token')}, ${total['cost_usd']:.4f}"
    lines = [f"{counted(total['runs'], 'run')}: {went}; {used}"]
    tables = [
        (("TASK", "RUNS", "COMPLETED", "FAILED", "STEPS", "TOKENS"), found["by_task"]),
        (("TOOL", "CALLS", "FAILED", "DURATION MS"), found["by_tool"]),
        (("FAILED OF", "COUNT"), found["failures"]),
    ]
    for head, rows in tables:
        if rows:
            names = [_FIELDS[title] for title in head]
            lines += ["", *aligned([tuple(str(row[name]) for name in names) for row in rows], head)]
    return lines


_FIELDS = {
    "TASK": "task",
    "RUNS": "runs",
    "COMPLETED": "completed",
    "FAILED": "failed",
    "STEPS": "steps",
    "TOKENS": "tokens",
    "TOOL": "tool",
    "CALLS": "calls",
    "DURATION MS": "duration_ms",
    "FAILED OF": "code",
    "COUNT": "count",
}
