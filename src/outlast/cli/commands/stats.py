"""Say what runs have used and how they went, or list the calls that failed."""

from __future__ import annotations

from typing import Annotated, Any

from cyclopts import App, Parameter

from outlast.cli.exits import Exit
from outlast.cli.figures import lines_of
from outlast.cli.opening import with_store
from outlast.cli.options import AsJson, Config
from outlast.cli.printing import document, json_line, note, one_line, out
from outlast.domain.ages import age_in
from outlast.domain.door import canonical_json
from outlast.domain.ids import LOCAL_USER
from outlast.ports.store import Store
from outlast.service.periods import Period
from outlast.service.stats import Statistics

app = App(name="stats")


@app.default
def stats(
    *,
    task: Annotated[str | None, Parameter(help="Runs of this task only.")] = None,
    since: Annotated[str, Parameter(help="How far back runs began: 7d, 12h, 30d.")] = "7d",
    tool: Annotated[str | None, Parameter(help="Figures of this tool only, or its failed calls.")] = None,
    failed: Annotated[bool, Parameter(help="List the calls that failed, with their arguments.")] = False,
    limit: Annotated[int, Parameter(help="With --failed: how many calls, the newest runs first.")] = 100,
    config: Config = None,
    json: AsJson = False,
) -> int:
    """Say what runs have used and how they went: altogether, by task, day, model and tool, and what failed of what."""
    age = age_in(since)

    async def counted_up(store: Store) -> Any:
        period = Period(LOCAL_USER, await store.now() - age, task)
        counts = Statistics(store)
        return await counts.failed_calls(period, tool, limit) if failed else await counts.of(period)

    found = with_store(config, counted_up)
    if failed:
        _tell_calls(found, as_json=json)
    elif json:
        document(found)
    else:
        out("\n".join(lines_of(found, tool)))
    return Exit.DONE


def _tell_calls(calls: list[dict[str, Any]], *, as_json: bool) -> None:
    if not calls and not as_json:
        note("No such calls failed in this time.")
    for call in calls:
        if as_json:
            json_line(call)
            continue
        asked, error = one_line(call["raw"] or canonical_json(call["arguments"])), call["error"]
        out(f"{call['run_id']} {call['seq']} {call['tool']} {asked}")
        out(f"  {error['code']}: {one_line(error['detail'])}")
