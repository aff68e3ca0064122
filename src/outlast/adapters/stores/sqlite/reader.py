"""Reads beside the writer: a connection of its own that sees everything committed so far and blocks nobody."""

from __future__ import annotations

import threading
from collections.abc import Sequence
from typing import Final

from outlast.adapters.stores.lane import Job
from outlast.adapters.stores.sqlite.bounded import given_up_after
from outlast.adapters.stores.sqlite.connection import Opener
from outlast.adapters.stores.sqlite.troubles import in_our_words

LONGEST_AT_ONCE_SECONDS: Final = 0.002
"""A read that takes longer is given up by the loop that asked, and done aside."""

_STEPS_BETWEEN_LOOKS: Final = 1000


class Reader:
    """Serves jobs whose work takes a read-only connection, opened at once or by the first of them."""

    def __init__(self, opener: Opener, *, opens_late: bool = False) -> None:
        self._opener = opener
        self._turn = threading.Lock()
        self._connection = None if opens_late else opener.open_reader()

    def serve(self, jobs: Sequence[Job]) -> None:
        """Do each job by itself."""
        with self._turn:
            for job in jobs:
                try:
                    self._connection = self._connection or self._opener.open_reader()
                    job.result = job.work(self._connection)
                except Exception as error:  # noqa: BLE001 - whatever it is belongs to whoever asked, and the thread goes on
                    job.error = in_our_words(error, self._opener.path)

    def serve_at_once(self, job: Job) -> bool:
        """Do a job in the thread that calls. False, and nothing came of it, where another reads, it takes long, or it fails."""
        if not self._turn.acquire(blocking=False):
            return False
        connection = self._connection
        try:
            if connection is None:
                return False
            with given_up_after(connection, LONGEST_AT_ONCE_SECONDS, _STEPS_BETWEEN_LOOKS):
                job.result = job.work(connection)
        except Exception:  # noqa: BLE001 - the thread does it again, and tells whoever asked what there is to tell
            return False
        finally:
            self._turn.release()
        return True

    def idle_seconds(self) -> None:
        """Nothing to do without jobs."""
        return

    def close(self) -> None:
        """Close the connection."""
        with self._turn:
            if self._connection is not None:
                self._connection.close()
                self._connection = None
