"""Files that are there whole or not at all, and lines of files, compressed or not."""

from __future__ import annotations

import gzip
import os
import sys
import zlib
from collections.abc import Iterator
from pathlib import Path
from types import TracebackType
from typing import IO, Final, Self

from outlast.domain.errors import CallerMistake

_GZIP: Final = b"\x1f\x8b"


class WholeFile:
    """A file that appears under its name when all is written and on the disk; after an error nothing is left.

    Only its owner may read it; `.gz` compresses. Use as a context manager. Raises CallerMistake (`file_unusable`).
    """

    def __init__(self, path: Path) -> None:
        self.path = path
        self.draft = path.with_name(f".{path.name}.{os.getpid()}.part")

    def __enter__(self) -> Self:
        try:
            # For nobody else's eyes, as the database is: it holds the same.
            self._raw: IO[bytes] = open(self.draft, "wb", opener=_private)
        except OSError as error:
            raise unusable(self.path, error) from error
        # No name and no time in it: equal content gives equal bytes.
        self._file: IO[bytes] = (
            gzip.GzipFile("", "wb", fileobj=self._raw, mtime=0) if self.path.suffix == ".gz" else self._raw  # type: ignore[assignment]
        )
        return self

    def write(self, data: bytes) -> None:
        """Write more."""
        try:
            self._file.write(data)
        except OSError as error:
            raise unusable(self.path, error) from error

    def finish(self) -> Path:
        """Put all that was written on the disk, still under the name of a draft; returns where it is."""
        try:
            if self._file is not self._raw:
                self._file.close()
            self._raw.flush()
            os.fsync(self._raw.fileno())
            self._raw.close()
        except OSError as error:
            raise unusable(self.path, error) from error
        return self.draft

    def keep(self, path: Path | None = None) -> None:
        """Give what was finished its name, or another one; a file of that name is replaced."""
        target = path or self.path
        os.replace(self.draft, target)
        _sync_folder(target.parent)

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._file.close()
        self._raw.close()
        self.draft.unlink(missing_ok=True)


def lines_in(path: Path | None) -> Iterator[bytes]:
    """The lines of a file, or of stdin (None), each with its end; gzip is seen by its first bytes. Raises CallerMistake
    (`file_unusable`)."""
    try:
        with sys.stdin.buffer if path is None else path.open("rb") as raw:
            head = raw.peek(2)[:2] if hasattr(raw, "peek") else b""
            yield from gzip.GzipFile(fileobj=raw) if head == _GZIP else raw
    except (OSError, EOFError, zlib.error) as error:
        raise unusable(path or Path("stdin"), error) from error


def unusable(path: Path, error: Exception) -> CallerMistake:
    """The error for a file that cannot be read or written."""
    why = getattr(error, "strerror", None) or str(error)
    return CallerMistake("file_unusable", f"{path}: {why}.", "Name a file that is there and may be used.")


def _private(path: str, flags: int) -> int:
    return os.open(path, flags, 0o600)


def _sync_folder(folder: Path) -> None:
    descriptor = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)
