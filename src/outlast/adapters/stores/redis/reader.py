"""Reads beside the writer: a connection of its own, on which all that is asked meanwhile is asked in one go."""

from __future__ import annotations

import time
from collections.abc import Sequence

from outlast.adapters.stores.lane import Job
from outlast.adapters.stores.redis.requests import Stamp, asked, exchange
from outlast.adapters.stores.redis.wire import Wire
from outlast.domain.errors import Broken

_NO_STAMP = Stamp("", 0, 0, 0)


class Reader:
    """Serves jobs whose work is a Request."""

    def __init__(self, wire: Wire, patience_seconds: float) -> None:
        self._wire = wire
        self._patience_seconds = patience_seconds
        self._wire.reach(time.monotonic() + patience_seconds)

    def serve(self, jobs: Sequence[Job]) -> None:
        """Ask for all of them until all are answered or patience has run out."""
        give_up_at = time.monotonic() + self._patience_seconds
        pending = list(jobs)
        try:
            while pending:
                self._wire.reach(give_up_at)
                pending, lost = exchange(
                    self._wire, pending, [asked(job).stamped(_NO_STAMP) for job in pending]
                )
                if lost is not None:
                    self._wire.lose(give_up_at, lost)
        except Broken as trouble:
            for job in pending:
                job.error = trouble

    def idle_seconds(self) -> None:
        """Nothing to do without jobs."""
        return

    def close(self) -> None:
        """Disconnect."""
        self._wire.close()
