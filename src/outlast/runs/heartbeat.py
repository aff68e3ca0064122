"""The heartbeat: renews the leases of this process from a thread of its own, so that a slow call does not lose them.

It renews only while the event loop of the worker still ticks: a worker that hangs must lose its runs.
"""

from __future__ import annotations

import asyncio
import threading
import time
from collections.abc import Callable
from typing import Final

from outlast.domain.errors import OutlastError
from outlast.ports.store import Store
from outlast.runs.desk import Lease
from outlast.runs.elapsed import elapsed_seconds

LOOP_PATIENCE_SECONDS: Final = 5.0
"""How long the worker's loop may be silent before its leases are no longer renewed."""

_TICKS: Final = 10
"""How often the loop ticks within this patience."""


class Heartbeat:
    """Keeps the leases that are entered alive. Use as an async context manager in the worker's loop."""

    def __init__(
        self, store: Store, lease_seconds: float, patience_seconds: float = LOOP_PATIENCE_SECONDS
    ) -> None:
        self._store = store
        self._lease_seconds = lease_seconds
        self._patience_seconds = patience_seconds
        self._leases: dict[str, tuple[Lease, Callable[[], None]]] = {}
        self._guard = threading.Lock()
        self._stop = threading.Event()
        self._ticked_at = time.monotonic()
        self._thread: threading.Thread | None = None
        self._ticker: asyncio.Task[None] | None = None

    async def __aenter__(self) -> Heartbeat:
        self._ticker = asyncio.create_task(self._tick())
        self._thread = threading.Thread(target=self._run, name="outlast-heartbeat", daemon=True)
        self._thread.start()
        return self

    async def __aexit__(self, *exc: object) -> None:
        self._stop.set()
        if self._ticker is not None:
            self._ticker.cancel()
        if self._thread is not None:
            await asyncio.to_thread(self._thread.join)

    def enter(self, lease: Lease, on_loss: Callable[[], None]) -> None:
        """Keep a lease alive from now on; `on_loss` is called in the loop that is running now when it is lost."""
        loop = asyncio.get_running_loop()
        with self._guard:
            self._leases[lease.claim.item] = (lease, lambda: _call_in(loop, on_loss))

    def leave(self, lease: Lease) -> None:
        """Renew a lease no longer."""
        with self._guard:
            known = self._leases.get(lease.claim.item)
            if known is not None and known[0] is lease:
                del self._leases[lease.claim.item]

    async def _tick(self) -> None:
        while True:
            self._ticked_at = time.monotonic()
            await asyncio.sleep(self._patience_seconds / _TICKS)

    def _run(self) -> None:
        while not self._stop.wait(self._lease_seconds / 3):
            if time.monotonic() - self._ticked_at < self._patience_seconds:
                asyncio.run(self._renew())

    async def _renew(self) -> None:
        with self._guard:
            held = list(self._leases.values())
        if not held:
            return
        asked = elapsed_seconds()
        try:
            kept = await self._store.renew([lease.claim for lease, _ in held], self._lease_seconds)
        except OutlastError:
            return
        for lease, on_loss in held:
            if lease.claim.item in kept:
                lease.was_renewed(asked)
            else:
                lease.is_lost = True
                on_loss()


def _call_in(loop: asyncio.AbstractEventLoop, callback: Callable[[], None]) -> None:
    if not loop.is_closed():
        loop.call_soon_threadsafe(callback)
