"""Reads beside the writer: a connection of its own that sees everything committed so far and blocks nobody."""

from __future__ import annotations

from collections.abc import Sequence

from outlast.adapters.stores.lane import Job
from outlast.adapters.stores.sqlite.connection import Opener
from outlast.adapters.stores.sqlite.troubles import in_our_words


class Reader:
    """Serves jobs whose work takes a read-only connection, opened at once or by the first of them."""

    def __init__(self, opener: Opener, *, opens_late: bool = False) -> None:
        self._opener = opener
        self._connection = None if opens_late else opener.open_reader()

    def serve(self, jobs: Sequence[Job]) -> None:
        """Do each job by itself."""
        for job in jobs:
            try:
                self._connection = self._connection or self._opener.open_reader()
                job.result = job.work(self._connection)
            except Exception as error:  # noqa: BLE001 - whatever it is belongs to whoever asked, and the thread goes on
                job.error = in_our_words(error, self._opener.path)

    def idle_seconds(self) -> None:
        """Nothing to do without jobs."""
        return

    def close(self) -> None:
        """Close the connection."""
        if self._connection is not None:
            self._connection.close()
