"""Asking something of a run, whoever works on it: append, then say whether anybody is there to act."""

from __future__ import annotations

from collections.abc import Awaitable, Callable

from outlast.cli.exits import Exit
from outlast.cli.opening import with_store
from outlast.cli.presence import is_seen_to
from outlast.cli.printing import document, note
from outlast.domain.ids import LOCAL_USER
from outlast.ports.store import Store
from outlast.service.show import owned_row, show_run


def signal(
    config: str | None, run_id: str, act: Callable[[Store], Awaitable[object]], said: str, *, as_json: bool
) -> Exit:
    """Do `act` for a run of ours, and tell that it was `said`; with `as_json` print the run's `show` document.

    Raises what `with_store` and `act` raise, and NotFound (`unknown_run`).
    """

    async def appended(store: Store) -> bool:
        await owned_row(store, run_id, LOCAL_USER)
        await act(store)
        is_heard = await is_seen_to(store, run_id)
        if as_json:
            document(await show_run(store, run_id, LOCAL_USER))
        return is_heard

    is_heard = with_store(config, appended)
    note(f"{run_id}: {said}.")
    if not is_heard:
        note(f"Nobody works on it now. To see to it: outlast resume {run_id}")
    return Exit.DONE
