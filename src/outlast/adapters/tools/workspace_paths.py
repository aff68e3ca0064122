"""Paths a model names, confined to the run's workspace."""

from __future__ import annotations

import os
import stat
from pathlib import Path, PurePosixPath
from typing import BinaryIO
from urllib.parse import unquote

from outlast.domain.errors import ToolTrouble

_LOOK = "See what there is with list_files."


def confined(workspace: Path, named: str) -> Path:
    """The path `named` stands for inside `workspace`, every symbolic link resolved.

    Relative paths only. Raises ToolTrouble (`path_refused`) for whatever leads out: `..`, an absolute path, a
    drive, NUL, a symbolic link, and the same hidden behind percent-encoding or backslashes. Compared by
    components, so `a..b` is an ordinary name.
    """
    root = workspace.resolve()
    for spelling in (named, unquote(named), unquote(named).replace("\\", "/")):
        if not _stays_inside(root, spelling):
            raise ToolTrouble(
                "path_refused",
                "This path is not inside the workspace.",
                "Use a relative path such as notes/draft.md; it may not begin with / or lead out by ..",
            )
    return (root / named).resolve()


def open_for_reading(path: Path, named: str) -> BinaryIO:
    """The regular file at `path`, opened without following a link put there meanwhile.

    Raises ToolTrouble (`not_found`, `not_a_file`), naming the path as `named`.
    """
    try:
        descriptor = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC)
    except FileNotFoundError as error:
        raise ToolTrouble("not_found", f"There is no file {named}.", _LOOK) from error
    except OSError as error:
        raise ToolTrouble("not_a_file", f"{named} cannot be opened: {error.strerror}.", _LOOK) from error
    if not stat.S_ISREG(os.fstat(descriptor).st_mode):
        os.close(descriptor)
        raise ToolTrouble("not_a_file", f"{named} is not a file.", _LOOK)
    return os.fdopen(descriptor, "rb")


def _stays_inside(root: Path, spelling: str) -> bool:
    pure = PurePosixPath(spelling)
    if "\0" in spelling or pure.is_absolute() or spelling[1:2] == ":":
        return False
    try:
        # Whether `..` is taken away before links are followed or after: neither reading may lead out.
        literal = Path(os.path.normpath(root / pure))
        return literal.is_relative_to(root) and (root / pure).resolve().is_relative_to(root)
    except (OSError, RuntimeError, ValueError):
        return False
