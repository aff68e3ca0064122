"""The options that several commands share, with their help."""

from __future__ import annotations

from typing import Annotated

from cyclopts import Parameter

RunId = Annotated[str, Parameter(help="Id of the run.")]
ThreadId = Annotated[str | None, Parameter(name="--thread", help="Id of the thread; left out: a new one.")]
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
