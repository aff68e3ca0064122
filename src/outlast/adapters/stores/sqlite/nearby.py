"""Light commits of a quick disk, made in the loop that asks for them: a hop to another thread and back costs more than they do."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Awaitable, Callable, Sequence
from time import monotonic
from typing import Final, TypeVar

from outlast.adapters.stores.lane import AwaitedJob, Job, Lane, settle
from outlast.adapters.stores.sqlite.quickness import HOP_SECONDS, Quickness
from outlast.adapters.stores.sqlite.session import Session
from outlast.adapters.stores.sqlite.writer import Writer
from outlast.ports.batch import Item
from outlast.ports.queue import ClaimDue, Enqueue, Release
from outlast.ports.run_rows import UpdateRun
from outlast.ports.stream import Append, PutPayload, PutSnapshot

T = TypeVar("T")

LIGHT_BYTES: Final = 64 * 1024
"""What is longer is written aside."""

ROW_BYTES: Final = 256
"""What each item and event adds to what it holds: thousands of small ones take long too."""

MOST_IN_A_ROW: Final = 32
"""After so many commits without a turn of the loop there is one, for whatever else it has to do."""

_LIGHT: Final = frozenset({Append, ClaimDue, Enqueue, PutPayload, PutSnapshot, Release, UpdateRun})
"""Items that take a few statements each, whatever else is stored; a claim says itself when it would take more."""


def is_light(batch: Sequence[Item]) -> bool:
    """Can a batch be written in a moment?"""
    size_bytes = ROW_BYTES * len(batch)
    for item in batch:
        if type(item) not in _LIGHT:
            return False
        if isinstance(item, Append):
            size_bytes += ROW_BYTES * len(item.events)
            for event in item.events:
                size_bytes += len(event.body)
        elif isinstance(item, PutPayload):
            size_bytes += len(item.content)
        elif isinstance(item, PutSnapshot):
            size_bytes += len(item.body)
    return size_bytes <= LIGHT_BYTES


def stream_of(batch: Sequence[Item]) -> str:
    """The stream that a batch appends to first; empty where that is none."""
    first = batch[0]
    return first.stream if isinstance(first, Append) else ""


class Nearby:
    """Makes light commits in the thread of the loop that asks, where nothing has to be waited for; else they go to `lane`.

    A run that commits twice in a row is alone: its next commit is made right away. Those of several runs are gathered for one turn
    of their loop, and share a sync. `writer` is what serves the lane, None while there is none.
    """

    def __init__(self, lane: Lane, writer: Callable[[], Writer | None], quickness: Quickness) -> None:
        self._lane = lane
        self._writer = writer
        self._quickness = quickness
        self._gate = threading.Lock()
        self._gathered: dict[asyncio.AbstractEventLoop, list[AwaitedJob]] = {}
        self._last_stream = ""
        self._in_a_row = 0

    def do(self, work: Callable[[Session], T], stream: str) -> Awaitable[T]:
        """The result of `work`, which is about a stream, to be awaited at once. Cancelling the caller does not undo it."""
        if not self._quickness.is_quick:
            return self._lane.do(work)
        if self._is_alone(stream):
            return self._do_alone(work)
        job = AwaitedJob(work)
        self._gather(job)
        return job.future

    async def _do_alone(self, work: Callable[[Session], T]) -> T:
        job = Job(work)
        if not self._is_served([job]):
            return await self._lane.do(work)
        answer: T = job.answer()
        return answer

    def hand_over(self) -> None:
        """Leave what is gathered to the lane."""
        with self._gate:
            gathered, self._gathered = self._gathered, {}
        for jobs in gathered.values():
            self._lane.take(jobs)

    def _is_alone(self, stream: str) -> bool:
        """Did nobody commit since this stream last did? Now and then that does not count, so that others have their turn."""
        if not stream or stream != self._last_stream or self._gathered or self._in_a_row >= MOST_IN_A_ROW:
            self._last_stream, self._in_a_row = stream, 0
            return False
        self._in_a_row += 1
        return True

    def _gather(self, job: AwaitedJob) -> None:
        with self._gate:
            jobs = self._gathered.get(job.loop)
            if jobs is None:
                self._gathered[job.loop] = [job]
                job.loop.call_soon(self._serve, job.loop)
            else:
                jobs.append(job)

    def _serve(self, loop: asyncio.AbstractEventLoop) -> None:
        with self._gate:
            jobs = self._gathered.pop(loop, [])
        if self._is_served(jobs):
            settle(jobs)
        else:
            self._lane.take(jobs)

    def _is_served(self, jobs: Sequence[Job]) -> bool:
        writer, begun_at = self._writer(), monotonic()
        try:
            is_served = writer is not None and writer.serve_at_once(jobs)
        except Exception as error:  # noqa: BLE001 - a bug must not leave callers waiting for ever
            for job in jobs:
                job.error = error
            return True
        self._quickness.note(monotonic() - begun_at - HOP_SECONDS * len(jobs))
        return is_served
