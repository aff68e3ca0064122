"""Talk, line by line; each answer is a run of one thread."""

from __future__ import annotations

import importlib
import sys
from collections.abc import Iterator
from typing import Annotated, Final

from cyclopts import App, Parameter

from outlast.cli.conversation import Conversation
from outlast.cli.exits import Exit, told
from outlast.cli.options import AsJson, Config, Sets, ThreadId, WhenBusy
from outlast.cli.printing import note
from outlast.cli.sitting import Sitting
from outlast.cli.waiting import tell_of_tasks
from outlast.domain.errors import OutlastError
from outlast.domain.ids import LOCAL_USER
from outlast.ports.store import Store
from outlast.service.threads import list_threads
from outlast.wiring.settings.problem import nearest

app = App(name="chat")

_PROMPT: Final = "> "


@app.default
def chat(
    *,
    thread: ThreadId = None,
    task: Annotated[str, Parameter(help="The task of each turn.")] = "chat",
    when_busy: WhenBusy = "reject",
    sets: Sets = None,
    config: Config = None,
    json: AsJson = False,
) -> int:
    """Talk, line by line. Ctrl-C stops an answer, Ctrl-D leaves; --thread goes on with an earlier conversation.

    From a pipe, each line of stdin is a turn. With --json, the `show` document of each turn is printed on a line.
    """
    is_watched = sys.stdin.isatty() and sys.stdout.isatty()
    worst = Exit.DONE
    with Sitting(config, sets or ()) as sitting:
        if thread is not None:
            sitting.run(_tell_if_new(sitting.engine.store, thread))
        conversation = Conversation(sitting, task, thread, when_busy, as_json=json)
        if is_watched:
            note("Ctrl-C stops an answer, Ctrl-D leaves.")
        for words in _typed() if is_watched else _piped():
            try:
                worst = max(worst, conversation.turn(words))
            except OutlastError as error:
                if not is_watched:
                    raise
                told(error, as_json=json)
        if conversation.thread_id is not None:
            note(f"Go on with: outlast chat --thread {conversation.thread_id}")
            sitting.run(tell_of_tasks(sitting.engine, thread_id=conversation.thread_id))
    return Exit.DONE if is_watched else worst


async def _tell_if_new(store: Store, thread: str) -> None:
    """Say that there is no thread of this name yet, with the one that may have been meant: nothing that was said there is known."""
    if await store.read_thread(thread) is not None:
        return
    near = nearest(thread, [one["thread_id"] for one in await list_threads(store, LOCAL_USER)])
    hint = f" Did you mean {near}?" if near is not None else ""
    note(f"There is no thread {thread}: this begins it.{hint}")


def _piped() -> Iterator[str]:
    for line in sys.stdin:
        if line.strip():
            yield line.rstrip("\n")


def _typed() -> Iterator[str]:
    """What a person types, with the editing of readline where this Python has it."""
    try:
        importlib.import_module("readline")
    except ImportError:
        note("(lines cannot be edited: this Python has no readline)")
    while True:
        try:
            words = input(_PROMPT)
        except EOFError:
            note("")
            return
        except KeyboardInterrupt:
            note("\nCtrl-D leaves.")
            continue
        if words.strip():
            yield words
