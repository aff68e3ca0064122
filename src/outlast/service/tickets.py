"""Tickets by their names alone: which run of a user asks for an approval."""

from __future__ import annotations

from outlast.domain.errors import Conflict, NotFound
from outlast.domain.states import ENDED
from outlast.journal.fold import load_state
from outlast.ports.run_rows import RunFilter
from outlast.ports.store import Store
from outlast.service.show import owned_row

MOST_RUNS = 500
"""How many of a user's newest runs are looked through."""


async def run_of_ticket(store: Store, ticket: str, user_id: str, run_id: str | None = None) -> str:
    """The active run of a user that has a ticket of this name, open or decided.

    With `run_id` that run, active or not. Raises NotFound (`unknown_ticket`, and `unknown_run` for one that is not the user's), and
    Conflict (`which_ticket`) where several runs have one, which forks of a run that waits do.
    """
    if run_id is not None:
        found = [(await owned_row(store, run_id, user_id)).run_id]
    else:
        rows = await store.list_runs(RunFilter(user_id=user_id, limit=MOST_RUNS))
        found = [
            row.run_id for row in rows if row.state not in ENDED and await _has(store, row.run_id, ticket)
        ]
    if not found:
        raise NotFound(
            "unknown_ticket", f"No run of yours has a ticket {ticket[:80]}.", "See what your runs wait for."
        )
    if len(found) > 1:
        detail = f"Several runs have a ticket {ticket}: {', '.join(found)}."
        raise Conflict("which_ticket", detail, "Name the run as well.")
    return found[0]


async def _has(store: Store, run_id: str, ticket: str) -> bool:
    return ticket in (await load_state(store, run_id)).tickets
