"""Where connections live: they are bound to an event loop, so each loop that works with the store needs a site."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Awaitable, Callable, Sequence
from typing import TypeVar

from outlast.adapters.stores.postgres.channels import Channels
from outlast.adapters.stores.postgres.committer import Committer
from outlast.adapters.stores.postgres.crier import Crier
from outlast.adapters.stores.postgres.encoding import Batch
from outlast.adapters.stores.postgres.link import Dialer, Link
from outlast.adapters.stores.postgres.listener import Listener
from outlast.adapters.stores.postgres.patience import Patience
from outlast.adapters.stores.postgres.pool import Pool
from outlast.adapters.stores.watches import Watches

T = TypeVar("T")


class Site:
    """Connections of the loop it was made in, and what works on them."""

    def __init__(self, dialer: Dialer, channels: Channels, watches: Watches, patience_seconds: float) -> None:
        self.loop = asyncio.get_running_loop()
        self._where = dialer.address.shown
        self._patience_seconds = patience_seconds
        self._watches = watches
        self.pool = Pool(dialer, dialer.address.connections)
        self.crier = Crier(self.pool, channels, self._where)
        self.committer = Committer(self.pool, self._new_patience, self._where, self._tell)
        self.listener = Listener(dialer, channels, watches, self.crier.cry)

    async def do(self, work: Callable[[Link], Awaitable[T]]) -> T:
        """The result of work that may be done again. Passing troubles are waited out; others are raised in our words."""
        patience = self._new_patience()
        while True:
            try:
                async with self.pool.link() as link:
                    return await work(link)
            except Exception as error:  # noqa: BLE001 - what will not pass is raised by the next line
                await patience.wait_out(error)

    async def close(self) -> None:
        """Answer what is pending, tell of it, and close everything."""
        await self.listener.stop()
        await self.committer.finish()
        await self.crier.finish()
        await self.pool.close()

    def _new_patience(self) -> Patience:
        return Patience(self._patience_seconds, self._where)

    def _tell(self, written: Sequence[Batch]) -> None:
        self._watches.touch(frozenset[str]().union(*[batch.topics for batch in written]))
        self.crier.cry(*[batch.streams for batch in written])


class Annex:
    """A site in a thread of its own, for callers of other loops. A loop that hangs at home does not hold it up."""

    def __init__(self, make_site: Callable[[], Site]) -> None:
        self._make_site = make_site
        self._lock = threading.Lock()
        self._loop: asyncio.AbstractEventLoop | None = None
        self._site: Site | None = None
        self._thread: threading.Thread | None = None

    async def do(self, work: Callable[[Site], Awaitable[T]]) -> T:
        """The result of work, done in the thread; it begins with the first."""
        with self._lock:
            if self._loop is None:
                self._loop = asyncio.new_event_loop()
                self._thread = threading.Thread(
                    target=self._run, args=(self._loop,), name="outlast-store-annex", daemon=True
                )
                self._thread.start()
            loop = self._loop
        return await asyncio.wrap_future(asyncio.run_coroutine_threadsafe(self._at(work), loop))

    async def close(self) -> None:
        """Close the site and end the thread. The annex may be used again."""
        with self._lock:
            loop, thread = self._loop, self._thread
            self._loop = self._thread = None
        if loop is None or thread is None:
            return
        await asyncio.wrap_future(asyncio.run_coroutine_threadsafe(self._leave(), loop))
        loop.call_soon_threadsafe(loop.stop)
        await asyncio.to_thread(thread.join)

    async def _at(self, work: Callable[[Site], Awaitable[T]]) -> T:
        if self._site is None:
            self._site = self._make_site()
        return await work(self._site)

    async def _leave(self) -> None:
        site, self._site = self._site, None
        if site is not None:
            await site.close()

    def _run(self, loop: asyncio.AbstractEventLoop) -> None:
        try:
            loop.run_forever()
        finally:
            loop.close()
