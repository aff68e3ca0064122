"""Messages between runs of one thread: written into both journals in one commit, so that each is delivered once."""

from __future__ import annotations

from datetime import datetime
from typing import Final

from outlast.domain.door import clean_text, digest_of
from outlast.domain.errors import Broken, CallerMistake, Conflict
from outlast.domain.events import AnyEvent, MessageReceived, MessageSent
from outlast.domain.run import RunState
from outlast.journal.append import items_to_append, placed
from outlast.journal.fold import load_state
from outlast.journal.history import read_history
from outlast.ports.batch import Committed, Item
from outlast.ports.queue import Enqueue
from outlast.ports.store import Store
from outlast.runs.line import unfinished
from outlast.service.show import owned_row

MAX_MESSAGE_BYTES: Final = 20_000

MAX_RACES: Final = 50


async def send_message(
    store: Store, sender: str, to: str, text: str, user_id: str, key: str | None = None
) -> str:
    """Tell a run something on behalf of another run of its thread; returns the id of the message.

    With a `key` the same message is sent once however often it is asked for. Raises NotFound (`unknown_run`), Conflict
    (`run_ended`, also for the sender; `other_thread`), CallerMistake (`empty_text`, `text_too_large`).
    """
    words = _words(text)
    message = "g-" + digest_of(f"{sender} {key}" if key is not None else f"{sender} {to} {words}")[:16]
    await owned_row(store, sender, user_id)
    await owned_row(store, to, user_id)
    for _ in range(MAX_RACES):
        if key is not None and await _was_sent(store, sender, message):
            return message
        source, target = await load_state(store, sender), await load_state(store, to)
        if source.thread_id != target.thread_id or sender == to:
            detail = f"{to} is no other run of the thread {source.thread_id}."
            raise Conflict("other_thread", detail, "Runs of one thread may tell each other something.")
        for state in (source, target):
            if state.has_ended:
                detail = f"{state.run_id} has ended ({state.state})."
                raise Conflict("run_ended", detail, "Only runs that go on can be told something.")
        now = await store.now()
        sent, received = MessageSent(message, to, words), MessageReceived(message, sender, words)
        items = [*_appended(source, sent, now), *_appended(target, received, now)]
        wake = Enqueue("runs", to, now, user_id, target.definition.name)
        if isinstance(await store.commit([*items, wake]), Committed):
            return message
    raise Broken("store_contended", f"The message from {sender} to {to} could not be appended.", "Try again.")


def _appended(state: RunState, event: AnyEvent, now: datetime) -> list[Item]:
    return items_to_append(state.run_id, placed([event], state.position, now), None)


async def mates_of(store: Store, run_id: str, thread_id: str) -> list[str]:
    """The other runs of a thread that have not ended, in the order in which they will work."""
    return [row.run_id for row in await unfinished(store, thread_id) if row.run_id != run_id]


def _words(text: str) -> str:
    if not text.strip():
        raise CallerMistake("empty_text", "There is nothing to say in an empty text.", "Give a text.")
    words = clean_text(text)
    if len(words.encode()) > MAX_MESSAGE_BYTES:
        detail = f"The text has more than {MAX_MESSAGE_BYTES} bytes."
        raise CallerMistake("text_too_large", detail, "Say it in fewer words, or name a file.")
    return words


async def _was_sent(store: Store, sender: str, message: str) -> bool:
    history = await read_history(store, sender)
    return any(isinstance(one.event, MessageSent) and one.event.message == message for one in history)
