"""The index of a corpus in SQLite: what was read of each file, and the words of its passages."""

from __future__ import annotations

import hashlib
import sqlite3
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Final

from outlast.adapters.search.corpus.passages import passages_of
from outlast.domain.dataclass import dataclass
from outlast.domain.words import prepared

SCHEMA_VERSION: Final = 1
"""Raised whenever the schema, the preparation of words or the cutting of passages changes: older indexes are then left alone."""

BUSY_SECONDS: Final = 30.0

_SCHEMA: Final = Path(__file__).with_name("schema.sql")
_COLUMNS: Final = "path, stamp, digest, title, media_type, size_bytes, is_cut, note, problem, text"


@dataclass(frozen=True, slots=True)
class Document:
    """A file as it was read. `problem` says why it has no text; `stamp` and `digest` tell whether it changed."""

    path: str
    stamp: str
    digest: str
    title: str = ""
    media_type: str = ""
    size_bytes: int = 0
    is_cut: int = 0
    note: str = ""
    problem: str = ""
    text: str = ""


class CorpusIndex:
    """One SQLite database that several processes may fill and search at once. Belongs to the thread that made it."""

    def __init__(self, file: Path | None) -> None:
        """Open `file`, or an index in memory. Raises sqlite3.Error when it cannot be used as an index."""
        self._connection = sqlite3.connect(file or ":memory:", timeout=BUSY_SECONDS, isolation_level=None)
        try:
            self._connection.execute("pragma foreign_keys = on")
            self._connection.execute("pragma journal_mode = wal")
            self._connection.execute("pragma synchronous = normal")
            with self._writing():
                if not self._connection.execute("pragma user_version").fetchone()[0]:
                    self._create()
        except BaseException:
            self._connection.close()
            raise

    def close(self) -> None:
        """Close the database. Safe to call twice."""
        self._connection.close()

    def known(self) -> dict[str, tuple[str, str]]:
        """The (stamp, digest) of every file in the index, by path."""
        return {
            path: (stamp, digest)
            for path, stamp, digest in self._rows("select path, stamp, digest from document")
        }

    def put(self, documents: Sequence[Document], restamped: Sequence[tuple[str, str]] = ()) -> None:
        """Enter or replace documents, and give (stamp, path) pairs of unchanged files their new stamp, in one transaction.

        A document that another process has entered meanwhile, as it was read here, is left as it is but for its stamp.
        """
        with self._writing():
            self._connection.executemany("update document set stamp = ? where path = ?", restamped)
            for document in documents:
                if not self._is_there(document):
                    self._replace(document)

    def remove(self, paths: Sequence[str]) -> None:
        """Forget files."""
        with self._writing():
            self._connection.executemany("delete from document where path = ?", [(path,) for path in paths])

    def document(self, path: str) -> Document | None:
        """What was read of the file at `path`."""
        rows = self._rows(f"select {_COLUMNS} from document where path = ?", (path,))  # noqa: S608 - constant columns
        return next((Document(**dict(zip(_COLUMNS.split(", "), row, strict=True))) for row in rows), None)

    def remarks(self) -> list[tuple[str, str]]:
        """The (path, problem or note) of every file that was not read, or not without loss, in order of path."""
        sql = "select path, problem || note from document where problem || note != '' order by path"
        return [(path, remark) for path, remark in self._rows(sql)]

    def has_documents(self) -> bool:
        """Is there any document with text?"""
        return bool(self._rows("select 1 from document where problem = '' limit 1"))

    def passages(self) -> int:
        """How many passages there are."""
        return int(self._rows("select count(*) from passage")[0][0])

    def select(self, sql: str, parameters: Mapping[str, object]) -> list[tuple[Any, ...]]:
        """The rows of a query over document, passage and words."""
        return self._rows(sql, parameters)

    @contextmanager
    def held_still(self) -> Iterator[None]:
        """What is asked meanwhile is answered from one state of the index, whatever other processes enter."""
        self._connection.execute("begin")
        try:
            yield
        finally:
            if self._connection.in_transaction:
                self._connection.execute("rollback")

    def _rows(
        self, sql: str, parameters: Sequence[object] | Mapping[str, object] = ()
    ) -> list[tuple[Any, ...]]:
        return self._connection.execute(sql, parameters).fetchall()

    @contextmanager
    def _writing(self) -> Iterator[None]:
        self._connection.execute("begin immediate")
        try:
            yield
        except BaseException:
            self._connection.execute("rollback")
            raise
        self._connection.execute("commit")

    def _create(self) -> None:
        # executescript() would commit the open transaction; a trigger holds semicolons of its own.
        statement = ""
        for line in _SCHEMA.read_text(encoding="utf-8").splitlines(keepends=True):
            statement += line
            if sqlite3.complete_statement(statement):
                self._connection.execute(statement)
                statement = ""
        self._connection.execute(f"pragma user_version = {SCHEMA_VERSION}")

    def _is_there(self, document: Document) -> bool:
        """Is it, with this text? It has its new stamp then. What has no digest was not read."""
        sql = "update document set stamp = ? where path = ? and digest = ? and digest != ''"
        there = self._connection.execute(sql, (document.stamp, document.path, document.digest))
        return there.rowcount > 0

    def _replace(self, document: Document) -> None:
        self._connection.execute("delete from document where path = ?", (document.path,))
        values = [getattr(document, name) for name in _COLUMNS.split(", ")]
        inserted = self._connection.execute(
            f"insert into document ({_COLUMNS}) values ({', '.join('?' * len(values))})",  # noqa: S608 - constant columns
            values,
        )
        title = prepared(document.title)
        for passage in passages_of(document.text):
            row = self._connection.execute(
                "insert into passage (document_id, start_char, end_char) values (?, ?, ?)",
                (inserted.lastrowid, passage.start, passage.end),
            )
            body = prepared(document.text[passage.start : passage.end])
            self._connection.execute(
                "insert into words (rowid, title, heading, body) values (?, ?, ?, ?)",
                (row.lastrowid, title, prepared(passage.heading), body),
            )


def index_file_for(root: Path, index: Path) -> Path:
    """The file that holds the index of `root`: beside `index`, its name marked with the folder and the schema.

    Folders never share a file, so one cannot push out the other's documents while both are searched.
    """
    mark = hashlib.sha256(
        f"{SCHEMA_VERSION}:{root.resolve()}".encode("utf-8", "surrogateescape")
    ).hexdigest()[:10]
    return index.with_name(f"{index.stem}-{mark}{index.suffix or '.db'}")
