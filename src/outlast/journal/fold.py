"""From a stored journal to a state: the newest usable snapshot, the events after it, and a check of recorded digests."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from outlast.domain.apply import apply, begin, fold
from outlast.domain.errors import NotFound
from outlast.domain.events import FoldDiverged, Recorded, StateEntered
from outlast.domain.run import RunState
from outlast.journal.history import read_history
from outlast.journal.snapshot import difference_between, is_comparable, state_digest, state_in
from outlast.ports.store import Store


async def load_state(store: Store, run_id: str) -> RunState:
    """The present state of a run, by its newest snapshot. Raises NotFound (`unknown_run`)."""
    start = state_in(await store.read_snapshot(run_id))
    history = await read_history(store, run_id, after=start.position if start else 0)
    if start is None and not history:
        raise unknown_run(run_id)
    state = start if start is not None else begin(run_id, history[0])
    for recorded in history:
        if recorded.position > state.position:
            state = apply(state, recorded)
    return state


def divergence_at(state: RunState, recorded: Recorded) -> FoldDiverged | None:
    """What an event recorded of the state before it, where that is not the folded `state`."""
    event = recorded.event
    if not isinstance(event, StateEntered) or not _has_digest(recorded):
        return None
    folded = state_digest(state)
    if folded == event.digest:
        return None
    return FoldDiverged(recorded.position, event.digest, folded, "")


def _has_digest(recorded: Recorded) -> bool:
    event = recorded.event
    return isinstance(event, StateEntered) and bool(event.digest) and is_comparable(event.digest)


def fold_checked(run_id: str, history: Sequence[Recorded]) -> tuple[RunState, list[FoldDiverged]]:
    """The state after a whole history, and where it is not what was recorded, unless the history itself tells of that.

    Raises Broken (`journal_damaged`) for an empty history or one that does not begin as runs do.
    """
    state, found = fold(run_id, history[:1]), []
    known = {one.event.position for one in history if isinstance(one.event, FoldDiverged)}
    for recorded in history[1:]:
        divergence = divergence_at(state, recorded)
        if divergence is not None and divergence.position not in known:
            found.append(divergence)
        state = apply(state, recorded)
    return state, found


def resumed(
    run_id: str, history: Sequence[Recorded], snapshot: RunState | None
) -> tuple[RunState, list[FoldDiverged]]:
    """The state after a whole history from which a run goes on: a snapshot of it, and what came after that, folded.

    The last digest that was recorded is compared, from the first event on where it is older than the snapshot. Where it is not the
    state's, or there is no snapshot to use, everything is folded and every digest compared, as `fold_checked` does.
    """
    if snapshot is None or snapshot.run_id != run_id or snapshot.position > len(history):
        return fold_checked(run_id, history)
    last = next((one for one in reversed(history) if _has_digest(one)), None)
    if last is not None and 1 < last.position <= snapshot.position:
        before = fold(run_id, history[: last.position - 1])
        if divergence_at(before, last) is not None:
            return fold_checked(run_id, history)
    state = snapshot
    for recorded in history[snapshot.position :]:
        if recorded is last and divergence_at(state, recorded) is not None:
            return fold_checked(run_id, history)
        state = apply(state, recorded)
    return state, []


def explained(
    found: Sequence[FoldDiverged], run_id: str, history: Sequence[Recorded], snapshot: RunState | None
) -> list[FoldDiverged]:
    """Divergences with the fields that differ, where a snapshot of the state as it was can tell."""
    if not found or snapshot is None or snapshot.position > len(history):
        return list(found)
    difference = difference_between(snapshot, fold(run_id, history[: snapshot.position]))
    return [replace(one, difference=difference) for one in found]


def unknown_run(run_id: str) -> NotFound:
    """The error for a run that is not there."""
    return NotFound("unknown_run", f"There is no run {run_id}.", "List the runs with `outlast runs`.")
