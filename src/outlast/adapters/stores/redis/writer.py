"""The one writer of a process: everything pending goes to the server in one round, and is answered once it is durable.

Every round has a number, and every batch a slot in it. The script of a commit notes both beside what it writes, and refuses
rounds up to the writer's fence. When a connection is lost in mid-round, the next one raises the fence first: from then on
nothing of the lost round can be written any more, however late it arrives, and the slots tell which batches were. The rest is
sent again.
"""

from __future__ import annotations

import contextlib
import time
import uuid
from collections.abc import Sequence
from typing import Any, Final

from outlast.adapters.stores.lane import Job
from outlast.adapters.stores.redis.requests import Commit, Stamp, asked, exchange
from outlast.adapters.stores.redis.scripts import SETTLE
from outlast.adapters.stores.redis.troubles import Lost, refused, unknown
from outlast.adapters.stores.redis.wire import Wire
from outlast.adapters.stores.watches import Watches
from outlast.domain.errors import Broken
from outlast.ports.batch import Committed
from outlast.ports.store import StoreCounts

REMEMBERED_SECONDS: Final = 7 * 86400
"""How long the server remembers a writer of which it hears nothing more."""

_REMIND_SECONDS: Final = 86400


class Writer:
    """Serves jobs whose work is a Request or a Commit. `root` is what every key of the store begins with."""

    def __init__(self, wire: Wire, root: bytes, watches: Watches, patience_seconds: float) -> None:
        self.id = uuid.uuid4().hex
        self._wire = wire
        self._root = root
        self._watches = watches
        self._patience_seconds = patience_seconds
        self._round = 0
        self._unsettled: Sequence[Job] = ()
        self._reminded_at = -float("inf")
        self._statements = self._commits = 0

    @property
    def is_unsettled(self) -> bool:
        """May a batch that was given up still be written?"""
        return bool(self._unsettled)

    def counts(self) -> StoreCounts:
        """Commands sent and batches committed; the server does not tell how often it has synced."""
        return StoreCounts(self._statements, self._commits)

    def serve(self, jobs: Sequence[Job]) -> None:
        """Do all jobs, in one round unless the connection is lost."""
        give_up_at = time.monotonic() + self._patience_seconds
        pending = list(jobs)
        try:
            while pending:
                self._wire.reach(give_up_at)
                try:
                    pending, lost = self._do(self._settled(pending))
                except Lost as error:
                    lost = error
                if lost is not None:
                    self._wire.lose(give_up_at, lost)
        except Broken as trouble:
            for job in pending:
                is_open = isinstance(job.work, Commit) and job in self._unsettled
                job.error = unknown(trouble) if is_open else trouble
        self._tell(jobs)

    def idle_seconds(self) -> None:
        """Nothing to do without jobs."""
        return

    def close(self) -> None:
        """Have the server forget this writer, unless something of it may still arrive, and disconnect."""
        if not self._unsettled:
            with contextlib.suppress(Lost):
                self._wire.ask([("DEL", self._root + b"writer:" + self.id.encode())], [])
        self._wire.close()

    def _do(self, jobs: Sequence[Job]) -> tuple[list[Job], Lost | None]:
        """One round; the jobs whose answer was lost with the connection."""
        if not jobs:
            return [], None
        self._round += 1
        remembered = self._remembered_seconds()
        stamps = [Stamp(self.id, self._round, slot, remembered) for slot in range(len(jobs))]
        commands = [asked(job).stamped(stamp) for job, stamp in zip(jobs, stamps, strict=True)]
        self._statements += sum(map(len, commands))
        unanswered, lost = exchange(self._wire, jobs, commands)
        if unanswered:
            self._unsettled = tuple(jobs)
        return unanswered, lost

    def _settled(self, pending: list[Job]) -> list[Job]:
        """Find out which batches of a lost round were written, and let no other be. Returns what remains to be done."""
        if not self._unsettled:
            return pending
        replies: list[Any] = []
        slots = len(self._unsettled)
        self._wire.ask([SETTLE.call(self._root, self.id, self._round, slots, REMEMBERED_SECONDS)], replies)
        if isinstance(replies[0], Exception):
            raise refused(replies[0], self._wire.name)
        written = [self._unsettled[slot] for slot in replies[0]]
        self._unsettled = ()
        for job in written:
            job.result = Committed()
        return [job for job in pending if job not in written]

    def _remembered_seconds(self) -> int:
        now = time.monotonic()
        if now - self._reminded_at < _REMIND_SECONDS:
            return 0
        self._reminded_at = now
        return REMEMBERED_SECONDS

    def _tell(self, jobs: Sequence[Job]) -> None:
        committed = [
            job.work for job in jobs if isinstance(job.work, Commit) and isinstance(job.result, Committed)
        ]
        self._commits += len(committed)
        self._watches.touch({topic for commit in committed for topic in commit.topics})
