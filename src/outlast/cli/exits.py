"""What a command comes to: its exit code, and how an error is told."""

from __future__ import annotations

import os
import sys
import tempfile
import traceback
from datetime import datetime
from enum import IntEnum
from pathlib import Path

from outlast.cli.printing import document, note
from outlast.domain.errors import CallerMistake, Conflict, NotFound, OutlastError


class Exit(IntEnum):
    """The exit codes."""

    DONE = 0
    FAILED = 1
    USAGE = 2
    WAITING = 3
    NOT_FOUND = 4
    CONFLICT = 5
    INTERRUPTED = 130
    PIPE_CLOSED = 141


def exit_code_of(error: OutlastError) -> Exit:
    """The exit code an error stands for."""
    if isinstance(error, NotFound):
        return Exit.NOT_FOUND
    if isinstance(error, Conflict):
        return Exit.CONFLICT
    return Exit.USAGE if isinstance(error, CallerMistake) else Exit.FAILED


def exit_code_of_state(state: str) -> Exit:
    """The exit code of a run that rests in `state`."""
    if state == "COMPLETED":
        return Exit.DONE
    return Exit.FAILED if state in ("FAILED", "CANCELLED") else Exit.WAITING


def tell_error(code: str, detail: str, next_step: str, *, as_json: bool) -> None:
    """Say what went wrong and what to do: to a person, and with `as_json` also to a program."""
    note(f"error: {detail}")
    if next_step:
        note(f"  next: {next_step}")
    if as_json:
        document({"error": {"code": code, "detail": detail, "next": next_step}})


def told(error: OutlastError, *, as_json: bool) -> Exit:
    """Tell an error; returns its exit code."""
    tell_error(error.code, error.detail, error.next_step, as_json=as_json)
    return exit_code_of(error)


def told_surprise(error: Exception, *, as_json: bool, shows_traceback: bool) -> Exit:
    """Tell an error that nobody foresaw, briefly; its traceback goes to a file, or with `shows_traceback` to stderr."""
    text = "".join(traceback.format_exception(error))
    if shows_traceback:
        sys.stderr.write(text)
        where = "Please report it with the traceback above."
    else:
        where = f"Please report it with the traceback in {_kept(text)} (or use --debug)."
    brief = " ".join(str(error).split())[:300]
    tell_error(
        "unexpected",
        f"Something unexpected went wrong: {type(error).__name__}: {brief}",
        where,
        as_json=as_json,
    )
    return Exit.FAILED


def pipe_closed() -> Exit:
    """The reader of our output has gone: say nothing more."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
    return Exit.PIPE_CLOSED


def _kept(text: str) -> str:
    folder = Path(".outlast") if Path(".outlast").is_dir() else Path(tempfile.gettempdir())
    stamp = datetime.now().astimezone().strftime("%Y%m%d-%H%M%S")
    try:
        with (folder / f"outlast-error-{stamp}-{os.getpid()}.log").open("w", encoding="utf-8") as file:
            file.write(text)
            return file.name
    except OSError:
        return "(it could not be written to a file)"
