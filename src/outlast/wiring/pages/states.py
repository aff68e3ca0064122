"""The page of the states of a run: what each is for, and the table of transitions."""

from __future__ import annotations

import inspect
from collections.abc import Iterator
from typing import Final

from outlast.domain.states import ENDED, HELD, REMEMBERING, WORKING, State, table_as_markdown

_HEAD: Final = """\
# States

Made from the code by `just docs`; do not edit.

A run is always in one of these states. Each change of state is an event, [`StateEntered`](events.md#stateentered).
"""

_KINDS: Final = (
    ("working", WORKING, "a worker acts, and time counts against the run"),
    ("held", HELD, "the run stands still until somebody acts; it costs no memory, thread or connection"),
    ("remembering", REMEMBERING, "it knows the working state to go back to"),
    ("ended", ENDED, "the run is no longer active, and its thread is free"),
)

_TAIL: Final = """\
Going back from WAITING, PAUSED or FAILED leads only to the state that the run came from. A task may leave states out
(`states:`); WAITING, PAUSED, FAILED and CANCELLED are always there. Hooks and approvals may guard every transition but those
to WAITING, PAUSED, FAILED and CANCELLED; see [hooks and approvals](../guides/hooks-and-approvals.md).
"""


def page() -> str:
    """The page, in Markdown."""
    kinds = "\n".join(f"| {name} | {_listed(states)} | {meaning} |" for name, states, meaning in _KINDS)
    return "\n".join(
        [
            _HEAD,
            "| state | entered | what is done in it | left |\n| --- | --- | --- | --- |",
            *_meanings(),
            "\n## Kinds of states\n\n| kind | states | meaning |\n| --- | --- | --- |",
            kinds,
            f"\n## Transitions\n\n{table_as_markdown()}\n",
            _TAIL,
        ]
    )


def _meanings() -> Iterator[str]:
    """What the docstring of State says of each, a row a state."""
    for line in (inspect.getdoc(State) or "").splitlines():
        name, colon, parts = line.rstrip(".").partition(": ")
        if colon and name in State.__members__:
            yield f"| `{name}` | {' | '.join(parts.split('; '))} |"


def _listed(states: frozenset[State]) -> str:
    return ", ".join(f"`{state}`" for state in State if state in states)
