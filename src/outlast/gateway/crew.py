"""The workers inside `outlast serve`: each in a thread of its own, so that code that blocks its loop blocks no request."""

from __future__ import annotations

import asyncio
import logging
import threading
from collections.abc import Callable
from typing import Final

from outlast.ports.store import residence_in
from outlast.wiring.engine import Engine
from outlast.wiring.loops import new_loop

RESTART_SECONDS: Final = 1.0
"""How long a worker that ended by surprise rests before it is at work again."""

_log = logging.getLogger("outlast.gateway")


class Crew:
    """Some workers of this process over the store of an engine; they share its live frames."""

    def __init__(self, engine: Engine, size: int) -> None:
        self._hands = [_Hand(engine, number) for number in range(1, size + 1)]

    @property
    def size(self) -> int:
        """How many workers there are meant to be."""
        return len(self._hands)

    @property
    def at_work(self) -> int:
        """How many are at work."""
        return sum(hand.is_at_work for hand in self._hands)

    def start(self) -> None:
        """Begin to take runs as they become due."""
        for hand in self._hands:
            hand.start()

    def stop(self) -> None:
        """Take nothing more; runs are given back once their calls in flight have ended, within the bound of the settings."""
        for hand in self._hands:
            hand.stop()

    def hurry(self) -> None:
        """Stop, and let no call in flight go on."""
        for hand in self._hands:
            hand.hurry()

    async def ended(self) -> None:
        """Wait until every worker has ended. Tell them to stop first."""
        await asyncio.gather(*(asyncio.to_thread(hand.join) for hand in self._hands))


class _Hand:
    """One worker in its thread. What it is told before it has begun holds all the same."""

    def __init__(self, engine: Engine, number: int) -> None:
        self._engine = engine.twin()
        self._shift = self._engine.shift()
        self._thread = threading.Thread(target=self._work, name=f"outlast-worker-{number}", daemon=True)
        self._loop: asyncio.AbstractEventLoop | None = None
        self._lock = threading.Lock()

    @property
    def is_at_work(self) -> bool:
        return self._loop is not None and self._thread.is_alive()

    def start(self) -> None:
        self._thread.start()

    def join(self) -> None:
        if self._thread.ident is not None:
            self._thread.join()

    def stop(self) -> None:
        self._tell(self._shift.stop)

    def hurry(self) -> None:
        self._tell(self._shift.hurry)

    def _tell(self, what: Callable[[], None]) -> None:
        with self._lock:
            if self._loop is None:
                what()
            else:
                self._loop.call_soon_threadsafe(what)

    def _work(self) -> None:
        with asyncio.Runner(loop_factory=new_loop) as runner:
            try:
                runner.run(self._serve())
            finally:
                with self._lock:
                    self._loop = None

    async def _serve(self) -> None:
        with self._lock:
            self._loop = asyncio.get_running_loop()
        try:
            async with residence_in(self._engine.store):
                while not self._shift.is_stopping:
                    await self._serve_once()
        finally:
            await self._engine.builder.close()

    async def _serve_once(self) -> None:
        try:
            await self._shift.serve()
        except Exception:  # noqa: BLE001 - a worker that ends by surprise must not leave the runs alone
            _log.exception("a worker ended by surprise; it begins again")
            await asyncio.sleep(RESTART_SECONDS)
