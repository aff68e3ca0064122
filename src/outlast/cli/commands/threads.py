"""List threads, or show what was said in one."""

from __future__ import annotations

from typing import Annotated

from cyclopts import App, Parameter

from outlast.cli.exits import Exit
from outlast.cli.opening import with_store
from outlast.cli.options import AsJson, Config
from outlast.cli.printing import document, note, out
from outlast.cli.tables import aligned
from outlast.domain.errors import NotFound
from outlast.domain.ids import LOCAL_USER
from outlast.service.threads import list_threads, show_thread

app = App(name="threads", help="List threads, or show what was said in one.")

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
