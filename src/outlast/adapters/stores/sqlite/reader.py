"""Reads beside the writer: a connection of its own that sees everything committed so far and blocks nobody."""

from __future__ import annotations

from collections.abc import Sequence

from outlast.adapters.stores.lane import Job
from outlast.adapters.stores.sqlite.connection import Opener
from outlast.adapters.stores.sqlite.troubles import in_our_words


class Reader:
    """Serves jobs whose work takes a read-only connection."""

    def __init__(self, opener: Opener) -> None:
        self._path = opener.path
        self._connection = opener.open_reader()

    def serve(self, jobs: Sequence[Job]) -> None:
        """Do each job by itself."""
        for job in jobs:
            try:
                job.result = job.work(self._connection)
            except Exception as error:  # noqa: BLE001 - whatever it is belongs to whoever asked, and the thread goes on
                job.error = in_our_words(error, self._path)

    def idle_seconds(self) -> None:
        """Nothing to do without jobs."""
        return

    def close(self) -> None:
        """Close the connection."""
        self._connection.close()
