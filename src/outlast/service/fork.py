"""Forking: a copy of a run up to one of its events becomes a run of its own. The original is left untouched."""

from __future__ import annotations

import json
from collections.abc import Sequence

from outlast.domain.apply import apply, fold
from outlast.domain.dataclass import dataclass
from outlast.domain.door import Json
from outlast.domain.errors import Broken, CallerMistake, Conflict
from outlast.domain.events import Origin, Recorded, RunForked
from outlast.domain.ids import LOCAL_USER, run_id_from, thread_id_from
from outlast.domain.run import RunState
from outlast.domain.states import State
from outlast.domain.task import TaskDefinition
from outlast.domain.thread import ThreadSaid
from outlast.journal.append import placed
from outlast.journal.fold import unknown_run
from outlast.journal.history import read_history, row_of
from outlast.journal.upcast import READER
from outlast.ports.batch import Committed, Guard, Item
from outlast.ports.queue import Enqueue
from outlast.ports.run_rows import InsertRun, RunRow
from outlast.ports.store import Store
from outlast.ports.stream import Append, CopyPayloads, EventRow, PutPayload
from outlast.ports.thread_rows import InsertThread, ThreadRow
from outlast.runs.line import turn_of
from outlast.runs.summary import said_items, summary_of
from outlast.service.show import owned_row
from outlast.service.start import Begun


@dataclass(frozen=True, slots=True, kw_only=True)
class Branching:
    """Which run is forked, after which event, and how the new one differs. `random` is at least 40 random bytes."""

    run_id: str
    at: int
    random: bytes
    user_id: str = LOCAL_USER
    definition: TaskDefinition | None = None
    changes: dict[str, Json] | None = None


async def fork_run(store: Store, wanted: Branching) -> Begun:
    """Make the fork: events up to `at` are copied with their payloads, in a new thread that holds what was said until then.

    Raises NotFound (`unknown_run`, also when it is deleted meanwhile), CallerMistake (`bad_position`), Conflict (`fork_ended`) when
    the run had ended at `at`.
    """
    row = await owned_row(store, wanted.run_id, wanted.user_id)
    rows = await store.read_events(wanted.run_id, 0, max(0, wanted.at))
    if not rows or len(rows) < wanted.at:
        head = await store.read_head(wanted.run_id)
        detail = f"{wanted.run_id} has the events 1 to {head}; there is no {wanted.at}."
        raise CallerMistake("bad_position", detail, f"See them with `outlast trace {wanted.run_id}`.")
    state = fold(wanted.run_id, await read_history(store, wanted.run_id, limit=wanted.at))
    if state.state in (State.COMPLETED, State.CANCELLED):
        raise Conflict("fork_ended", f"At event {wanted.at} the run had ended.", "Choose an earlier event.")
    run_id, thread_id = run_id_from(wanted.random[:10]), thread_id_from(wanted.random[10:20])
    written = await store.commit(await _items(store, wanted, row, rows, state, run_id, thread_id))
    if not isinstance(written, Committed):
        if written.guard is Guard.MISSING:
            raise unknown_run(wanted.run_id)
        raise Broken(
            "store_contended", f"The fork of {wanted.run_id} was refused ({written.guard}).", "Try again."
        )
    return Begun(run_id, thread_id, True)


async def _items(
    store: Store,
    wanted: Branching,
    row: RunRow,
    rows: Sequence[EventRow],
    state: RunState,
    run_id: str,
    thread_id: str,
) -> list[Item]:
    now = await store.now()
    event = RunForked(
        Origin("fork", wanted.run_id, wanted.at),
        thread_id,
        wanted.random[20:40].hex(),
        wanted.changes or {},
        wanted.definition,
    )
    forked: Recorded = placed([event], wanted.at, now)[0]
    forked_row, payloads = row_of(forked)
    after = apply(state, forked)
    new_row = RunRow(
        run_id=run_id,
        thread_id=thread_id,
        user_id=row.user_id,
        task=after.definition.name,
        state=str(after.state),
        is_active=after.is_active,
        created_at=now,
        updated_at=now,
        summary=json.dumps(summary_of(after), ensure_ascii=False),
        min_reader=READER,
    )
    words = await _thread_items(store, state, row, thread_id, run_id)
    title = state.input.strip().splitlines()[0][:80]
    return [
        InsertThread(ThreadRow(thread_id=thread_id, user_id=row.user_id, title=title, created_at=now)),
        InsertRun(new_row),
        Append(run_id, 0, (*rows, forked_row)),
        CopyPayloads(wanted.run_id, run_id),
        *[PutPayload(run_id, digest, content) for digest, content in payloads.items()],
        *words,
        Enqueue("runs", run_id, now, row.user_id, after.definition.name),
    ]


async def _thread_items(
    store: Store, state: RunState, row: RunRow, thread_id: str, run_id: str
) -> list[Item]:
    """The messages of the original's thread from before it began, and its own input."""
    history = await read_history(store, row.run_id)
    first, position = history[0], turn_of(history)
    earlier = await store.read_events(row.thread_id, 0, position) if position else []
    items: list[Item] = (
        [Append(thread_id, None, tuple(earlier)), CopyPayloads(row.thread_id, thread_id)] if earlier else []
    )
    return [*items, *said_items(thread_id, ThreadSaid(run_id, "user", state.input), first.at)]
