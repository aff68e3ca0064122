"""Starting a run: the run, its thread and its place in the queue, in one commit."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import timedelta
from typing import Final, Literal

from outlast.domain.dataclass import dataclass
from outlast.domain.door import Json, clean_text
from outlast.domain.errors import CallerMistake, Conflict, NotFound
from outlast.domain.events import AnyEvent, CancelRequested, EndAwaited, Origin, PinnedTool, RunStarted
from outlast.domain.ids import LOCAL_USER, is_safe_id, run_id_from, thread_id_from
from outlast.domain.run import RunState
from outlast.domain.states import State
from outlast.domain.task import TaskDefinition
from outlast.domain.thread import ThreadSaid
from outlast.journal.append import items_to_append, placed
from outlast.journal.fold import load_state, unknown_run
from outlast.journal.upcast import READER
from outlast.ports.batch import Committed, Guard, Item, Refused
from outlast.ports.queue import Enqueue
from outlast.ports.run_rows import InsertRun, RunRow
from outlast.ports.store import Store
from outlast.ports.stream import CopyPayloads
from outlast.ports.thread_rows import InsertThread, ThreadRow
from outlast.runs.line import MAX_IN_LINE, MAX_RACES, awaiting, unfinished
from outlast.runs.summary import said_items, started_summary

MAX_INPUT_BYTES: Final = 1_000_000

Strategy = Literal["reject", "enqueue", "interrupt"]
"""What becomes of a new run of a thread that has a run which has not ended."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Order:
    """What is asked of a new run.

    `random` is at least 40 random bytes: ids and the run's secret are made of it. `head_start_seconds` keeps other workers off for
    so long, for a caller that will claim the run itself. `strategy` says what becomes of it when its thread has a run that has not
    ended: it is refused, put in line, or put in line with the active run cancelled. A run that `tells_of` background tasks adds no
    words of a person to its thread; `material` is what it is to tell.
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
    strategy: Strategy = "reject"
    tells_of: tuple[str, ...] = ()
    material: str = ""


@dataclass(frozen=True, slots=True)
class Begun:
    """The run that is there now; `is_new` is False when the key named one that was started before.

    `behind` is the run of the same thread whose end it waits for.
    """

    run_id: str
    thread_id: str
    is_new: bool
    behind: str | None = None


async def start_run(store: Store, order: Order) -> Begun:
    """Start a run, or find the one its key names. In a busy thread, `order.strategy` decides.

    Raises CallerMistake (`empty_input`, `input_too_large`, `bad_thread`, `bad_key`), NotFound (`unknown_thread` when the thread is
    another user's, `unknown_run` when the run it continues is gone), Conflict (`thread_busy` when the thread has a run that has not
    ended and the new one is not to wait, `line_full` when too many wait already, `key_used` when the key names a run of another
    task).
    """
    words = clean_text(order.input)
    _check(words, order)
    if order.key is not None:
        known = await _of_key(store, order)
        if known is not None:
            return known
    run_id = run_id_from(order.random[:10])
    thread_id = order.thread_id or thread_id_from(order.random[10:20])
    for _ in range(MAX_RACES):
        ahead = await _ahead(store, order)
        items = await _items(store, order, words, run_id, thread_id, ahead)
        written = await store.commit([*items, *await _behind(store, order, run_id, ahead)])
        if isinstance(written, Committed):
            return Begun(run_id, thread_id, True, None if ahead is None else ahead.run_id)
        if written.guard is Guard.POSITION or (
            written.guard is Guard.THREAD_BUSY and (order.strategy != "reject" or ahead is None)
        ):
            continue  # the run ahead went on, or came in, meanwhile
        return await _refused(store, order, written, thread_id)
    raise _busy(thread_id, "a run")


async def items_to_start(store: Store, order: Order) -> list[Item]:
    """What a commit must hold to start a run of a thread that is there and has no run that has not ended; it is refused otherwise."""
    assert order.thread_id is not None
    run_id = run_id_from(order.random[:10])
    return await _items(store, order, order.input, run_id, order.thread_id, None)


async def _ahead(store: Store, order: Order) -> RunState | None:
    """The run of the same thread that comes before a new one, as it stands.

    One that only tells of background tasks soon ends, and refuses nobody.
    """
    if order.thread_id is None:
        return None
    thread = await store.read_thread(order.thread_id)
    if thread is not None and thread.user_id != order.user_id:
        raise _unknown_thread(order.thread_id)
    rows = await unfinished(store, order.thread_id)
    if not rows:
        return None
    state = await load_state(store, rows[0].run_id)
    if order.strategy == "reject" and not state.tells_of:
        raise _busy(order.thread_id, rows[0].run_id)
    if len(rows) > MAX_IN_LINE:
        detail = f"{len(rows) - 1} runs wait in the thread {order.thread_id} already."
        raise Conflict("line_full", detail, "Wait for some of them to end, or cancel them.")
    return None if state.has_ended else state


async def _behind(store: Store, order: Order, run_id: str, ahead: RunState | None) -> Sequence[Item]:
    """The items that put a new run behind another, which is cancelled if the new one is to interrupt it."""
    if ahead is None:
        return ()
    now = await store.now()
    if order.strategy == "enqueue" or ahead.tells_of:
        return awaiting(ahead, "runs", run_id, now)
    wishes: list[AnyEvent] = [
        CancelRequested(order.user_id, f"interrupted by {run_id}"),
        EndAwaited("runs", run_id),
    ]
    wished = items_to_append(ahead.run_id, placed(wishes, ahead.position, now), None)
    return [*wished, Enqueue("runs", ahead.run_id, now, ahead.user_id, ahead.definition.name)]


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


async def _items(
    store: Store, order: Order, words: str, run_id: str, thread_id: str, ahead: RunState | None
) -> list[Item]:
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
        in_line=ahead is not None,
        tells_of=order.tells_of,
        material=order.material,
    )
    row = RunRow(
        run_id=run_id,
        thread_id=thread_id,
        user_id=order.user_id,
        task=order.definition.name,
        state=str(State.INIT),
        is_active=ahead is None,
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
        *([] if order.tells_of else [InsertThread(thread)]),
        InsertRun(row),
        *texts,
        *items_to_append(run_id, placed([event], 0, now), None),
        *(
            said_items(thread_id, ThreadSaid(run_id, "user", words), now)
            if ahead is None and not order.tells_of
            else ()
        ),
        Enqueue(
            "runs",
            run_id,
            now + timedelta(seconds=order.head_start_seconds) if ahead is None else None,
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
        raise _unknown_thread(thread_id)
    raise _busy(thread_id, "a run")


def _unknown_thread(thread_id: str) -> NotFound:
    return NotFound(
        "unknown_thread", f"There is no thread {thread_id}.", "List yours with `outlast threads list`."
    )


def _busy(thread_id: str, run: str) -> Conflict:
    detail = f"The thread {thread_id} has {run}, which has not ended."
    next_step = "Wait for it, or cancel it with `outlast cancel RUN`; or start yours with --when-busy enqueue or interrupt."
    return Conflict("thread_busy", detail, next_step)


async def _of_key(store: Store, order: Order) -> Begun | None:
    """The run a key names. It must be a run of the same task; its input is the one it was started with."""
    row = await store.find_run(order.user_id, order.key or "")
    if row is None:
        return None
    if row.task != order.definition.name:
        detail = f"The key {order.key} names {row.run_id}, a run of the task {row.task}."
        raise Conflict("key_used", detail, "Use another key for another task.")
    return Begun(row.run_id, row.thread_id, False)
