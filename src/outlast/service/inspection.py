"""Checking what is stored: whether every journal reads, leads where it says, and has all it refers to."""

from __future__ import annotations

import hashlib
from collections.abc import AsyncIterator, Iterable, Sequence
from typing import Final

from outlast.domain.apply import fold
from outlast.domain.dataclass import dataclass
from outlast.domain.errors import OutlastError
from outlast.domain.run import RunState
from outlast.journal.codec import payloads_named_in
from outlast.journal.fold import fold_checked
from outlast.journal.history import recorded_from
from outlast.journal.snapshot import state_digest, state_in
from outlast.journal.thread import read_thread_words
from outlast.ports.run_rows import RunRow
from outlast.ports.store import Store
from outlast.ports.stream import EventRow
from outlast.service.background.inspection import check_tasks

_CONTENTS_AT_ONCE: Final = 20


@dataclass(frozen=True, slots=True)
class Problem:
    """Something that is not as it must be: where (a run, a thread, a background task, a queue entry), and what."""

    where: str
    what: str


@dataclass(frozen=True, slots=True)
class Progress:
    """So many runs were looked at."""

    runs: int


async def check_store(store: Store) -> AsyncIterator[Problem | Progress]:
    """Look at everything; tells each problem as it is found, and at the end how many runs there are.

    Takes as long as reading all that is stored. Runs may go on meanwhile.
    """
    check = _Check(store)
    run_ids = await store.list_run_ids()
    for run_id in run_ids:
        for problem in await check.run(run_id):
            yield problem
    for item in await store.list_entries("runs"):
        if await store.read_run(item) is None:
            yield Problem(item, "the queue has an entry for it, and there is no such run")
    async for task_id, what in check_tasks(store):
        yield Problem(task_id, what)
    yield Progress(len(run_ids))


class _Check:
    """Remembers which contents and threads were looked at, for runs share them."""

    def __init__(self, store: Store) -> None:
        self._store = store
        self._sound: set[str] = set()
        self._threads: set[str] = set()

    async def run(self, run_id: str) -> list[Problem]:
        """What is wrong with a run and its thread."""
        row = await self._store.read_run(run_id)
        if row is None:  # removed meanwhile
            return []
        events = await self._store.read_events(run_id)
        wrong = await self._payloads(run_id, events)
        try:
            wrong += await self._journal(row, events)
        except OutlastError as error:
            wrong.append(error.detail)
        if row.is_active and await self._store.read_entry("runs", run_id) is None:
            wrong.append("it is active, and no queue has an entry for it: nobody would go on with it")
        return [*(Problem(run_id, what) for what in wrong), *await self._thread(row.thread_id)]

    async def _journal(self, row: RunRow, events: Sequence[EventRow]) -> list[str]:
        if [event.position for event in events] != list(range(1, len(events) + 1)):
            return ["its journal has a gap"]
        named = {digest for event in events for digest in payloads_named_in(event.body)}
        history = recorded_from(events, await self._store.read_payloads(sorted(named)))
        state, divergences = fold_checked(row.run_id, history)
        wrong = [f"its state at event {one.position} is not the one recorded" for one in divergences]
        kept = state_in(await self._store.read_snapshot(row.run_id))
        if kept is not None and (
            kept.position > len(history)
            or state_digest(kept) != state_digest(fold(row.run_id, history[: kept.position]))
        ):
            wrong.append(f"its snapshot at event {kept.position} is not the state there")
        return wrong + await self._row(row, state)

    async def _row(self, row: RunRow, state: RunState) -> list[str]:
        if row.is_active == state.is_active and row.thread_id == state.thread_id:
            return []
        again = await self._store.read_run(row.run_id)
        return [] if again != row else ["its row and its journal do not fit"]  # it may have gone on meanwhile

    async def _thread(self, thread_id: str) -> list[Problem]:
        if thread_id in self._threads:
            return []
        self._threads.add(thread_id)
        if await self._store.read_thread(thread_id) is None:
            return [Problem(thread_id, "a run is in this thread, and there is no such thread")]
        wrong = await self._payloads(thread_id, await self._store.read_events(thread_id))
        try:
            await read_thread_words(self._store, thread_id)
        except OutlastError as error:
            wrong.append(error.detail)
        return [Problem(thread_id, what) for what in wrong]

    async def _payloads(self, stream: str, events: Iterable[EventRow]) -> list[str]:
        """What is wrong with the payloads of a stream: each that is named or referred to must be there, whole and held."""
        held = await self._store.list_payloads(stream)
        named = {digest for event in events for digest in payloads_named_in(event.body)}
        wrong = [f"nothing holds the payload {digest} for it" for digest in sorted(named - held.keys())]
        unseen = sorted((named | held.keys()) - self._sound)
        for start in range(0, len(unseen), _CONTENTS_AT_ONCE):
            some = unseen[start : start + _CONTENTS_AT_ONCE]
            found = await self._store.read_payloads(some)
            for digest in some:
                if digest not in found:
                    wrong.append(f"the payload {digest} is missing")
                elif hashlib.sha256(found[digest]).hexdigest() != digest:
                    wrong.append(f"the payload {digest} is not what its digest says")
                else:
                    self._sound.add(digest)
        return wrong
