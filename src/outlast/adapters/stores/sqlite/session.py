"""The writer's connection inside one transaction: it counts statements and remembers what was touched."""

from __future__ import annotations

import sqlite3
from collections.abc import Callable, Sequence
from datetime import datetime
from typing import Any, Final, Generic, TypeVar

from outlast.adapters.stores.sqlite.queries import query
from outlast.adapters.stores.watches import QUEUE_TOPIC
from outlast.domain.dataclass import dataclass

T = TypeVar("T")

_MARK = query("mark_queue")

REMOVAL: Final = QUEUE_TOPIC
"""The topic of deleted events: the mark of a queue without a name. Numbers of deleted events are given again to later ones."""


@dataclass(frozen=True, slots=True)
class Unsynced(Generic[T]):
    """Work on leases, which need not outlive a power cut: that ends every process which could hold one, since they all run on the
    machine of the file. The next sync of anything else makes it durable first, for the log is one file in order."""

    work: Callable[[Session], T]

    def __call__(self, session: Session) -> T:
        """Do the work."""
        return self.work(session)


class TooMuch(Exception):
    """The work would take long, and who asked is a loop that stands still meanwhile."""


class Session:
    """What every piece of work of a transaction is handed.

    `touched` collects the topics of watchers: a stream's name, or `queue:` and a queue's name. `first_seq` and `last_seq` are
    those of the events appended in this transaction, 0 when there are none. `is_synced` says whether the transaction is durable
    once committed, `is_patient` whether somebody waits who can wait: where not, work that takes long raises TooMuch.
    `clock` gives the store's time.
    """

    __slots__ = (
        "_busy_seconds",
        "_changes_before",
        "clock",
        "connection",
        "first_seq",
        "is_patient",
        "is_synced",
        "last_seq",
        "statements",
        "touched",
    )

    def __init__(
        self, connection: sqlite3.Connection, clock: Callable[[], datetime], busy_seconds: float
    ) -> None:
        self.connection = connection
        self.clock = clock
        self._busy_seconds = busy_seconds
        self.is_patient = True
        self.statements = 0
        self.touched: set[str] = set()
        self.first_seq = self.last_seq = 0
        self.is_synced = True
        self._changes_before = 0

    def run(self, sql: str, /, **parameters: object) -> sqlite3.Cursor:
        """Execute one data statement."""
        self.statements += 1
        return self.connection.execute(sql, parameters)

    def run_by_place(self, sql: str, values: Sequence[object]) -> sqlite3.Cursor:
        """Execute one data statement whose parameters are numbered."""
        self.statements += 1
        return self.connection.execute(sql, values)

    def value(self, sql: str, /, **parameters: object) -> Any:
        """The first column of the first row of a query that always has one."""
        return self.run(sql, **parameters).fetchone()[0]

    def appended(self, last_seq: int, count: int) -> None:
        """Note that so many events were appended, the last with this number."""
        self.first_seq = self.first_seq or last_seq - count + 1
        self.last_seq = last_seq

    def begin(self, *, is_synced: bool, is_patient: bool = True) -> None:
        """Start a transaction that holds the write lock from the beginning; a patient one waits for other processes."""
        if is_patient is not self.is_patient:
            milliseconds = round(self._busy_seconds * 1000) if is_patient else 0
            self.connection.executescript(f"PRAGMA busy_timeout = {milliseconds}")
            self.is_patient = is_patient
        if is_synced is not self.is_synced:
            level = "FULL" if is_synced else "NORMAL"
            self.connection.executescript(
                f"PRAGMA synchronous = {level}"
            )  # it acts when prepared, so it must not be cached
            self.is_synced = is_synced
        self.touched.clear()
        self.first_seq = self.last_seq = 0
        self._changes_before = self.connection.total_changes
        self.connection.execute("BEGIN IMMEDIATE")

    def commit(self) -> bool:
        """Leave a mark for other processes on every queue that was touched, and make everything durable. Was anything written?"""
        for topic in self.touched:
            if topic.startswith(QUEUE_TOPIC):
                self.run(_MARK, queue=topic.removeprefix(QUEUE_TOPIC))
        self.connection.execute("COMMIT")
        return self.connection.total_changes != self._changes_before

    def rollback(self) -> None:
        """Leave nothing behind. Harmless when SQLite has rolled back by itself."""
        if self.connection.in_transaction:
            self.connection.execute("ROLLBACK")
