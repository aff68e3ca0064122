"""Leaving a run to a worker of another process, started if none is there."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Iterable

from outlast.cli.exits import Exit
from outlast.cli.presence import is_seen_to
from outlast.cli.printing import document, note, out
from outlast.cli.sitting import Sitting
from outlast.domain.errors import CallerMistake
from outlast.domain.ids import LOCAL_USER
from outlast.service.show import show_run
from outlast.wiring.engine import Engine


def refuse_memory(engine: Engine) -> None:
    """Raise CallerMistake (`store_of_one_process`) where no other process could see the run."""
    if engine.settings.harness.persistence.backend == "memory":
        detail = "harness.persistence.backend is memory, so no other process can work on the run."
        raise CallerMistake("store_of_one_process", detail, "Use sqlite, the default.")


def leave_to_worker(
    sitting: Sitting, run_id: str, config: str | None, sets: Iterable[str], *, as_json: bool
) -> Exit:
    """See that somebody works on a run that was just enqueued; prints its id, or with `as_json` its `show` document."""
    if not sitting.run(is_seen_to(sitting.engine.store, run_id)):
        log = _started_worker(sitting, config, sets)
        note(f"A worker was started; it ends when nothing is due, and writes to {log}.")
    shown = sitting.run(show_run(sitting.engine.store, run_id, LOCAL_USER))
    if as_json:
        document(shown)
    else:
        out(run_id)
        note(f"Follow it with: outlast trace {run_id} --follow")
    return Exit.DONE


def _started_worker(sitting: Sitting, config: str | None, sets: Iterable[str]) -> str:
    folder = sitting.engine.settings.home / ".outlast"
    folder.mkdir(parents=True, exist_ok=True)
    log = folder / "worker.log"
    command = [sys.executable, "-m", "outlast.cli", "worker", "--until-idle"]
    if config is not None:
        command += ["--config", config]
    for option in sets:
        command += [f"--set={option}"]
    with log.open("ab") as output:
        subprocess.Popen(
            command, stdin=subprocess.DEVNULL, stdout=output, stderr=output, start_new_session=True
        )
    return str(log)
