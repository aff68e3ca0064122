"""Importing a run: it is taken up in one commit, once it is found whole, and rests until somebody resumes it here."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import replace

from outlast.domain.apply import apply
from outlast.domain.dataclass import dataclass
from outlast.domain.errors import Broken, CallerMistake, Conflict
from outlast.domain.events import Origin, RunForked
from outlast.domain.ids import run_id_from, thread_id_from
from outlast.domain.run import RunState
from outlast.domain.states import State
from outlast.domain.thread import ThreadSaid
from outlast.journal.append import placed
from outlast.journal.codec import decode, encode, payloads_named_in
from outlast.journal.fold import fold_checked
from outlast.journal.history import recorded_from, row_of
from outlast.journal.upcast import READER
from outlast.ports.batch import Committed, Guard, Item, Refused
from outlast.ports.queue import Enqueue
from outlast.ports.run_rows import InsertRun
from outlast.ports.store import Store
from outlast.ports.stream import Append, EventRow, PutPayload
from outlast.ports.thread_rows import InsertThread
from outlast.runs.summary import summary_of
from outlast.service.background.moving import follow_taken, is_unsettled, items_to_take
from outlast.service.portable import Portable


@dataclass(frozen=True, slots=True)
class Imported:
    """The run that is there now; `is_new` is False when it was there before. `can_go_on` says that it has not ended for good, `tasks`
    how many background tasks were taken up that go on here, or are to be told here."""

    run_id: str
    thread_id: str
    is_new: bool
    events: int
    state: State
    can_go_on: bool
    tasks: int = 0


async def import_run(store: Store, portable: Portable, random: bytes | None = None) -> Imported:
    """Take a run up in a store. With `random`, at least 40 random bytes, as a fork of it at its end, under ids of its own.

    Its background tasks come along and are followed from here at once, but for a fork. It may be done again at any time. Raises
    CallerMistake (`export_damaged`) for a journal that does not fold to what it recorded, Broken (`journal_newer`), Conflict:
    `run_exists` when another run has its id, `thread_differs` when its thread is there and went another way, `thread_busy`,
    `key_used`, `tasks_open` for a fork of a run whose background tasks go on, `task_differs` when another task has the name of one.
    """
    state = _checked(portable)
    if random is not None:
        portable, state = _as_new(portable, state, random)
    run_id, items = portable.run.run_id, await _task_items(store, portable)
    is_new = await store.read_run(run_id) is None
    if is_new:
        items = [*await _items(store, portable, state), *items]
    elif not await _is_there(store, portable):
        raise _exists(run_id)
    written = await store.commit(items) if items else Committed()
    if not isinstance(written, Committed):
        raise _refused(portable, written)
    taken = await follow_taken(store, portable.tasks)
    return replace(_imported(portable, state, is_new=is_new), tasks=taken)


async def _task_items(store: Store, portable: Portable) -> list[Item]:
    known = await store.read_tasks([one.row.task_id for one in portable.tasks])
    return items_to_take(portable.tasks, {row.task_id for row in known})


def _checked(portable: Portable) -> RunState:
    """The state a whole journal leads to."""
    rows = (*portable.words, *portable.events)
    missing = [name for row in rows for name in payloads_named_in(row.body) if name not in portable.contents]
    if missing:
        raise _damaged(f"it lacks the payload {missing[0]}")
    if portable.run.min_reader > READER:
        detail = f"{portable.run.run_id} was written by a version of outlast that knows more kinds of events."
        raise Broken("journal_newer", detail, "Upgrade outlast on this machine.")
    try:
        state, divergences = fold_checked(
            portable.run.run_id, recorded_from(portable.events, portable.contents)
        )
        for row in portable.words:
            decode(ThreadSaid, row.body, portable.contents)
    except Broken as broken:
        if broken.code != "journal_damaged":
            raise
        raise _damaged(broken.detail) from broken
    if divergences:
        raise _damaged(f"its state at event {divergences[0].position} is not the one that was recorded")
    owner = (portable.run.user_id, portable.run.thread_id, portable.run.run_id)
    if any((one.row.user_id, one.row.thread_id, one.row.run_id) != owner for one in portable.tasks):
        raise _damaged("one of its background tasks is of another run")
    if state.thread_id != portable.run.thread_id or state.is_active != portable.run.is_active:
        raise _damaged("its row and its journal do not fit")
    return state


async def _is_there(store: Store, portable: Portable) -> bool:
    """Is this very run there, event for event?"""
    events = await store.read_events(portable.run.run_id)
    return tuple(events) == portable.events


async def _items(store: Store, portable: Portable, state: RunState) -> list[Item]:
    run, thread_id = portable.run, portable.thread.thread_id
    known = await store.read_events(thread_id)
    fresh = _continued(thread_id, known, portable.words)
    words = [Append(thread_id, len(known), fresh)] if fresh else []
    held = [(thread_id, digest) for digest in portable.thread_payloads]
    held += [(run.run_id, digest) for digest in portable.run_payloads]
    items: list[Item] = [
        InsertThread(portable.thread),
        InsertRun(run),
        *words,
        Append(run.run_id, 0, portable.events),
        *[PutPayload(stream, digest, portable.contents[digest]) for stream, digest in held],
    ]
    if _can_go_on(state):
        # Never due by itself: where it came from, it may still be at work. Claims go on from the generations it has had.
        items.append(Enqueue("runs", run.run_id, None, run.user_id, run.task, state.generation))
    return items


def _continued(thread_id: str, known: Sequence[EventRow], words: Sequence[EventRow]) -> tuple[EventRow, ...]:
    """The words that are not in the thread yet. One of the two must begin with the other."""
    shared = min(len(known), len(words))
    if tuple(known[:shared]) != tuple(words[:shared]):
        raise Conflict(
            "thread_differs",
            f"The thread {thread_id} is there already, and other things were said in it.",
            "Import the run with --as-new; it gets a thread of its own.",
        )
    return tuple(words[shared:])


def _can_go_on(state: RunState) -> bool:
    return state.state not in (State.COMPLETED, State.CANCELLED)


def _imported(portable: Portable, state: RunState, *, is_new: bool) -> Imported:
    run = portable.run
    return Imported(run.run_id, run.thread_id, is_new, len(portable.events), state.state, _can_go_on(state))


def _as_new(portable: Portable, state: RunState, random: bytes) -> tuple[Portable, RunState]:
    """The same run as a fork at its end: ids and keys of its own, nothing in flight, no ticket open."""
    if any(is_unsettled(one) for one in portable.tasks):
        raise Conflict(
            "tasks_open",
            "Background tasks of the run go on with it, and a fork has none.",
            "Import it without --as-new.",
        )
    run_id, thread_id = run_id_from(random[:10]), thread_id_from(random[10:20])
    last = portable.events[-1]
    event = RunForked(Origin("fork", portable.run.run_id, last.position), thread_id, random[20:40].hex())
    forked = placed([event], last.position, last.at)[0]
    after = replace(apply(state, forked), run_id=run_id)
    summary = json.dumps(summary_of(after), ensure_ascii=False)
    return (
        replace(
            portable,
            run=replace(portable.run, run_id=run_id, thread_id=thread_id, key=None, summary=summary),
            thread=replace(portable.thread, thread_id=thread_id),
            words=tuple(_said_by(row, portable, run_id) for row in portable.words),
            events=(*portable.events, row_of(forked)[0]),
            tasks=(),
        ),
        after,
    )


def _said_by(row: EventRow, portable: Portable, run_id: str) -> EventRow:
    """Words of the run that is imported, as words of the new one."""
    said = decode(ThreadSaid, row.body, portable.contents)
    if said.run_id != portable.run.run_id:
        return row
    return replace(row, body=encode(replace(said, run_id=run_id))[0])


def _refused(portable: Portable, refused: Refused) -> Conflict:
    run = portable.run
    if refused.guard is Guard.KEY:
        detail = f"Another run of {run.user_id} was started with the key {run.key}."
        return Conflict("key_used", detail, "Import it with --as-new; the new run has no key.")
    if refused.guard is Guard.THREAD_BUSY:
        detail = f"The thread {run.thread_id} has a run that is still active."
        return Conflict("thread_busy", detail, "Wait for it, cancel it, or import the run with --as-new.")
    if refused.guard in (Guard.NAME, Guard.REMOTE):
        detail = f"The thread {run.thread_id} has another background task of the same name, or one of the same work."
        return Conflict("task_differs", detail, "See `outlast tasks list`.")
    if refused.guard is Guard.EXISTS and refused.index == 1:
        return _exists(run.run_id)
    return Conflict(
        "thread_differs",
        f"The thread {run.thread_id} is another user's or has just changed.",
        "Try again, or import the run with --as-new.",
    )


def _exists(run_id: str) -> Conflict:
    return Conflict(
        "run_exists",
        f"{run_id} is there already, and its journal is another than that of the file.",
        "Import it with --as-new to have both.",
    )


def _damaged(why: str) -> CallerMistake:
    return CallerMistake(
        "export_damaged",
        f"The run in the file is damaged: {why}.",
        "Check where it came from with `outlast db check`, and export it again.",
    )
