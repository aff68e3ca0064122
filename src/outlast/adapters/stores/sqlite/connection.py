"""How a connection is made: durable, patient, and the same everywhere."""

from __future__ import annotations

import sqlite3
import time
from pathlib import Path

from outlast.adapters.stores.sqlite.place import prepare_file
from outlast.adapters.stores.sqlite.schema import migrate, migrations
from outlast.adapters.stores.sqlite.troubles import in_our_words, primary_code
from outlast.domain.dataclass import dataclass
from outlast.domain.errors import Broken, CallerMistake

_OLDEST = (3, 38, 0)
_STATEMENTS_KEPT = 256


@dataclass(frozen=True, slots=True)
class Opener:
    """Opens connections to one store. `path` None is a store in memory. A lock is waited for `busy_seconds`.

    Whatever hinders it is raised as Broken.
    """

    path: Path | None
    connection_class: type[sqlite3.Connection] = sqlite3.Connection
    busy_seconds: float = 10.0

    def open_writer(self) -> sqlite3.Connection:
        """A connection that writes, to a database that has the newest schema."""
        if sqlite3.sqlite_version_info < _OLDEST:
            raise Broken(
                "store_unavailable",
                f"This Python has SQLite {sqlite3.sqlite_version}; outlast needs 3.38 or newer.",
                "Use a Python with a newer SQLite, or the postgres backend.",
            )
        if self.path is not None:
            prepare_file(self.path)
        connection = self._connect(":memory:" if self.path is None else str(self.path))
        try:
            self._prepare(connection)
        except BaseException as error:
            connection.close()
            if isinstance(error, sqlite3.Error):
                raise in_our_words(error, self.path) from error
            raise
        return connection

    def reopen_writer(self) -> sqlite3.Connection:
        """Another connection that writes, after one was given up; what was in memory went with it."""
        if self.path is None:
            raise Broken(
                "store_damaged",
                "The store in memory was lost after an error that could not be undone.",
                "Start again, or set harness.persistence.backend to sqlite to keep what is stored.",
            )
        try:
            return self.open_writer()
        except CallerMistake as gone:
            raise Broken("store_unavailable", gone.detail, gone.next_step) from gone

    def open_reader(self) -> sqlite3.Connection:
        """A connection that only reads the file."""
        assert self.path is not None
        return self._connect(f"{self.path.absolute().as_uri()}?mode=ro", uri=True)

    def _connect(self, target: str, *, uri: bool = False) -> sqlite3.Connection:
        try:
            return sqlite3.connect(
                target,
                uri=uri,
                timeout=self.busy_seconds,
                isolation_level=None,
                check_same_thread=False,
                cached_statements=_STATEMENTS_KEPT,
                factory=self.connection_class,
            )
        except sqlite3.Error as error:
            raise in_our_words(error, self.path) from error

    def _prepare(self, connection: sqlite3.Connection) -> None:
        if self.path is not None:
            self._switch_to_wal(connection)
            connection.execute("PRAGMA synchronous = FULL")
        migrate(connection, migrations())

    def _switch_to_wal(self, connection: sqlite3.Connection) -> None:
        """Turn the write-ahead log on. SQLite does not wait for a lock here when several processes do it at once, so we do."""
        give_up_at = time.monotonic() + self.busy_seconds
        mode = None
        while mode is None:
            try:
                mode = connection.execute("PRAGMA journal_mode = WAL").fetchone()[0]
            except sqlite3.OperationalError as error:
                if primary_code(error) != sqlite3.SQLITE_BUSY or time.monotonic() > give_up_at:
                    raise
                time.sleep(0.01)
        if mode != "wal":
            raise Broken(
                "store_unavailable",
                f"The file system of {self.path} cannot hold a write-ahead log (journal mode {mode}).",
                "Set harness.persistence.path to a local disk.",
            )
