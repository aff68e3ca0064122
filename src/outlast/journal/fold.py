"""From a stored journal to a state: the newest usable snapshot, the events after it, a check of recorded digests."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from outlast.domain.apply import apply, begin
from outlast.domain.errors import NotFound
from outlast.domain.events import FoldDiverged, Recorded, StateEntered
from outlast.domain.run import RunState
from outlast.journal.history import read_history
from outlast.journal.snapshot import difference_between, is_comparable, state_digest, state_in
from outlast.ports.store import Store


@dataclass(frozen=True, slots=True)
class Folded:
    """A state with what was found on the way: recorded digests that the fold did not reach."""

    state: RunState
    divergences: tuple[FoldDiverged, ...] = ()


async def load_state(store: Store, run_id: str) -> RunState:
    """The present state of a run, by its newest snapshot. Raises NotFound (`unknown_run`)."""
    start = state_in(await store.read_snapshot(run_id))
    history = await read_history(store, run_id, after=start.position if start else 0)
    if start is None and not history:
        raise unknown_run(run_id)
    return fold_on(run_id, start, history).state


def fold_on(run_id: str, start: RunState | None, history: Sequence[Recorded]) -> Folded:
    """The state after `history`, from `start` or from nothing, with every divergence from a recorded digest."""
    state = start
    divergences = []
    for recorded in history:
        if state is None:
            state = begin(run_id, recorded)
            continue
        if recorded.position <= state.position:
            continue
        found = divergence_at(state, recorded)
        if found is not None:
            divergences.append(found)
        state = apply(state, recorded)
    if state is None:
        raise unknown_run(run_id)
    return Folded(state, tuple(divergences))


def divergence_at(state: RunState, recorded: Recorded) -> FoldDiverged | None:
    """What an event recorded of the state before it, where that is not the folded `state`."""
    event = recorded.event
    if not isinstance(event, StateEntered) or not event.digest or not is_comparable(event.digest):
        return None
    folded = state_digest(state)
    if folded == event.digest:
        return None
    return FoldDiverged(recorded.position, event.digest, folded, "")


def snapshot_divergence(snapshot: RunState, folded: RunState) -> FoldDiverged | None:
    """Where a snapshot differs from the fold of the journal up to the same position."""
    recorded, found = state_digest(snapshot), state_digest(folded)
    if recorded == found:
        return None
    return FoldDiverged(folded.position, recorded, found, difference_between(snapshot, folded))


def unknown_run(run_id: str) -> NotFound:
    """The error for a run that is not there."""
    return NotFound("unknown_run", f"There is no run {run_id}.", "List the runs with `outlast runs`.")
