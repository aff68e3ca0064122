"""List the runs, newest first."""

from __future__ import annotations

from typing import Annotated, Any

from cyclopts import App, Parameter

from outlast.cli.exits import Exit
from outlast.cli.opening import with_store
from outlast.cli.options import AsJson, Config
from outlast.cli.printing import document, note, out
from outlast.cli.tables import aligned
from outlast.domain.errors import CallerMistake, NotFound
from outlast.domain.ids import LOCAL_USER
from outlast.domain.states import State
from outlast.ports.run_rows import RunFilter
from outlast.service.show import list_runs

app = App(name="runs")


@app.default
def runs(
    *,
    state: Annotated[str | None, Parameter(help="Only runs in this state.")] = None,
    task: Annotated[str | None, Parameter(help="Only runs of this task.")] = None,
    limit: Annotated[int, Parameter(help="At most so many.")] = 100,
    config: Config = None,
    json: AsJson = False,
) -> int:
    """List the runs, newest first."""
    wanted = RunFilter(user_id=LOCAL_USER, state=_state(state), task=task, limit=_positive(limit))
    try:
        found = with_store(config, lambda store: list_runs(store, wanted))
    except NotFound as nothing:
        note(str(nothing))
        found = []
    if json:
        document({"runs": found})
    elif found:
        out(
            "\n".join(
                aligned(map(_row, found), ("RUN", "STATE", "TASK", "STARTED", "STEPS", "INPUT"), most=20)
            )
        )
    else:
        note("No runs." if state is None and task is None else "No such runs.")
    return Exit.DONE


def _row(shown: dict[str, Any]) -> tuple[str, ...]:
    started = shown["started_at"][:16].replace("T", " ")
    state = shown["state"] + (" partial" if shown["outcome"] == "partial" else "")
    return (shown["run_id"], state, shown["task"], started, str(shown["steps"]), shown["input"])


def _state(name: str | None) -> str | None:
    if name is None:
        return None
    if name.upper() not in State.__members__:
        raise CallerMistake("unknown_state", f"There is no state {name}.", f"States: {', '.join(State)}.")
    return name.upper()


def _positive(limit: int) -> int:
    if limit < 1:
        raise CallerMistake("bad_limit", f"--limit must be at least 1, not {limit}.", "Give another number.")
    return limit
