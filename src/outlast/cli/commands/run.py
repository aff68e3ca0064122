"""Start a run and work on it here until it is done."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Annotated

from cyclopts import App, Parameter

from outlast.cli.detaching import leave_to_worker, refuse_memory
from outlast.cli.exits import Exit
from outlast.cli.options import AsJson, Config, Sets, ThreadId, WhenBusy
from outlast.cli.printing import document, note, one_line, out
from outlast.cli.sitting import Sitting
from outlast.cli.waiting import has_unsettled, tell_of_tasks, wait_for_tasks
from outlast.domain.errors import CallerMistake
from outlast.domain.ids import LOCAL_USER
from outlast.service.show import show_run
from outlast.wiring.engine import Request

app = App(name="run")

TaskName = Annotated[
    str,
    Parameter(
        help="Name of a task in tasks/ beside the configuration, or a task file. Needed without --from."
    ),
]
Input = Annotated[
    str,
    Parameter(
        allow_leading_hyphen=True, help="What it is to do; - reads it from stdin. Needed without --from."
    ),
]
From = Annotated[
    str | None,
    Parameter(
        name="--from", help="Id of a run that has ended: start from what it found, read again what changed."
    ),
]
Key = Annotated[
    str | None, Parameter(help="A name for this run: the same command again goes on with it, or prints it.")
]
Detach = Annotated[
    bool, Parameter(name="--detach", help="Leave the run to a worker; one is started if none is there.")
]
WaitTasks = Annotated[bool, Parameter(help="Stay until the background tasks of the run have ended.")]
Record = Annotated[
    Path | None,
    Parameter(
        help="Write calls of models with their answers to this file, secrets removed; `llm.provider: replay` plays it."
    ),
]


@app.default
def run(
    *,
    task: TaskName = "",
    input: Input = "",  # noqa: A002 - the pinned name
    thread: ThreadId = None,
    earlier: From = None,
    key: Key = None,
    when_busy: WhenBusy = "reject",
    detach: Detach = False,
    wait_tasks: WaitTasks = False,
    record: Record = None,
    sets: Sets = None,
    config: Config = None,
    json: AsJson = False,
) -> int:
    """Start a run and work on it here until it is done. The report (or answer) goes to stdout, progress to stderr."""
    if earlier is None:
        _require(task, input)
    words = text_of(input)
    if record is not None and detach:
        raise CallerMistake(
            "usage", "A run that is left to a worker cannot be recorded here.", "Leave out --detach."
        )
    with Sitting(config, sets or (), record=record) as sitting:
        if detach:
            refuse_memory(sitting.engine)
        request = Request(
            task=task,
            input=words,
            continues=earlier,
            thread_id=thread,
            key=key,
            overrides=sitting.overrides,
            is_claimed_here=not detach,
            strategy=when_busy,
        )
        is_named_anew = thread is not None and sitting.run(sitting.engine.store.read_thread(thread)) is None
        begun = sitting.run(sitting.engine.begin(request, note))
        if is_named_anew and begun.is_new:
            note(f"Began the thread {thread}: there was none of this name.")
        if not begun.is_new:
            return _known(sitting, begun.run_id, begun.thread_id, request, stays=wait_tasks, as_json=json)
        if begun.behind is not None:
            note(f"{begun.run_id} waits its turn: {begun.behind} of this thread has not ended.")
        if detach:
            return leave_to_worker(sitting, begun.run_id, config, sets or (), as_json=json)
        if wait_tasks:
            return _stayed(sitting, begun.run_id, begun.thread_id, as_json=json)
        code = sitting.see_through(begun.run_id, as_json=json)
        sitting.run(tell_of_tasks(sitting.engine, run_id=begun.run_id))
        return code


def _stayed(sitting: Sitting, run_id: str, thread_id: str, *, as_json: bool) -> Exit:
    """See a run through and stay until its background tasks are settled, and one that waited for them has gone on to its end.

    A JSON document is printed once, when nothing more comes; what the thread was told meanwhile is said on stderr then.
    """
    while True:
        code = sitting.see_through(run_id, as_json=as_json, prints=not as_json)
        if code is Exit.INTERRUPTED:
            return code
        if not sitting.run(has_unsettled(sitting.engine, run_id)):
            break
        try:
            told = sitting.run(wait_for_tasks(sitting.engine, run_id, thread_id))
        except KeyboardInterrupt:
            note("Interrupted; background tasks go on under `outlast worker` or `outlast serve`.")
            return Exit.INTERRUPTED
        for text in told:
            (note if as_json else out)(text)
        if code is not Exit.WAITING:
            break
    if as_json:
        document(sitting.run(show_run(sitting.engine.store, run_id, LOCAL_USER)))
    return code


def _require(task: str, words: str) -> None:
    """Raise CallerMistake (`usage`) for a run that says neither what it continues nor what it is to do."""
    missing = [name for name, value in (("--task", task), ("--input", words)) if not value]
    if missing:
        detail = f"A run needs {' and '.join(missing)}."
        raise CallerMistake(
            "usage", detail, "Say what is missing, or continue a run that has ended with --from RUN."
        )


def text_of(given: str) -> str:
    """The input that was given, or with `-` what stands on stdin. Raises CallerMistake (`unreadable_input`)."""
    if given != "-":
        return given
    try:
        return sys.stdin.buffer.read().decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise CallerMistake(
            "unreadable_input", "The input on stdin is not UTF-8 text.", "Convert it, for example with iconv."
        ) from error


def _known(
    sitting: Sitting, run_id: str, thread_id: str, request: Request, *, stays: bool, as_json: bool
) -> Exit:
    """The key names a run that was started before: go on with it, or print what it came to."""
    shown = sitting.run(show_run(sitting.engine.store, run_id, LOCAL_USER))
    note(f"The key {request.key} names {run_id}, started before ({shown['state']}).")
    if shown["input"].strip() != request.input.strip()[: len(shown["input"])].strip():
        note(f"  It was started with another input: {one_line(shown['input'])[:120]}")
        note("  For a new run, use another key.")
    if stays and shown["state"] != "PAUSED":
        return _stayed(sitting, run_id, thread_id, as_json=as_json)
    if shown["state"] in ("COMPLETED", "FAILED", "CANCELLED", "PAUSED"):
        return sitting.told(run_id, as_json=as_json)
    return sitting.see_through(run_id, as_json=as_json)
