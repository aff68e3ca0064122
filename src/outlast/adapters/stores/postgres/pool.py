"""The connections of one event loop: few, made when they are needed, given up when they break."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress
from typing import Final

from outlast.adapters.stores.postgres.link import Backend, Dialer, Link
from outlast.adapters.stores.postgres.troubles import is_lost, is_of_a_pooler

_END_SECONDS: Final = 2.0
"""How long a pool that closes waits until the server has ended what was given up."""


class Pool:
    """Lends at most `size` links. Nothing is asked when one comes back, for our queries leave nothing on it."""

    def __init__(self, dialer: Dialer, size: int) -> None:
        self._dialer = dialer
        self._room = asyncio.Semaphore(size)
        self._idle: list[Link] = []
        self._ending: set[asyncio.Task[None]] = set()

    @asynccontextmanager
    async def link(self) -> AsyncIterator[Link]:
        """A link for a while. One that was lost meanwhile is not lent again. Raises what making one raises."""
        link = await self.take()
        try:
            yield link
        except BaseException as error:
            self.give_back(link, error)
            raise
        self.give_back(link)

    async def take(self) -> Link:
        """A link, which the caller gives back. Raises what making one raises."""
        await self._room.acquire()
        try:
            return self._next_idle() or await self._dialer.dial(self._missed)
        except BaseException:
            self._room.release()
            raise

    def give_back(self, link: Link, error: BaseException | None = None) -> None:
        """A link that was taken, and what its last use raised."""
        if error is not None:
            if is_of_a_pooler(error):
                self._dialer.beware_of_pooler()
            if is_lost(error) or is_of_a_pooler(error) or isinstance(error, asyncio.CancelledError):
                link.cut()
        if error is None or not link.is_closed:
            self._idle.append(link)
        self._room.release()

    async def close(self) -> None:
        """Close the links that nobody has."""
        if self._ending:
            await asyncio.wait(self._ending, timeout=_END_SECONDS)
        for task in self._ending:
            task.cancel()
        idle, self._idle = self._idle, []
        await asyncio.gather(*[link.close() for link in idle])

    def _missed(self, backend: Backend) -> None:
        """Have the server end what it still does for a link that was cut."""
        task = asyncio.get_running_loop().create_task(self._ended(backend))
        self._ending.add(task)
        task.add_done_callback(self._ending.discard)

    async def _ended(self, backend: Backend) -> None:
        with suppress(Exception):  # the server may be gone too, and nobody waits
            link = await self._dialer.dial()
            try:
                await link.ends(backend)
            finally:
                await link.close()

    def _next_idle(self) -> Link | None:
        while self._idle:
            link = self._idle.pop()
            if not link.is_closed:
                return link
        return None
