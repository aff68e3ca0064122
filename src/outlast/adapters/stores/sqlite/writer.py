"""The one writer of a process: everything pending goes into one transaction and is made durable by one sync."""

from __future__ import annotations

import contextlib
import sqlite3
import threading
from collections.abc import Callable, Sequence
from datetime import datetime

from outlast.adapters.stores.lane import Job
from outlast.adapters.stores.sqlite.connection import Opener
from outlast.adapters.stores.sqlite.elsewhere import Elsewhere
from outlast.adapters.stores.sqlite.session import REMOVAL, Session, Unsynced
from outlast.adapters.stores.sqlite.troubles import in_our_words, primary_code
from outlast.adapters.stores.watches import Watches
from outlast.domain.errors import OutlastError
from outlast.ports.store import StoreCounts

_LOOK_ELSEWHERE_SECONDS = 0.02
_MOMENT_SECONDS = 0.005


class Writer:
    """Serves jobs whose work takes a Session. A job that fails takes no other with it."""

    def __init__(self, opener: Opener, watches: Watches, clock: Callable[[], datetime]) -> None:
        self._opener = opener
        self._clock = clock
        self._watches = watches
        self._elsewhere: Elsewhere | None = None
        self._statements_before = self._commits = self._syncs = 0
        self._turn = threading.Lock()
        self._session: Session | None = self._opened(opener.open_writer())

    def counts(self) -> StoreCounts:
        """What was done so far. In memory nothing is synced."""
        statements = self._statements_before + (self._session.statements if self._session else 0)
        return StoreCounts(statements, self._commits, self._syncs if self._opener.path else 0)

    def serve(self, jobs: Sequence[Job]) -> None:
        """Do all jobs in one transaction, or in a few where one of them fails."""
        with self._turn:
            try:
                self._mind_watchers(is_idle=not jobs)
            except (sqlite3.Error, OutlastError):
                self._drop()  # who watches comes back after the timeout; who writes is told by the next transaction
            try:
                if jobs:
                    self._do_or_halve(jobs)
            finally:
                self._leave_nothing_open()

    def serve_at_once(self, jobs: Sequence[Job]) -> bool:
        """Do all jobs in one transaction, in the thread that calls. False, and nothing was done, where something is in the way.

        For what another thread is at it waits a moment: that needs the interpreter, and gets it only while this thread stands still.
        """
        if not self._turn.acquire(timeout=_MOMENT_SECONDS):
            return False
        try:
            if self._session is None or (self._watches and self._elsewhere is None and self._opener.path):
                return False  # the thread is to prepare itself first
            return self._do(jobs, is_at_once=True)
        finally:
            self._leave_nothing_open()
            self._turn.release()

    def idle_seconds(self) -> float | None:
        """While someone watches a file, look again soon: another process may have written."""
        return _LOOK_ELSEWHERE_SECONDS if self._watches and self._opener.path else None

    def close(self) -> None:
        """Close the connection; the last one of all processes folds the log into the file."""
        with self._turn:
            self._drop()

    def _do_or_halve(self, jobs: Sequence[Job]) -> None:
        """A job that cannot be done is found by halving, so that it costs the others few more syncs."""
        if not self._do(jobs):
            middle = len(jobs) // 2
            self._do_or_halve(jobs[:middle])
            self._do_or_halve(jobs[middle:])

    def _do(self, jobs: Sequence[Job], *, is_at_once: bool = False) -> bool:
        """Do the jobs in one transaction. False: one of several failed and none is done; at once, also for any other trouble."""
        try:
            session = self._ready_session()
        except OutlastError as error:
            self._fail(jobs, error)
            return True
        try:
            is_synced = not all(isinstance(job.work, Unsynced) for job in jobs)
            session.begin(is_synced=is_synced, is_patient=not is_at_once)
        except sqlite3.Error as error:
            self._undo(session)
            if not is_at_once:
                self._fail(jobs, error)
            return not is_at_once
        is_final = len(jobs) == 1 and not is_at_once
        try:
            if self._elsewhere is not None and not is_at_once:
                self._look(self._elsewhere)
            for job in jobs:
                job.result = job.work(session)
        except Exception as error:  # noqa: BLE001 - whatever it is belongs to whoever asked, and the thread goes on
            self._undo(session)
            if is_final:
                self._fail(jobs, error)
            return is_final
        return self._commit(session, jobs, is_final=is_final)

    def _commit(self, session: Session, jobs: Sequence[Job], *, is_final: bool) -> bool:
        try:
            has_written = session.commit()
        except sqlite3.Error as error:
            self._undo(session)
            is_answered = is_final or primary_code(error) == sqlite3.SQLITE_IOERR
            if is_answered:
                self._fail(jobs, error, at_commit=True)
            return is_answered
        self._commits += has_written
        self._syncs += has_written and session.is_synced
        if REMOVAL in session.touched:
            self._elsewhere = None  # what it remembers as the last event may be gone
        elif self._elsewhere is not None:
            self._elsewhere.skip_own(session.first_seq, session.last_seq)
        self._watches.touch(session.touched)
        return True

    def _fail(self, jobs: Sequence[Job], error: Exception, *, at_commit: bool = False) -> None:
        for job in jobs:
            job.error = in_our_words(error, self._opener.path, at_commit=at_commit)

    def _leave_nothing_open(self) -> None:
        """Only a bug leaves anything to undo."""
        if self._session is not None:
            self._undo(self._session)

    def _undo(self, session: Session) -> None:
        try:
            session.rollback()
        except sqlite3.Error:
            self._drop()

    def _ready_session(self) -> Session:
        if self._session is None:
            self._session = self._opened(self._opener.reopen_writer())
        return self._session

    def _opened(self, connection: sqlite3.Connection) -> Session:
        return Session(connection, self._clock, self._opener.busy_seconds)

    def _drop(self) -> None:
        """Close the connection, which rolls back whatever is open; the next transaction opens another."""
        self._elsewhere = None
        if self._session is not None:
            self._statements_before += self._session.statements
            with contextlib.suppress(sqlite3.Error):
                self._session.connection.close()
            self._session = None

    def _mind_watchers(self, *, is_idle: bool) -> None:
        """Look at what others committed; a transaction that is to come looks anyway."""
        if not self._watches or self._opener.path is None:
            self._elsewhere = None
        elif self._elsewhere is None:
            self._elsewhere = Elsewhere(self._ready_session().connection)
            self._watches.touch_all()  # nobody looked until now, so everyone looks once
        elif is_idle:
            self._look(self._elsewhere)

    def _look(self, elsewhere: Elsewhere) -> None:
        topics = elsewhere.look()
        if topics is None:
            self._watches.touch_all()
        else:
            self._watches.touch(topics)
