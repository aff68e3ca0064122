"""The documents of a folder, found without reading them."""

from __future__ import annotations

import os
import stat
from collections.abc import Iterator
from pathlib import Path
from typing import Final

from outlast.domain.dataclass import dataclass

_SKIPPED_FOLDERS: Final = frozenset(
    {"__pycache__", "node_modules", "venv", "site-packages", "$RECYCLE.BIN", "lost+found"}
)
_SKIPPED_SUFFIXES: Final = (".css", ".js", ".map", ".pyc", ".swp", ".tmp", ".part", ".crdownload", "~")
"""What lies beside documents and is none: the assets of saved pages, and files still being written."""


@dataclass(frozen=True, slots=True)
class Candidate:
    """A file that may be a document. `path` is relative, with `/`; `stamp` differs whenever the file may have
    changed, unless it changed again within a clock tick of `changed_ns` (nanoseconds since 1970)."""

    path: str
    real_path: str
    size_bytes: int
    changed_ns: int
    stamp: str


@dataclass(slots=True)
class Listing:
    """What a walk found, and the notes about what it passed over that people may have wanted."""

    candidates: dict[str, Candidate]
    notes: list[str]


def list_folder(root: Path) -> Listing:
    """Every file under `root` that may be a document, in order of path.

    Hidden files and known clutter are passed over in silence. Links are followed only to files that lie under `root`; other links,
    and folders that cannot be listed, leave a note.
    """
    real_root = os.path.realpath(root)
    listing = Listing({}, [])
    for entry in _entries(real_root, listing.notes):
        path = os.path.relpath(entry.path, real_root).replace(os.sep, "/")
        if not _is_utf8(path):
            listing.notes.append(f"{path!a}: its name is not valid UTF-8; rename it")
            continue
        candidate = _candidate(entry, path, real_root, listing.notes)
        if candidate is not None:
            listing.candidates[path] = candidate
    return listing


def read_candidate(candidate: Candidate, limit_bytes: int) -> bytes:
    """At most `limit_bytes` + 1 bytes of the file. Raises OSError when it is gone, no longer a plain file, or may not be read."""
    descriptor = os.open(candidate.real_path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC)
    with open(descriptor, "rb") as file:
        if not stat.S_ISREG(os.fstat(descriptor).st_mode):
            raise OSError("it is not a plain file")
        return file.read(limit_bytes + 1)


def _entries(folder: str, notes: list[str]) -> Iterator[os.DirEntry[str]]:
    """Depth first and in order, so that two machines list the same folder alike."""
    try:
        with os.scandir(folder) as found:
            entries = sorted(found, key=lambda entry: entry.name)
    except OSError as error:
        notes.append(f"{folder!a}: this folder cannot be listed ({error.strerror})")
        return
    for entry in entries:
        if entry.name.startswith("."):
            continue
        if entry.is_dir(follow_symlinks=False):
            if entry.name not in _SKIPPED_FOLDERS:
                yield from _entries(entry.path, notes)
        elif not entry.name.endswith(_SKIPPED_SUFFIXES):
            yield entry


def _candidate(entry: os.DirEntry[str], path: str, real_root: str, notes: list[str]) -> Candidate | None:
    real_path = entry.path
    if entry.is_symlink():
        real_path = os.path.realpath(entry.path)
        if not real_path.startswith(real_root + os.sep) or os.path.isdir(real_path):
            notes.append(f"{path}: a link to a folder or to outside the corpus, not followed")
            return None
    try:
        found = os.stat(real_path, follow_symlinks=False)
    except OSError:
        return None
    if not stat.S_ISREG(found.st_mode):
        return None
    stamp = f"{found.st_size}:{found.st_mtime_ns}:{found.st_ctime_ns}"
    return Candidate(path, real_path, found.st_size, found.st_ctime_ns, stamp)


def _is_utf8(path: str) -> bool:
    try:
        path.encode()
    except UnicodeEncodeError:
        return False
    return True
