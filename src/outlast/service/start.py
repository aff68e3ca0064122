"""Starting a run: the run, its thread and its place in the queue, in one commit."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import timedelta
from typing import Final

from outlast.domain.door import Json, clean_text
from outlast.domain.errors import CallerMistake, Conflict, NotFound
from outlast.domain.events import Origin, PinnedTool, RunStarted
from outlast.domain.ids import LOCAL_USER, is_safe_id, run_id_from, thread_id_from
from outlast.domain.states import State
from outlast.domain.task import TaskDefinition
from outlast.domain.thread import ThreadSaid
from outlast.journal.append import placed, prepare
from outlast.journal.fold import unknown_run
from outlast.journal.upcast import READER
from outlast.ports.batch import Committed, Guard, Item, Refused
from outlast.ports.queue import Enqueue
from outlast.ports.run_rows import InsertRun, RunRow
from outlast.ports.store import Store
from outlast.ports.stream import CopyPayloads
from outlast.ports.thread_rows import InsertThread, ThreadRow
from outlast.runs.summary import said_items, started_summary

MAX_INPUT_BYTES: Final = 1_000_000


@dataclass(frozen=True, slots=True, kw_only=True)
class Order:
    """What is asked of a new run.

    `random` is at least 40 random bytes: ids and the run's secret are made of it. `head_start_seconds` keeps other workers off for
    so long, for a caller that will claim the run itself.
    """

    definition: TaskDefinition
    tools: Sequence[PinnedTool]
    input: str
    random: bytes
    user_id: str = LOCAL_USER
    thread_id: str | None = None
    key: str | None = None
    origin: Origin | None = None
    inherited: Json = None
    head_start_seconds: float = 0.0


@dataclass(frozen=True, slots=True)
class Begun:
    """The run that is there now; `is_new` is False when the key named one that was started before."""

    run_id: str
    thread_id: str
    is_new: bool


async def start_run(store: Store, order: Order) -> Begun:
    """Start a run, or find the one its key names.

    Raises CallerMistake (`empty_input`, `input_too_large`, `bad_thread_id`), NotFound (`unknown_thread` when the thread is another
    user's, `unknown_run` when the run it continues is gone), Conflict (`thread_busy` when the thread has an active run, `key_used`
    when the key names a run of another task).
    """
    words = clean_text(order.input)
    _check(words, order)
    if order.key is not None:
        known = await _of_key(store, order)
        if known is not None:
            return known
    run_id = run_id_from(order.random[:10])
    thread_id = order.thread_id or thread_id_from(order.random[10:20])
    written = await store.commit(await _items(store, order, words, run_id, thread_id))
    if isinstance(written, Committed):
        return Begun(run_id, thread_id, True)
    return await _refused(store, order, written, thread_id)


def _check(words: str, order: Order) -> None:
    if not words.strip():
        raise CallerMistake(
            "empty_input", "The input of the run is empty.", "Say what it is to do, with --input TEXT."
        )
    if len(words.encode()) > MAX_INPUT_BYTES:
        detail = f"The input has more than {MAX_INPUT_BYTES} bytes."
        raise CallerMistake(
            "input_too_large", detail, "Put the material into files and name them in the input."
        )
    for what, name in (("thread", order.thread_id), ("key", order.key)):
        if name is not None and not is_safe_id(name):
            detail = f"{name[:80]!r} cannot be a {what}: 1 to 80 of A-Z a-z 0-9 _ . : -, beginning with a letter or digit."
            raise CallerMistake(f"bad_{what}", detail, f"Choose another {what}.")


async def _items(store: Store, order: Order, words: str, run_id: str, thread_id: str) -> list[Item]:
    now = await store.now()
    event = RunStarted(
        thread_id=thread_id,
        user_id=order.user_id,
        input=words,
        definition=order.definition,
        tools=tuple(order.tools),
        secret=order.random[20:40].hex(),
        today=now.date().isoformat(),
        thread_position=await store.read_head(thread_id),
        origin=order.origin,
        inherited=order.inherited,
    )
    row = RunRow(
        run_id=run_id,
        thread_id=thread_id,
        user_id=order.user_id,
        task=order.definition.name,
        state=str(State.INIT),
        is_active=True,
        created_at=now,
        updated_at=now,
        summary=started_summary(words),
        key=order.key,
        min_reader=READER,
    )
    title = words.strip().splitlines()[0][:80]
    thread = ThreadRow(thread_id=thread_id, user_id=order.user_id, title=title, created_at=now)
    # What a continuation cites is kept for as long as it is.
    texts = [CopyPayloads(order.origin.run_id, run_id)] if order.origin is not None else []
    return [
        InsertThread(thread),
        InsertRun(row),
        *texts,
        *prepare(run_id, placed([event], 0, now), None).items,
        *said_items(thread_id, ThreadSaid(run_id, "user", words), now),
        Enqueue(
            "runs",
            run_id,
            now + timedelta(seconds=order.head_start_seconds),
            order.user_id,
            order.definition.name,
        ),
    ]


async def _refused(store: Store, order: Order, refused: Refused, thread_id: str) -> Begun:
    if refused.guard is Guard.KEY:
        known = await _of_key(store, order)
        if known is not None:
            return known
    if refused.guard is Guard.MISSING and order.origin is not None:
        raise unknown_run(order.origin.run_id)
    if refused.guard is Guard.EXISTS:
        raise NotFound(
            "unknown_thread", f"There is no thread {thread_id}.", "List yours with `outlast threads list`."
        )
    detail = f"The thread {thread_id} has a run that is still active."
    raise Conflict(
        "thread_busy", detail, f"Wait for it or cancel it: `outlast runs` shows it. Thread: {thread_id}."
    )


async def _of_key(store: Store, order: Order) -> Begun | None:
    """The run a key names. It must be a run of the same task; its input is the one it was started with."""
    row = await store.find_run(order.user_id, order.key or "")
    if row is None:
        return None
    if row.task != order.definition.name:
        detail = f"The key {order.key} names {row.run_id}, a run of the task {row.task}."
        raise Conflict("key_used", detail, "Use another key for another task.")
    return Begun(row.run_id, row.thread_id, False)
