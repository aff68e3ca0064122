"""What became of a commit whose answer was lost: found out, never guessed.

The server's process that was asked is ended first, so that it cannot write later what is not there now. Then the journal
tells: an event carries the number of the batch that wrote it. A batch that is not there is written again, under its guards. A
batch without an event leaves no number; writing it again is harmless, and only where that is refused the answer stays open.
"""

from __future__ import annotations

from collections.abc import Callable

from outlast.adapters.stores.postgres.encoding import Batch
from outlast.adapters.stores.postgres.link import Backend, Link
from outlast.adapters.stores.postgres.patience import Patience
from outlast.adapters.stores.postgres.pool import Pool
from outlast.adapters.stores.postgres.queries import query
from outlast.adapters.stores.postgres.troubles import in_our_words, is_lost, may_pass, unknown
from outlast.adapters.stores.postgres.writes import write
from outlast.ports.batch import Committed, Guard, Refused
from outlast.ports.run_rows import UpdateRun
from outlast.ports.stream import Append

_IS_BATCH_THERE = query("is_batch_there")
_MAY_HOLD_LATER = frozenset({Guard.ACTIVE, Guard.MISSING, Guard.THREAD_BUSY})


class Recovery:
    """Settles batches one by one, for as long as `new_patience` allows. `where` names the store in errors."""

    def __init__(self, pool: Pool, new_patience: Callable[[], Patience], where: str) -> None:
        self._pool = pool
        self._new_patience = new_patience
        self._where = where

    async def settle(self, batch: Batch, backend: Backend | None) -> Committed | Refused:
        """The answer to a batch that `backend` was asked to write (None: some process behind a pooler).

        Raises Broken (`commit_unknown`) when it cannot be known.
        """
        patience, suspects = self._new_patience(), [backend]
        while True:
            link: Link | None = None
            try:
                async with self._pool.link() as link:
                    return await self._look(link, batch, suspects, patience)
            except Exception as error:
                if not may_pass(error):
                    raise in_our_words(error, self._where) from error
                if patience.is_used_up:
                    raise unknown(self._where) from error
                if link is not None and is_lost(error):
                    suspects.append(link.backend)
            await patience.pause()

    async def _look(
        self, link: Link, batch: Batch, suspects: list[Backend | None], patience: Patience
    ) -> Committed | Refused:
        for suspect in suspects:
            while suspect is not None and await link.ends(suspect):
                if patience.is_used_up:
                    raise unknown(self._where)
                await patience.pause()
        mark = next((item for item in batch.items if isinstance(item, Append) and item.events), None)
        if mark is None:
            return await self._write_unmarked(link, batch)
        return await self._write_marked(link, batch, mark, are_over=None not in suspects)

    async def _write_marked(
        self, link: Link, batch: Batch, mark: Append, *, are_over: bool
    ) -> Committed | Refused:
        if await _is_there(link, batch, mark):
            return Committed()
        if mark.after is None and not are_over:
            raise unknown(self._where)
        [answer] = await write(link, [batch])
        if isinstance(answer, Refused) and not are_over:
            if await _is_there(link, batch, mark):
                return Committed()
            if answer.guard in _MAY_HOLD_LATER:
                raise unknown(self._where)
        return answer

    async def _write_unmarked(self, link: Link, batch: Batch) -> Committed:
        if any(isinstance(item, UpdateRun) and item.generation is None for item in batch.items):
            raise unknown(self._where)  # the row may have been changed since, by somebody who saw ours
        [answer] = await write(link, [batch])
        if isinstance(answer, Refused):
            raise unknown(self._where)
        return answer


async def _is_there(link: Link, batch: Batch, mark: Append) -> bool:
    there: bool = await link.value(_IS_BATCH_THERE, mark.stream, batch.number, mark.after or 0)
    return there
