"""A thread that serves callers of any event loop: they hand in work and await its result."""

from __future__ import annotations

import asyncio
import contextlib
import queue
import threading
from collections.abc import Callable, Iterable, Sequence
from typing import Any, Protocol, TypeVar

from outlast.domain.errors import Broken

T = TypeVar("T")


class Job:
    """A piece of work, and what it came to: who does it sets `result` or `error`."""

    __slots__ = ("error", "result", "work")

    def __init__(self, work: Callable[[Any], Any]) -> None:
        self.work = work
        self.result: Any = None
        self.error: Exception | None = None

    def answer(self) -> Any:
        """What it came to, once it is done."""
        if self.error is not None:
            raise self.error
        return self.result


class AwaitedJob(Job):
    """A job for which somebody waits in an event loop, that which runs when it is made."""

    __slots__ = ("future", "loop")

    def __init__(self, work: Callable[[Any], Any]) -> None:
        super().__init__(work)
        self.loop = asyncio.get_running_loop()
        self.future: asyncio.Future[Any] = self.loop.create_future()


class Server(Protocol):
    """What a lane's thread does. It is made, used and closed in that thread."""

    def serve(self, jobs: Sequence[Job]) -> None:
        """Set the result or error of every job. Called without jobs after `idle_seconds` or a nudge."""
        ...

    def idle_seconds(self) -> float | None:
        """How long to wait for jobs before `serve` is called without any; None means for ever."""
        ...

    def close(self) -> None:
        """Give up what was opened."""
        ...


class Lane:
    """Hands jobs to the one thread of a server; it takes up to `most_at_once` of those pending."""

    def __init__(self, name: str, make_server: Callable[[], Server], most_at_once: int) -> None:
        self._make_server = make_server
        self._most_at_once = most_at_once
        self._pending: queue.SimpleQueue[AwaitedJob | None] = queue.SimpleQueue()
        self._gate = threading.Lock()
        self._is_open = False
        self._last: AwaitedJob | None = None
        self._name = name

    async def start(self) -> None:
        """Make the server in its thread; raises what making it raises."""
        started, self._last = AwaitedJob(_nothing), None
        threading.Thread(target=self._run, args=(started,), name=self._name, daemon=True).start()
        try:
            await started.future
        except asyncio.CancelledError:
            self._end()
            raise
        self._is_open = True

    async def stop(self) -> None:
        """Finish what is pending and end the thread. Safe to call twice."""
        with self._gate:
            if not self._is_open:
                return
            self._is_open = False
            last = self._end()
        await last.future

    async def do(self, work: Callable[[Any], T]) -> T:
        """The result of `work`, done by the server. Cancelling the caller does not undo it."""
        job = AwaitedJob(work)
        with self._gate:
            if not self._is_open:
                raise _not_open()
            self._pending.put(job)
        result: T = await job.future
        return result

    def take(self, jobs: Sequence[AwaitedJob]) -> None:
        """Have jobs done for which somebody waits. Called in their loop."""
        with self._gate:
            if self._is_open:
                for job in jobs:
                    self._pending.put(job)
                return
        for job in jobs:
            job.error = _not_open()
        settle(jobs)

    def nudge(self) -> None:
        """Have the server look around soon."""
        self._pending.put(None)

    def _end(self) -> AwaitedJob:
        """Let the thread end after what is pending; the future of the job tells when."""
        self._last = AwaitedJob(_nothing)
        self._pending.put(self._last)
        return self._last

    def _run(self, started: AwaitedJob) -> None:
        try:
            server = self._make_server()
        except Exception as error:  # noqa: BLE001 - whoever waits for the start is told, whatever it is
            started.error = error
            _deliver([started])
            return
        _deliver([started])
        try:
            self._serve(server)
        finally:
            server.close()
            if self._last is not None:
                _deliver([self._last])

    def _serve(self, server: Server) -> None:
        while self._last is None or not self._pending.empty():
            jobs = [job for job in self._take(server.idle_seconds()) if job is not self._last]
            try:
                server.serve(jobs)
            except Exception as error:  # noqa: BLE001 - a bug must not leave callers waiting for ever
                for job in jobs:
                    job.error = error
            _deliver(jobs)

    def _take(self, idle_seconds: float | None) -> list[AwaitedJob]:
        try:
            taken = [self._pending.get(timeout=idle_seconds)]
        except queue.Empty:
            return []
        taken += [
            self._pending.get_nowait() for _ in range(min(self._pending.qsize(), self._most_at_once - 1))
        ]
        return [job for job in taken if job is not None]


def _nothing(_: object) -> None:
    return None


def _not_open() -> Broken:
    return Broken("store_unavailable", "The store is not open.", "Use it between open() and close().")


def _deliver(jobs: Iterable[AwaitedJob]) -> None:
    """Settle the futures of jobs in their own loops: one call a loop, for each wakes it."""
    by_loop: dict[asyncio.AbstractEventLoop, list[AwaitedJob]] = {}
    for job in jobs:
        by_loop.setdefault(job.loop, []).append(job)
    for loop, settled in by_loop.items():
        with contextlib.suppress(RuntimeError):  # the loop has been closed: nobody waits
            loop.call_soon_threadsafe(settle, settled)


def settle(jobs: Sequence[AwaitedJob]) -> None:
    """Tell those who wait what became of jobs that are done. Called in their loop."""
    for job in jobs:
        if job.future.done():  # the caller was cancelled
            continue
        if job.error is None:
            job.future.set_result(job.result)
        else:
            job.future.set_exception(job.error)
