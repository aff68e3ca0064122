"""The line of a thread: runs that were started behind its active one begin when it has ended, in the order they came.

A run in line is not due. It stands among the waiters in the journal of the run ahead of it, whose last commit makes it due. A
worker that takes it up and finds somebody ahead of it still puts it back behind that run; both are told in one commit under
the position of the run ahead, so that an end never goes by unnoticed.
"""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from typing import Final

from outlast.domain.errors import Broken
from outlast.domain.events import AnyEvent, EndAwaited, Recorded, RunStarted, Signal, TurnTaken
from outlast.domain.run import RunState, Waiter
from outlast.domain.states import ENDED, HELD, State
from outlast.journal.append import items_to_append, placed
from outlast.journal.fold import load_state
from outlast.ports.batch import Committed, Item
from outlast.ports.queue import Claim, Enqueue, Release
from outlast.ports.run_rows import RunFilter, RunRow
from outlast.ports.store import Store
from outlast.ports.stream import Append
from outlast.runs.desk import NOTHING_TO_DO

MAX_IN_LINE: Final = 50
"""How many runs may wait in one thread."""

MAX_RACES: Final = 50

_NEWEST: Final = 200

IN_LINE: Final = "in line"
"""Why a worker gave a run back that is not the next of its thread."""


def is_in_line(row: RunRow) -> bool:
    """Does this run wait for another of its thread to end?"""
    return not row.is_active and row.state == State.INIT


async def unfinished(store: Store, thread_id: str) -> list[RunRow]:
    """The runs of a thread that have not ended, the active one first, then those in line in the order they came."""
    rows = await store.list_runs(RunFilter(thread_id=thread_id, limit=_NEWEST))
    waiting = [row for row in reversed(rows) if is_in_line(row)]
    return [*(row for row in rows if row.is_active), *waiting]


async def ahead_of(store: Store, thread_id: str, run_id: str) -> str | None:
    """The run for whose end a run in line waits next; None when its turn has come."""
    first = next(iter(await unfinished(store, thread_id)), None)
    return None if first is None or first.run_id == run_id else first.run_id


def awaiting(state: RunState, queue: str, item: str, now: datetime) -> Sequence[Item]:
    """The items that make an entry due when a run that has not ended ends, and that are refused when it goes on meanwhile."""
    if Waiter(queue, item) in state.waiters:
        return (Append(state.run_id, state.position, ()),)
    return items_to_append(state.run_id, placed([EndAwaited(queue, item)], state.position, now), None)


def wake_ups(state: RunState, now: datetime) -> list[Item]:
    """What a run that comes to rest makes due, of what waits for it: all of it at its end, all but the runs in line at a halt."""
    if state.state not in ENDED | HELD:
        return []
    return [
        Enqueue(waiter.queue, waiter.item, now, state.user_id)
        for waiter in state.waiters
        if state.state in ENDED or waiter.queue != "runs"
    ]


def waits_its_turn(history: Sequence[Recorded]) -> RunStarted | None:
    """How the run was started, when it was put in line and no worker has taken it up yet."""
    started = history[0].event if history else None
    is_to_begin = all(isinstance(one.event, Signal | RunStarted) for one in history)
    return started if isinstance(started, RunStarted) and started.in_line and is_to_begin else None


def turn_events(state: RunState, thread_position: int) -> list[AnyEvent]:
    """The event that a run in line begins, where it is one; none for a run that only ends now, before its turn."""
    return [TurnTaken(thread_position)] if state.in_line and state.wants_cancel is None else []


def turn_of(history: Sequence[Recorded]) -> int | None:
    """Up to where the run of a journal knows its thread; None while it waits in line."""
    known = None
    for recorded in history:
        match recorded.event:
            case RunStarted(in_line=False, thread_position=position) | TurnTaken(thread_position=position):
                known = position
            case _:
                pass
    return known


async def stepped_back(store: Store, claim: Claim, thread_id: str) -> bool:
    """Give a claimed run back where another of its thread comes first; False when its turn has come."""
    for _ in range(MAX_RACES):
        ahead = await ahead_of(store, thread_id, claim.item)
        if ahead is None:
            return False
        state = await load_state(store, ahead)
        if state.has_ended:
            continue
        back = Release(claim.queue, claim.item, claim.generation, None, IN_LINE)
        behind = awaiting(state, claim.queue, claim.item, await store.now())
        written = await store.commit([back, *behind])
        if isinstance(written, Committed):
            return True
        if written.index == 0:
            raise Broken("lease_lost", f"Another worker holds {claim.item}.", NOTHING_TO_DO)
    raise Broken("store_contended", f"{claim.item} could not be put back in line.", "Try again.")
