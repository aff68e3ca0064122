"""Change limits of a run: max_steps, max_wall_time, max_tokens_total, max_cost, max_replans."""

from __future__ import annotations

from typing import Annotated, Final

from cyclopts import App, Parameter

from outlast.cli.options import AsJson, Config, RunId
from outlast.cli.signalling import signal
from outlast.domain.door import Json
from outlast.domain.errors import CallerMistake
from outlast.domain.ids import LOCAL_USER
from outlast.service import signals
from outlast.wiring.settings.overrides import from_options

app = App(name="set")

Changes = Annotated[list[str], Parameter(help="key=value, as in the task: max_steps=60.")]

_AS_IN_TASKS: Final = {
    "max_steps": "max_steps",
    "max_wall_time": "max_wall_seconds",
    "max_tokens_total": "max_tokens_total",
    "max_cost": "max_cost_usd",
    "max_replans": "max_replans",
}


@app.default
def set_limits(run: RunId, changes: Changes, /, *, config: Config = None, json: AsJson = False) -> int:
    """Change limits of a run, also while it works."""
    named = limits_in(changes)
    return signal(
        config,
        run,
        lambda store: signals.set_limits(store, run, LOCAL_USER, named),
        "limits changed",
        as_json=json,
    )


def limits_in(options: list[str]) -> dict[str, Json]:
    """Limits by the names a run knows, from `key=value` with the names of a task file. Raises CallerMistake."""
    if not options:
        raise CallerMistake("usage", "There is nothing to set.", "Give key=value, such as max_steps=60.")
    found: dict[str, Json] = {}
    for override in from_options(options, "set"):
        name = ".".join(override.path).removeprefix("task.")
        if name == "timeout_minutes" and isinstance(override.value, int | float):
            found["max_wall_seconds"] = override.value * 60
        else:
            found[_named(name)] = override.value
    return found


def _named(name: str) -> str:
    if name not in _AS_IN_TASKS:
        listed = ", ".join([*_AS_IN_TASKS, "timeout_minutes"])
        raise CallerMistake("unknown_limit", f"There is no limit {name!r}.", f"Limits: {listed}.")
    return _AS_IN_TASKS[name]
