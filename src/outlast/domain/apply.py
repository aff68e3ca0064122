"""How each event changes the state of a run: `apply(state, recorded) -> state`, pure, the only writer of state.

It dispatches on the event's family; each family has a file of its own beside this one, which says what of the state an event
changes; the state is copied once, here. Whatever order valid events come in, apply does not raise: an event about something that
is no longer there changes only position and time.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import Any, Final, get_args

from outlast.domain import (
    apply_asking,
    apply_conversation,
    apply_lifecycle,
    apply_planning,
    apply_recall,
    apply_signals,
    apply_tooling,
)
from outlast.domain.errors import Broken
from outlast.domain.events import (
    Asking,
    Conversation,
    Lifecycle,
    Planning,
    Recall,
    Recorded,
    RunClaimed,
    RunForked,
    RunStarted,
    ShadowCompared,
    Signal,
    Tooling,
)
from outlast.domain.evolve import Changes, changed
from outlast.domain.run import RunState

_LOOK: Final = "Look at it with `outlast db check`; a run that is damaged has to come from a backup."


def begin(run_id: str, recorded: Recorded) -> RunState:
    """The state of a run after its first event. Raises Broken (`journal_damaged`) when that is not RunStarted."""
    event = recorded.event
    if not isinstance(event, RunStarted):
        raise Broken(
            "journal_damaged",
            f"The journal of {run_id} begins with {type(event).__name__}, not with RunStarted.",
            _LOOK,
        )
    return RunState(
        run_id=run_id,
        thread_id=event.thread_id,
        user_id=event.user_id,
        position=recorded.position,
        at=recorded.at,
        counted_at=recorded.at,
        entered_position=recorded.position,
        input=event.input,
        definition=event.definition,
        limits=event.definition.limits,
        tools={tool.name: tool for tool in event.tools},
        inherited=event.inherited,
        in_line=event.in_line,
        tells_of=event.tells_of,
    )


def apply(state: RunState, recorded: Recorded) -> RunState:
    """The state after one more event, the next of its journal."""
    kind, at = type(recorded.event), recorded.at
    changes = _BY_KIND[kind](state, recorded.event)
    changes["position"], changes["at"] = recorded.position, at
    if kind not in _UNCOUNTED:
        changes["counted_at"] = at
        if at > state.counted_at and state.is_claimed and state.is_working and kind not in _BEGINNINGS:
            seconds = (at - state.counted_at).total_seconds()
            changes["counters"] = changes.get("counters", state.counters).more(working_seconds=seconds)
    return changed(state, changes)


def fold(run_id: str, history: Iterable[Recorded]) -> RunState:
    """The state after all of `history`. Raises Broken (`journal_damaged`) for an empty history or one with a gap."""
    events = iter(history)
    first = next(events, None)
    if first is None:
        raise Broken("journal_damaged", f"The journal of {run_id} is empty.", _LOOK)
    state = begin(run_id, first)
    for recorded in events:
        if recorded.position != state.position + 1:
            detail = f"The journal of {run_id} has a gap after position {state.position}."
            raise Broken("journal_damaged", detail, _LOOK)
        state = apply(state, recorded)
    return state


def _nothing(_state: RunState, _event: ShadowCompared) -> Changes:
    return {}


_BY_FAMILY: Final[Sequence[tuple[Any, Callable[[RunState, Any], Changes]]]] = (
    (Conversation, apply_conversation.apply_conversation),
    (Tooling, apply_tooling.apply_tooling),
    (Recall, apply_recall.apply_recall),
    (Lifecycle, apply_lifecycle.apply_lifecycle),
    (Planning, apply_planning.apply_planning),
    (Asking, apply_asking.apply_asking),
    (Signal, apply_signals.apply_signal),
    (ShadowCompared, _nothing),
)
_BY_KIND: Final = {kind: change for family, change in _BY_FAMILY for kind in get_args(family) or (family,)}
"""What says what an event changes, by its class."""

_UNCOUNTED: Final = frozenset({*get_args(Signal), ShadowCompared})
"""What may come while no worker is left: neither the time of one nor that until the next claim is work."""

_BEGINNINGS: Final = frozenset({RunClaimed, RunForked})
"""What a worker begins with: the time before it is not work."""
