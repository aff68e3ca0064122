"""Go on with a run that was interrupted, paused, failed, or waited."""

from __future__ import annotations

from cyclopts import App

from outlast.cli.options import AsJson, Config, RunId
from outlast.cli.printing import note
from outlast.cli.sitting import Sitting
from outlast.domain.ids import LOCAL_USER
from outlast.service import signals
from outlast.service.show import owned_row

app = App(name="resume")


@app.default
def resume(run: RunId, /, *, config: Config = None, json: AsJson = False) -> int:
    """Go on with a run where it stands: interrupted, paused, failed or waiting. A finished run is printed.

    A run whose process is gone is taken over at once; where that cannot be known for sure, its lease is waited for.
    """
    with Sitting(config) as sitting:
        row = sitting.run(owned_row(sitting.engine.store, run, LOCAL_USER))
        if row.state in ("COMPLETED", "CANCELLED"):
            return sitting.told(run, as_json=json)
        if row.state in ("PAUSED", "FAILED"):
            sitting.run(signals.resume(sitting.engine.store, run, LOCAL_USER))
        note(f"Going on with {run} ({row.state}).")
        return sitting.see_through(run, as_json=json)
