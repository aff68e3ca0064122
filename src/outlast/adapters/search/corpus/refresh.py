"""Bringing the index up to date with the folder, reading only what changed."""

from __future__ import annotations

import errno
import hashlib
import threading
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Final

from outlast.adapters.search.corpus.folder import Candidate, list_folder, read_candidate
from outlast.adapters.search.corpus.index import CorpusIndex, Document
from outlast.adapters.search.reading.document import read_document
from outlast.adapters.search.reading.reader_process import ReaderProcess
from outlast.adapters.search.reading.reading import Unreadable
from outlast.domain.errors import CallerMistake

MAX_FILE_BYTES: Final = 64 * 1024 * 1024

_BATCH_FILES: Final = 64
"""Files entered in one transaction, so that a large corpus interrupted half-way does not begin again."""
_CLOCK_TICK_NS: Final = 100_000_000
_UNSETTLED: Final = "unsettled:"
_FAILED_IN_PASSING: Final = "passing:"


class Refresher:
    """Makes the index equal to the folder, as often as asked.

    `reader` takes HTML and PDF apart; setting `stop` ends a refresh early, between two files.
    """

    def __init__(self, root: Path, reader: ReaderProcess, stop: threading.Event) -> None:
        self._root = root
        self._reader = reader
        self._stop = stop
        self._tried_here: set[tuple[str, str]] = set()

    def refresh(self, index: CorpusIndex) -> list[str]:
        """Read what is new or changed, forget what is gone, and return a line for each file skipped or read with losses.

        Blocking. Raises CallerMistake with code `corpus_missing` when the root is no folder and `corpus_empty` when there is
        nothing readable in it.
        """
        if not self._root.is_dir():
            raise CallerMistake(
                "corpus_missing",
                f"The corpus folder {str(self._root)!r} does not exist or is not a folder.",
                "Create it and put documents in it, or set search.path to a folder of documents.",
            )
        # The index is read first: what it knew then and the folder lacks now is really gone, whoever else is indexing.
        known = index.known()
        listing = list_folder(self._root)
        index.remove([path for path in known if path not in listing.candidates])
        changed = [file for file in listing.candidates.values() if self._may_have_changed(file, known)]
        for start in range(0, len(changed), _BATCH_FILES):
            self._read_batch(changed[start : start + _BATCH_FILES], known, index)
        problems = [*listing.notes, *(f"{path}: {remark}" for path, remark in index.remarks())]
        if not self._stop.is_set() and not index.has_documents():
            raise _empty(self._root, problems)
        return problems

    def _may_have_changed(self, file: Candidate, known: dict[str, tuple[str, str]]) -> bool:
        stamp = known.get(file.path, ("", ""))[0]
        has_failed_here = (
            stamp == _FAILED_IN_PASSING + file.stamp and (file.path, file.stamp) in self._tried_here
        )
        return stamp != file.stamp and not has_failed_here

    def _read_batch(
        self, files: Sequence[Candidate], known: dict[str, tuple[str, str]], index: CorpusIndex
    ) -> None:
        documents: list[Document] = []
        restamped: list[tuple[str, str]] = []
        for file in files:
            if self._stop.is_set():
                break
            digest = known.get(file.path, ("", ""))[1]
            document = self._read(file, digest)
            if document is None:
                continue
            if digest and document.digest == digest:
                restamped.append((document.stamp, file.path))
            else:
                documents.append(document)
        index.put(documents, restamped)

    def _read(self, file: Candidate, known_digest: str) -> Document | None:
        """The file as a document; only its digest if that is the known one; None when it is gone."""
        stamp = _settled_stamp(file)
        try:
            data = read_candidate(file, MAX_FILE_BYTES)
        except OSError as error:
            if error.errno == errno.ENOENT:
                return None
            problem = f"it cannot be read ({error.strerror or error})"
            return Document(file.path, stamp, "", size_bytes=file.size_bytes, problem=problem)
        if len(data) > MAX_FILE_BYTES:
            problem = f"it is larger than {MAX_FILE_BYTES // 1024 // 1024} MiB"
            return Document(file.path, stamp, "", size_bytes=file.size_bytes, problem=problem)
        digest = hashlib.sha256(data).hexdigest()
        if digest == known_digest:
            return Document(file.path, stamp, digest)
        return self._extract(file, stamp, digest, data)

    def _extract(self, file: Candidate, stamp: str, digest: str, data: bytes) -> Document:
        try:
            reading = read_document(data, self._reader, name=file.path)
        except Unreadable as error:
            if error.is_passing:
                self._tried_here.add((file.path, file.stamp))
                stamp, digest = _FAILED_IN_PASSING + file.stamp, ""
            return Document(
                file.path, stamp, digest, size_bytes=len(data), problem=f"skipped, {error.reason}"
            )
        return Document(
            file.path,
            stamp,
            digest,
            reading.title,
            reading.media_type,
            len(data),
            reading.is_cut,
            reading.note,
            text=reading.text,
        )


def _settled_stamp(file: Candidate) -> str:
    """A file changed within the last clock tick may change again without a new stamp, so it is looked at once more."""
    is_settled = abs(time.time_ns() - file.changed_ns) > _CLOCK_TICK_NS
    return file.stamp if is_settled else _UNSETTLED + file.stamp


def _empty(root: Path, problems: Sequence[str]) -> CallerMistake:
    skipped = f" Skipped: {'; '.join(problems[:5])}." if problems else ""
    return CallerMistake(
        "corpus_empty",
        f"The corpus folder {str(root)!r} holds no document that can be read.{skipped}",
        "Put Markdown, text, HTML or PDF files in it, or set search.path to another folder.",
    )
