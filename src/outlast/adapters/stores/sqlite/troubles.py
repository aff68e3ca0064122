"""What SQLite says, in outlast's words: whose fault it is and what to do next."""

from __future__ import annotations

import shutil
import sqlite3
from pathlib import Path

from outlast.domain.errors import Broken, CallerMistake, OutlastError

_FULL = {sqlite3.SQLITE_FULL}
_DAMAGED = {sqlite3.SQLITE_CORRUPT, sqlite3.SQLITE_NOTADB}
_BUSY = {sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED}
_NO_ACCESS = {sqlite3.SQLITE_READONLY, sqlite3.SQLITE_CANTOPEN, sqlite3.SQLITE_PERM, sqlite3.SQLITE_AUTH}

_ROOM_FOR_A_COMMIT_BYTES = 1 << 20


def in_our_words(error: Exception, path: Path | None, *, at_commit: bool = False) -> Exception:
    """The error to raise for one that came out of SQLite or of binding a value.

    `at_commit` says that it came from the commit itself, so that a failed disk leaves the outcome open. An error that is
    neither SQLite's nor a value's is returned as it is.
    """
    if isinstance(error, OutlastError):
        return error
    if isinstance(error, UnicodeEncodeError | OverflowError | sqlite3.DataError | sqlite3.InterfaceError):
        return CallerMistake(
            "not_storable",
            f"A value cannot be stored or looked for: {error}.",
            "Leave out characters that are no valid text (lone surrogates), and keep whole numbers within 64 bits.",
        )
    if not isinstance(error, sqlite3.Error):
        return error
    return _broken(error, primary_code(error), path, at_commit)


def primary_code(error: sqlite3.Error) -> int:
    """SQLite's result code without its details; 0 for an error of the driver's own."""
    return getattr(error, "sqlite_errorcode", 0) & 0xFF


def _broken(error: sqlite3.Error, code: int, path: Path | None, at_commit: bool) -> Broken:
    where = "in memory" if path is None else str(path)
    if code in _FULL or (code == sqlite3.SQLITE_IOERR and _is_disk_full(path)):
        return Broken(
            "store_full",
            f"There is no room left for the store {where} ({error}).",
            "Free some disk space; nothing was lost and no restart is needed.",
        )
    if code in _DAMAGED or str(error).startswith("Could not decode to UTF-8"):
        return Broken(
            "store_damaged",
            f"The store {where} is damaged or is not an outlast database ({error}).",
            "Restore it from a backup, or set harness.persistence.path to another file.",
        )
    if code == sqlite3.SQLITE_IOERR and at_commit:
        return Broken(
            "commit_unknown",
            f"The disk failed while a commit to the store {where} was made durable ({error}).",
            "Check the disk, then read the journal again to see whether the commit is there.",
        )
    if code in _BUSY:
        return Broken(
            "store_unavailable",
            f"Another process has kept the store {where} locked for too long ({error}).",
            "Look for a process that holds the file, such as a database browser or a backup, and end it.",
        )
    if code in _NO_ACCESS:
        return Broken(
            "store_unavailable",
            f"The store {where} cannot be opened for writing ({error}).",
            "Check that the file and its directory belong to this user and are writable.",
        )
    return Broken(
        "store_unavailable",
        f"The store {where} does not answer ({error}).",
        "Check the disk and the file; `outlast db check` looks closer.",
    )


def _is_disk_full(path: Path | None) -> bool:
    """Has the disk no room for a commit? A full disk shows as a read or write error where a file is mapped into memory."""
    try:
        return path is not None and shutil.disk_usage(path.parent).free < _ROOM_FOR_A_COMMIT_BYTES
    except OSError:
        return False
