"""Tells other processes of streams that grew, after their commits and in bulk.

A commit that tells by itself waits for all others that do, for the server hands out notices one commit at a time. That is right for a
signal, which must be heard, and too dear for every event of every run, which only a spectator waits for.
"""

from __future__ import annotations

import asyncio
from collections.abc import Iterable
from typing import Final

from outlast.adapters.stores.postgres.channels import Channels
from outlast.adapters.stores.postgres.pool import Pool
from outlast.adapters.stores.postgres.queries import query
from outlast.adapters.stores.postgres.troubles import in_our_words
from outlast.domain.errors import OutlastError

_TELL = query("tell")

REST_SECONDS: Final = 0.01
"""The first stream is told of at once; what comes within this time is told together."""


class Crier:
    """Tells of streams of one event loop. What cannot be told is dropped: who watches also looks by himself."""

    def __init__(self, pool: Pool, channels: Channels, where: str) -> None:
        self._pool = pool
        self._channels = channels
        self._where = where
        self._pending: set[str] = set()
        self._task: asyncio.Task[None] | None = None
        self._is_ending = asyncio.Event()

    def cry(self, *streams: Iterable[str]) -> None:
        """Tell of all these streams soon."""
        self._pending.update(*streams)
        if self._pending and (self._task is None or self._task.done()):
            self._task = asyncio.create_task(self._run())

    async def finish(self) -> None:
        """Return when everything is told."""
        self._is_ending.set()
        if self._task is not None:
            await self._task

    async def _run(self) -> None:
        while self._pending:
            told = list(map(self._channels.of_stream, self._pending))
            self._pending.clear()
            try:
                async with self._pool.link() as link:
                    await link.rows(_TELL, told, f"{self._channels.teller} ")
            except Exception as error:
                if not isinstance(in_our_words(error, self._where), OutlastError):
                    raise
            await self._rest()

    async def _rest(self) -> None:
        try:
            async with asyncio.timeout(REST_SECONDS):
                await self._is_ending.wait()
        except TimeoutError:
            pass
