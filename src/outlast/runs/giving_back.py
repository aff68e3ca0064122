"""Giving a run back that could not be worked on here."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import suppress
from datetime import timedelta
from typing import Final

from outlast.domain.errors import Conflict, OutlastError
from outlast.domain.events import Recorded, RunClaimed, RunReleased
from outlast.journal.append import items_to_append
from outlast.ports.queue import Claim, Release
from outlast.ports.store import Store
from outlast.runs.crowd import is_found_in_time
from outlast.runs.drafting import Draft, Drafter
from outlast.runs.line import wake_ups
from outlast.runs.readings import read_all
from outlast.runs.summary import row_change

RETRY_SECONDS: Final = 30.0
"""When a run is offered again: what it lacks may be there by then, here or where another worker is."""


async def give_back(store: Store, claim: Claim, error: OutlastError) -> None:
    """Give a claim back with the reason; the run stays as it is. Nothing happens when the claim is no longer held.

    A run that clashes with another is not offered again until somebody asks for it.
    """
    with suppress(OutlastError):
        is_clash = isinstance(error, Conflict)
        retry = timedelta(seconds=RETRY_SECONDS)
        due_at = None if is_clash else await store.now() + retry
        note, is_quiet = f"{error.code}: {error.detail}", is_found_in_time(retry)
        await store.commit([Release("runs", claim.item, claim.generation, due_at, note, is_quiet)])


async def cancel_unbuilt(store: Store, claim: Claim, history: Sequence[Recorded], worker: str) -> None:
    """End a run that is to be cancelled though it cannot be built here; leave any other alone."""
    if not history:
        return
    readings = read_all(claim.item, history, lambda messages, tools: 0)
    if readings.state.wants_cancel is None:
        return
    drafter, draft = Drafter(readings, lambda state, now: []), Draft()
    drafter.place(draft, RunClaimed(claim.generation, worker), claim.store_now)
    drafter.settle(draft, claim.store_now)
    drafter.place(draft, RunReleased("ended"), claim.store_now)
    await store.commit(
        [
            *items_to_append(claim.item, draft.recorded, claim.generation),
            row_change(readings, claim.store_now),
            *wake_ups(readings.state, claim.store_now),
            Release("runs", claim.item, claim.generation, None, "ended"),
        ]
    )
