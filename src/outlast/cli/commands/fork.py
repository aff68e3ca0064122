"""Copy a run up to one of its events into a new run, with other settings, and work on it."""

from __future__ import annotations

from typing import Annotated

from cyclopts import App, Parameter

from outlast.cli.detaching import leave_to_worker, refuse_memory
from outlast.cli.options import AsJson, Config, RunId, Sets
from outlast.cli.printing import note
from outlast.cli.sitting import Sitting
from outlast.domain.ids import LOCAL_USER
from outlast.wiring.settings.overrides import from_options

app = App(name="fork")

At = Annotated[int, Parameter(help="The last event that is copied, by its number in the trace.")]
Detach = Annotated[bool, Parameter(help="Leave the new run to a worker; one is started if none is there.")]


@app.default
def fork(
    run: RunId,
    /,
    *,
    at: At,
    sets: Sets = None,
    detach: Detach = False,
    config: Config = None,
    json: AsJson = False,
) -> int:
    """Copy a run up to one of its events into a new run in a new thread, and work on it. The original is left as it is.

    --set is taken over what the run is pinned to, not over the configuration of today.
    """
    with Sitting(config) as sitting:
        refuse_memory(sitting.engine)
        begun = sitting.run(sitting.engine.fork(run, at, LOCAL_USER, tuple(from_options(sets or ()))))
        note(f"{begun.run_id} is a fork of {run} at {at}.")
        if detach:
            return leave_to_worker(sitting, begun.run_id, config, (), as_json=json)
        return sitting.see_through(begun.run_id, as_json=json)
