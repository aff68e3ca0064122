"""A seat: by a lease in a queue of its own a worker shows that it is there to take runs.

Seats of workers that are gone are taken by the next ones, so there are never more than there were workers at one time.
"""

from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress
from typing import Final

from outlast.domain.door import digest_of
from outlast.domain.errors import OutlastError
from outlast.ports.queue import Claim, Enqueue, Release
from outlast.ports.store import Store
from outlast.runs.crowd import COUNT_SECONDS, MOST_WORKERS
from outlast.runs.desk import Lease
from outlast.runs.elapsed import elapsed_seconds
from outlast.runs.heartbeat import Heartbeat

WORKERS: Final = "workers"
"""The queue of seats: every entry under a live lease is a worker that takes whatever run is due."""


class Seat:
    """The seat of one worker. The heartbeat keeps it for as long as the worker's loop ticks; `on_loss` is called when it is lost."""

    def __init__(
        self,
        store: Store,
        holder: str,
        lease_seconds: float,
        heartbeat: Heartbeat,
        on_loss: Callable[[], None],
    ) -> None:
        self._store = store
        self._holder = holder
        self._lease_seconds = lease_seconds
        self._heartbeat = heartbeat
        self._on_loss = on_loss
        self._lease: Lease | None = None
        self._crowd = 1
        self._counted_seconds = -COUNT_SECONDS

    async def crowd(self) -> int:
        """How many workers are there, this one included, as of a minute ago at most; counted no further than matters."""
        now = elapsed_seconds()
        if now - self._counted_seconds >= COUNT_SECONDS:
            self._counted_seconds = now
            self._crowd = len(await self._store.list_leases(WORKERS, MOST_WORKERS))
        return self._crowd

    async def take(self) -> None:
        """Be seen from now on. Nothing happens to who has a seat; one that was lost is replaced."""
        if self._lease is not None and not self._lease.is_lost:
            return
        self._forget()
        asked = elapsed_seconds()
        lease = Lease(await self._claimed(), asked, self._lease_seconds)
        self._lease = lease
        self._heartbeat.enter(lease, self._on_loss)

    async def leave(self) -> None:
        """Be seen no more, and let the next worker have the seat. Safe to call twice, and when the store cannot serve."""
        lease = self._lease
        self._forget()
        if lease is not None and not lease.is_lost:
            with suppress(OutlastError):
                now = await self._store.now()
                await self._store.commit([Release(WORKERS, lease.claim.item, lease.claim.generation, now)])

    def _forget(self) -> None:
        if self._lease is not None:
            self._heartbeat.leave(self._lease)
            self._lease = None

    async def _claimed(self) -> Claim:
        """A seat that nobody holds, else a new one."""
        claims = await self._store.claim(WORKERS, self._holder, self._lease_seconds)
        number = 0
        while not claims:
            item = f"{digest_of(self._holder)[:16]}.{number}"
            await self._store.commit([Enqueue(WORKERS, item, await self._store.now(), "")])
            claims = await self._store.claim(WORKERS, self._holder, self._lease_seconds, item=item)
            number += 1
        return claims[0]
