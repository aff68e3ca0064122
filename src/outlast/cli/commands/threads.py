"""List threads, show what was said in one, or delete one."""

from __future__ import annotations

import sys
from typing import Annotated

from cyclopts import App, Parameter

from outlast.cli.asking import confirmed
from outlast.cli.exits import Exit
from outlast.cli.opening import with_store
from outlast.cli.options import AsJson, Config
from outlast.cli.phrases import counted
from outlast.cli.printing import document, note, out
from outlast.cli.tables import aligned
from outlast.domain.errors import CallerMistake, NotFound
from outlast.domain.ids import LOCAL_USER
from outlast.service.thread_removal import Ender, delete_thread
from outlast.service.threads import list_threads, show_thread
from outlast.wiring.identity import as_holder, is_surely_gone, own_identity
from outlast.wiring.remembering import memory_in

app = App(name="threads", help="List threads, show what was said in one, or delete one.")

ThreadId = Annotated[str, Parameter(help="Id of the thread.")]


@app.command(name="list")
def list_(*, config: Config = None, json: AsJson = False) -> int:
    """List the threads, newest first."""
    try:
        found = with_store(config, lambda store: list_threads(store, LOCAL_USER))
    except NotFound as nothing:
        note(str(nothing))
        found = []
    if json:
        document({"threads": found})
    elif found:
        rows = [(one["thread_id"], one["created_at"][:16].replace("T", " "), one["title"]) for one in found]
        out("\n".join(aligned(rows, ("THREAD", "STARTED", "TITLE"))))
    else:
        note("No threads.")
    return Exit.DONE


@app.command
def show(thread: ThreadId, /, *, config: Config = None, json: AsJson = False) -> int:
    """Show what was said in a thread."""
    shown = with_store(config, lambda store: show_thread(store, thread, LOCAL_USER))
    if json:
        document(shown)
    else:
        said = [f"{one['speaker']} ({one['run_id']}):\n{one['text']}\n" for one in shown["messages"]]
        out("\n".join([f"{shown['thread_id']}  {shown['title']}\n", *said]))
    return Exit.DONE


@app.command
def delete(
    thread: ThreadId,
    /,
    *,
    yes: Annotated[bool, Parameter(help="Do not ask.")] = False,
    config: Config = None,
    json: AsJson = False,
) -> int:
    """End what goes on in a thread and delete it with all its runs. It cannot be undone.

    What it left in memory is forgotten. What forks and continuations refer to stays.
    """
    if not yes:
        _ask(thread)
    ender = Ender(holder=as_holder(own_identity()), is_gone=is_surely_gone)
    gone = with_store(config, lambda store: delete_thread(store, memory_in(store), thread, LOCAL_USER, ender))
    if json:
        document({"thread_id": thread, "runs": gone.runs, "forgotten": gone.entries})
    else:
        left = f" and {counted(gone.entries, 'entry')} of memory" if gone.entries else ""
        note(f"Deleted {thread} with {counted(gone.runs, 'run')}{left}.")
    return Exit.DONE


def _ask(thread: str) -> None:
    if not sys.stdin.isatty():
        detail = f"The thread {thread} would be deleted, and nobody is there to agree."
        raise CallerMistake("not_confirmed", detail, "Say --yes, or look first with `outlast threads show`.")
    if not confirmed(f"Delete the thread {thread} with all its runs? It cannot be undone. [y/N] "):
        raise CallerMistake(
            "not_confirmed", "Nothing was deleted.", "`outlast export RUN` keeps a copy of a run."
        )
