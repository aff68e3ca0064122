"""Commits of one event loop: what is pending at the same moment is written by one statement and made durable by one sync.

Two statements may be under way at once, so that a group fills while another is written. A batch that is refused or cannot be
stored takes no other with it: refusals are rows of the answer, and an error has every batch of the group tried by itself.
"""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import Awaitable, Callable, Sequence
from typing import Final

from outlast.adapters.stores.postgres.encoding import Batch
from outlast.adapters.stores.postgres.link import Backend
from outlast.adapters.stores.postgres.patience import Patience
from outlast.adapters.stores.postgres.pool import Pool
from outlast.adapters.stores.postgres.recovery import Recovery
from outlast.adapters.stores.postgres.troubles import is_contended, is_lost, may_pass
from outlast.adapters.stores.postgres.writes import write
from outlast.ports.batch import Committed, Refused

_AT_ONCE: Final = 2
_BATCHES_A_GROUP: Final = 64
_BYTES_A_GROUP: Final = 4 << 20

Answer = Committed | Refused


class _Unanswered(Exception):
    """A statement was sent and no answer came."""

    def __init__(self, backend: Backend | None) -> None:
        super().__init__("no answer")
        self.backend = backend


class _Waiting:
    """A batch, and who waits for its answer."""

    __slots__ = ("answer", "batch")

    def __init__(self, batch: Batch) -> None:
        self.batch = batch
        self.answer: asyncio.Future[Answer] = asyncio.get_running_loop().create_future()

    def succeed(self, answer: Answer) -> None:
        if not self.answer.done():  # the caller may have been cancelled
            self.answer.set_result(answer)

    def fail(self, error: BaseException) -> None:
        if not self.answer.done():
            self.answer.set_exception(error)


class _Line:
    """Batches of one kind that wait to be written, and how many statements of that kind are under way."""

    def __init__(self) -> None:
        self.waiting: deque[_Waiting] = deque()
        self.under_way = 0

    def take(self) -> list[_Waiting]:
        """The next group, in order: not too large, and nothing twice that may be written once."""
        waiting, group = self.waiting, [self.waiting.popleft()]
        written, size_bytes = set(group[0].batch.written_once), group[0].batch.size_bytes
        while waiting and len(group) < _BATCHES_A_GROUP:
            following = waiting[0].batch
            size_bytes += following.size_bytes
            if not written.isdisjoint(following.written_once) or size_bytes > _BYTES_A_GROUP:
                break
            written |= following.written_once
            group.append(waiting.popleft())
        return group


class Committer:
    """Answers batches. `tell` is called with those that were written, before their callers go on."""

    def __init__(
        self,
        pool: Pool,
        new_patience: Callable[[], Patience],
        where: str,
        tell: Callable[[Sequence[Batch]], None],
    ) -> None:
        self._pool = pool
        self._new_patience = new_patience
        self._recovery = Recovery(pool, new_patience, where)
        self._tell = tell
        self._plain, self._releases, self._mixed = _Line(), _Line(), _Line()
        self._tasks: set[asyncio.Task[None]] = set()
        self._has_ended = asyncio.Event()
        self.commits = 0

    def commit(self, batch: Batch) -> Awaitable[Answer]:
        """What became of a batch, to be awaited at once. Cancelling the caller may or may not undo it, and undoes no other."""
        line = self._line_of(batch)
        if line.under_way == 0:
            return self._write_alone(batch, line)
        waiting = _Waiting(batch)
        line.waiting.append(waiting)
        if line.under_way < _AT_ONCE:
            line.under_way += 1
            self._begin(line)
        return waiting.answer

    async def finish(self) -> None:
        """Return when everything that was asked for is answered."""
        while self._plain.under_way or self._releases.under_way or self._mixed.under_way:
            self._has_ended.clear()
            await self._has_ended.wait()

    def _line_of(self, batch: Batch) -> _Line:
        if batch.plain is not None:
            return self._plain
        return self._mixed if batch.document else self._releases

    def _hand_over(self, line: _Line) -> None:
        """Let a task go on with what came meanwhile."""
        if line.waiting:
            self._begin(line)
        else:
            self._end(line)

    def _end(self, line: _Line) -> None:
        line.under_way -= 1
        self._has_ended.set()

    def _begin(self, line: _Line) -> None:
        task = asyncio.create_task(self._serve(line))
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)

    async def _serve(self, line: _Line) -> None:
        try:
            while line.waiting:
                await self._write(line.take())
        finally:
            self._end(line)

    async def _write_alone(self, batch: Batch, line: _Line) -> Answer:
        """Write what nothing else is written with, here and now: no task has to be scheduled for it."""
        line.under_way = 1
        patience = self._new_patience()
        try:
            [answer] = await self._send((batch,))
        except Exception as error:  # noqa: BLE001 - whatever it is belongs to whoever asked
            waiting = _Waiting(batch)
            await self._write_after(error, [waiting], patience)
            return waiting.answer.result()
        else:
            if isinstance(answer, Committed):
                self._note((batch,))
            return answer
        finally:
            self._hand_over(line)

    async def _write(self, group: Sequence[_Waiting]) -> None:
        patience = self._new_patience()
        try:
            answers = await self._send([waiting.batch for waiting in group])
        except Exception as error:  # noqa: BLE001 - whatever it is belongs to whoever asked
            await self._write_after(error, group, patience)
        else:
            self._answer(group, answers)

    async def _write_after(self, error: Exception, group: Sequence[_Waiting], patience: Patience) -> None:
        """Write what could not be written yet, and why."""
        while True:
            if isinstance(error, _Unanswered):
                for waiting in group:
                    await self._settle(waiting, error.backend)
                return
            if len(group) > 1 and not _is_of_everyone(error):
                for waiting in group:
                    await self._write([waiting])
                return
            if not await self._is_waited_out(patience, error, group):
                return
            try:
                answers = await self._send([waiting.batch for waiting in group])
            except Exception as another:  # noqa: BLE001 - as above
                error = another
            else:
                self._answer(group, answers)
                return

    async def _send(self, batches: Sequence[Batch]) -> list[Answer]:
        link = await self._pool.take()
        try:
            answers = await write(link, batches)
        except BaseException as error:
            self._pool.give_back(link, error)
            if isinstance(error, Exception) and is_lost(error):
                raise _Unanswered(link.backend) from error
            raise
        self._pool.give_back(link)
        return answers

    async def _settle(self, waiting: _Waiting, backend: Backend | None) -> None:
        try:
            answer = await self._recovery.settle(waiting.batch, backend)
        except Exception as error:  # noqa: BLE001 - whatever it is belongs to whoever asked
            waiting.fail(error)
        else:
            self._answer([waiting], [answer])

    async def _is_waited_out(self, patience: Patience, error: Exception, group: Sequence[_Waiting]) -> bool:
        try:
            await patience.wait_out(error)
        except Exception as told:  # noqa: BLE001 - whatever it is belongs to whoever asked
            for waiting in group:
                waiting.fail(told)
            return False
        return True

    def _answer(self, group: Sequence[_Waiting], answers: Sequence[Answer]) -> None:
        """Answer those who wait. They go on in the next turn of the loop, when it is told of what was written."""
        written = []
        for waiting, answer in zip(group, answers, strict=True):
            waiting.succeed(answer)
            if isinstance(answer, Committed):
                written.append(waiting.batch)
        if written:
            self._note(written)

    def _note(self, written: Sequence[Batch]) -> None:
        self.commits += 1
        self._tell(written)


def _is_of_everyone(error: Exception) -> bool:
    """Would each batch by itself meet the same, because the server cannot be reached?"""
    return may_pass(error) and not is_contended(error)
