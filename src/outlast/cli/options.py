"""The options that several commands share, with their help."""

from __future__ import annotations

from typing import Annotated

from cyclopts import Parameter

from outlast.service.start import Strategy

RunId = Annotated[str, Parameter(help="Id of the run.")]
ThreadId = Annotated[str | None, Parameter(name="--thread", help="Id of the thread; left out: a new one.")]
WhenBusy = Annotated[
    Strategy,
    Parameter(
        name="--when-busy",
        help="In a thread with a run that has not ended: reject, enqueue (wait its turn) or interrupt (cancel the active run).",
    ),
]
Config = Annotated[
    str | None,
    Parameter(help="The configuration; left out: outlast.yaml or config.yaml here, or $OUTLAST_CONFIG."),
]
AsJson = Annotated[bool, Parameter(name="--json", help="Print JSON.")]
Sets = Annotated[
    list[str] | None,
    Parameter(
        name="--set",
        help="key=value over the configuration (dotted path) or the task (task.x); the value as YAML. May be repeated.",
    ),
]
Words = Annotated[str, Parameter(allow_leading_hyphen=True)]
TicketId = Annotated[str | None, Parameter(name="--ticket", help="Id of the ticket, where several are open.")]
