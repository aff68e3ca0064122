"""The connections of one event loop: few, made when they are needed, given up when they break."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from outlast.adapters.stores.postgres.link import Dialer, Link
from outlast.adapters.stores.postgres.troubles import is_lost, is_of_a_pooler


class Pool:
    """Lends at most `size` links. Nothing is asked when one comes back, for our queries leave nothing on it."""

    def __init__(self, dialer: Dialer, size: int) -> None:
        self._dialer = dialer
        self._room = asyncio.Semaphore(size)
        self._idle: list[Link] = []

    @asynccontextmanager
    async def link(self) -> AsyncIterator[Link]:
        """A link for a while. One that was lost meanwhile is not lent again. Raises what making one raises."""
        async with self._room:
            link = self._take() or await self._dialer.dial()
            try:
                yield link
            except BaseException as error:
                if is_of_a_pooler(error):
                    self._dialer.beware_of_pooler()
                if is_lost(error) or is_of_a_pooler(error) or isinstance(error, asyncio.CancelledError):
                    link.cut()
                raise
            finally:
                if not link.is_closed:
                    self._idle.append(link)

    async def close(self) -> None:
        """Close the links that nobody has."""
        idle, self._idle = self._idle, []
        await asyncio.gather(*[link.close() for link in idle])

    def _take(self) -> Link | None:
        while self._idle:
            link = self._idle.pop()
            if not link.is_closed:
                return link
        return None
