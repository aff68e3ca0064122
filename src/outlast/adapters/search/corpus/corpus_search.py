"""Search and fetch over a folder of documents."""

from __future__ import annotations

import asyncio
import sqlite3
import threading
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Final, TypeVar

from outlast.adapters.search.corpus.address import address_of, path_of
from outlast.adapters.search.corpus.index import CorpusIndex, index_file_for
from outlast.adapters.search.corpus.ranking import best_documents
from outlast.adapters.search.corpus.refresh import Refresher
from outlast.adapters.search.reading.reader_process import ReaderProcess
from outlast.domain.errors import CallerMistake, ToolTrouble
from outlast.ports.search import Page, SearchHit

T = TypeVar("T")

_DAMAGED: Final = frozenset({sqlite3.SQLITE_CORRUPT, sqlite3.SQLITE_NOTADB})


class CorpusSearch:
    """Searches and reads the Markdown, text, HTML and PDF files under `root`, addressed as `corpus://relative/path`.

    Implements both Search and Fetch. Every call first brings the index up to date with the folder, so files added, changed or
    removed while a run works are seen. `index` names the database the index is kept in (its name is marked with the folder, so
    one name serves many folders); None keeps it in memory. `limit_seconds` bounds the reading of one HTML or PDF file. The
    work is done in a thread of its own.
    """

    def __init__(self, root: Path, index: Path | None, *, limit_seconds: float = 20.0) -> None:
        self._root = root
        self._index_file = index_file_for(root, index) if index is not None else None
        self._index: CorpusIndex | None = None
        self._index_problem: list[str] = []
        self._problems: list[str] = []
        self._reader = ReaderProcess(limit_seconds)
        self._stop = threading.Event()
        self._refresher = Refresher(root, self._reader, self._stop)
        self._thread = ThreadPoolExecutor(max_workers=1, thread_name_prefix="corpus")

    async def refresh(self) -> None:
        """Bring the index up to date now.

        Raises CallerMistake with code `corpus_missing` or `corpus_empty`, so that a run over nothing can be refused at its start;
        ToolTrouble when the index cannot be used.
        """
        await self._in_thread(self._refresh)

    def problems(self) -> list[str]:
        """One line for each file that the last refresh skipped or read with losses, and why."""
        return [*self._index_problem, *self._problems]

    async def search(self, query: str, limit: int) -> list[SearchHit]:
        """At most `limit` documents, best first, each with its best passage as snippet; see the port.

        Nothing in the query is an operator. Raises ToolTrouble, with code `corpus_missing` or `corpus_empty` when there is nothing
        to search.
        """
        if limit < 1:
            return []

        def find(index: CorpusIndex) -> list[SearchHit]:
            self._refresh(index)
            return best_documents(index, query, limit)

        return await self._as_tool(find)

    async def fetch(self, url: str) -> Page:
        """The text of the document at a `corpus://` address; see the port.

        Only files that belong to the corpus can be named; `fetch_failed` says why one of them has no text.
        """
        path = path_of(url)

        def read(index: CorpusIndex) -> Page:
            self._refresh(index)
            return _page(index, path, url)

        return await self._as_tool(read)

    async def close(self) -> None:
        """End what is being read and close the index. Safe to call twice."""
        if self._stop.is_set():
            return
        self._stop.set()
        self._reader.kill()
        await asyncio.get_running_loop().run_in_executor(self._thread, self._close)
        self._thread.shutdown(wait=False)

    async def _as_tool(self, work: Callable[[CorpusIndex], T]) -> T:
        try:
            return await self._in_thread(work)
        except CallerMistake as error:
            raise ToolTrouble(error.code, error.detail, error.next_step) from error

    async def _in_thread(self, work: Callable[[CorpusIndex], T]) -> T:
        if self._stop.is_set():
            raise ToolTrouble("search_failed", "The corpus search is closed.", "Open the harness again.")
        return await asyncio.get_running_loop().run_in_executor(self._thread, self._with_index, work)

    def _with_index(self, work: Callable[[CorpusIndex], T]) -> T:
        try:
            try:
                return work(self._opened())
            except sqlite3.DatabaseError as error:
                if getattr(error, "sqlite_errorcode", 0) & 0xFF not in _DAMAGED:
                    raise
                self._discard()
                return work(self._opened())
        except sqlite3.Error as error:
            raise ToolTrouble(
                "search_failed",
                f"The index of the corpus cannot be used: {error}.",
                f"Delete {self._index_file or 'nothing'} if this goes on; it is only a cache.",
            ) from error

    def _opened(self) -> CorpusIndex:
        if self._index is None:
            self._index = self._open()
        return self._index

    def _open(self) -> CorpusIndex:
        if self._index_file is None:
            return CorpusIndex(None)
        try:
            self._index_file.parent.mkdir(parents=True, exist_ok=True)
            return CorpusIndex(self._index_file)
        except (OSError, sqlite3.OperationalError) as error:
            reason = f"{self._index_file}: the index cannot be kept here ({error}), so it is made in memory each time"
            self._index_problem = [reason]
            return CorpusIndex(None)

    def _discard(self) -> None:
        """The index is a cache: a damaged one is made again."""
        self._close_index()
        if self._index_file is not None:
            for suffix in ("", "-wal", "-shm"):
                self._index_file.with_name(self._index_file.name + suffix).unlink(missing_ok=True)

    def _refresh(self, index: CorpusIndex) -> None:
        self._problems = self._refresher.refresh(index)

    def _close(self) -> None:
        self._reader.close()
        self._close_index()

    def _close_index(self) -> None:
        index, self._index = self._index, None
        if index is not None:
            index.close()


def _page(index: CorpusIndex, path: str, url: str) -> Page:
    document = index.document(path)
    if document is None:
        raise ToolTrouble(
            "not_found", f"The corpus has no document at {url[:200]!r}.", "Search for it with web_search."
        )
    if document.problem:
        raise ToolTrouble("fetch_failed", f"{path}: {document.problem}.", "Use another document.")
    return Page(
        url=address_of(path),
        title=document.title,
        text=document.text,
        media_type=document.media_type,
        size_bytes=document.size_bytes,
        is_cut=bool(document.is_cut),
        note=document.note,
    )
